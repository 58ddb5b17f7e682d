"""Comparing runs by their folders."""

from collections.abc import Sequence
from pathlib import Path

from tidscope_wire.generated.models import (
    AlignKind,
    CompareBasis,
    Comparison,
    RunEvent,
    SteeringDecided,
    SteeringStarted,
)

from tidscope_backend.comparison.compare import check_choice, compare
from tidscope_backend.comparison.matching import parse_correction
from tidscope_backend.comparison.tables import RunTables
from tidscope_backend.store.reader import RunReader

COLUMNS = ("time_ns", "process", "machine", "roles")


def compare_folders(
    groups: Sequence[Sequence[Path]],
    align: AlignKind = "start",
    mark: str | None = None,
    match: Sequence[str] = (),
    basis: CompareBasis = "rates",
) -> Comparison:
    """Compare runs.

    Args:
        groups: folders of runs; groups of repeats, the first is the baseline.
        align: where the runs are aligned in time.
        mark: text of the mark to align at.
        match: corrections of the matching of roles, each `RUN:ROLE=LABEL`.
        basis: what counters are compared as.

    Raises:
        ComparisonError: these runs cannot be compared like this.
        OSError: a run cannot be read.
        ValueError: a run is damaged.
    """
    check_choice([[path.name for path in group] for group in groups], align, mark)
    corrections = [parse_correction(text) for text in match]
    return compare(
        [[tables_of(path) for path in group] for group in groups], align, mark, corrections, basis
    )


def tables_of(path: Path) -> RunTables:
    """Read what a comparison needs of a run; of an ended run, none of its samples."""
    reader = RunReader(path)
    manifest = reader.manifest
    if manifest.state == "recording" and reader.spans:
        last_ns = max(manifest.to_ns, reader.spans[-1][1])
        manifest = manifest.model_copy(update={"to_ns": last_ns})
    return RunTables(
        manifest=manifest,
        threads=reader.threads(),
        signals=reader.signals(COLUMNS),
        events=[event for event in reader.events() if _is_steering(event)],
    )


def _is_steering(recorded: RunEvent) -> bool:
    return isinstance(recorded.event, SteeringStarted | SteeringDecided)
