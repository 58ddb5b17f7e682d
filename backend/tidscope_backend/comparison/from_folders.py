"""Comparing runs that lie in folders."""

from collections.abc import Sequence
from pathlib import Path

from tidscope_wire.generated.models import (
    AlignKind,
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
) -> Comparison:
    """Compare runs; repeats stand in one group, and the first group is the baseline.

    Args:
        groups: folders of runs.
        align: where times are laid over one another.
        mark: text of the mark to align at.
        match: corrections of roles, each `RUN:ROLE=LABEL`.

    Raises:
        ComparisonError: it cannot be done as asked.
        OSError: a run cannot be read.
        ValueError: a run is damaged.
    """
    check_choice([[path.name for path in group] for group in groups], align, mark)
    corrections = [parse_correction(text) for text in match]
    return compare(
        [[tables_of(path) for path in group] for group in groups], align, mark, corrections
    )


def tables_of(path: Path) -> RunTables:
    """Read of a run what a comparison needs; no samples of a run that has ended."""
    reader = RunReader(path)
    manifest = reader.manifest
    if manifest.state == "recording" and reader.spans:
        last_ns = max(manifest.to_ns, reader.spans[-1][1])
        manifest = manifest.model_copy(update={"to_ns": last_ns})
    return RunTables(
        manifest=manifest,
        threads=reader.threads(),
        signals=reader.signals(COLUMNS),
        events=[event for event in reader.events() if _is_of_steering(event)],
    )


def _is_of_steering(told: RunEvent) -> bool:
    return isinstance(told.event, SteeringStarted | SteeringDecided)
