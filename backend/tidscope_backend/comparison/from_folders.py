"""Comparing runs by their folders."""

from collections.abc import Sequence
from pathlib import Path

from tidscope_wire.generated.models import (
    AlignKind,
    CompareBasis,
    CompareSplit,
    Comparison,
    RunEvent,
    SteeringDecided,
    SteeringStarted,
)

from tidscope_backend.comparison.compare import check_choice, compare
from tidscope_backend.comparison.matching import parse_correction
from tidscope_backend.comparison.pool_totals import pools_by_name
from tidscope_backend.comparison.process_roles import split_by_process
from tidscope_backend.comparison.tables import RunTables
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_growth import table_growth

COLUMNS = ("time_ns", "process", "machine", "roles")


def compare_folders(
    groups: Sequence[Sequence[Path]],
    align: AlignKind = "start",
    mark: str | None = None,
    match: Sequence[str] = (),
    basis: CompareBasis = "rates",
    split: CompareSplit = "none",
) -> Comparison:
    """Compare runs.

    Args:
        groups: folders of runs; groups of repeats, the first is the baseline.
        align: where the runs are aligned in time.
        mark: text of the mark to align at.
        match: corrections of the matching of roles, each `RUN:ROLE=LABEL`.
        basis: what counters are compared as.
        split: whether roles are split by process. Then they have figures and no curves, since
            frames have the totals of roles over all processes.

    Raises:
        ComparisonError: these runs cannot be compared like this.
        OSError: a run cannot be read.
        ValueError: a run is damaged.
    """
    check_choice([[path.name for path in group] for group in groups], align, mark)
    corrections = [parse_correction(text) for text in match]
    tables = [[tables_of(path, split) for path in group] for group in groups]
    return compare(tables, align, mark, corrections, basis, split)


def tables_of(path: Path, split: CompareSplit = "none") -> RunTables:
    """Read what a comparison needs of a run; of an ended run, none of its samples."""
    reader = RunReader(path)
    manifest = reader.manifest
    if manifest.state == "recording" and reader.spans:
        last_ns = max(manifest.to_ns, reader.spans[-1][1])
        manifest = manifest.model_copy(update={"to_ns": last_ns})
    threads = reader.threads()
    if split == "process":
        grouped = manifest.target.group is not None
        processes = table_growth(reader.parts, "processes") if grouped else None
        threads = split_by_process(threads, processes, manifest.target.process.name)
    return RunTables(
        manifest=manifest,
        threads=threads,
        signals=reader.signals(COLUMNS),
        events=[event for event in reader.events() if _is_steering(event)],
        pools=pools_by_name(
            table_growth(reader.parts, "pools"), table_growth(reader.parts, "pool_times")
        ),
    )


def _is_steering(recorded: RunEvent) -> bool:
    return isinstance(recorded.event, SteeringStarted | SteeringDecided)
