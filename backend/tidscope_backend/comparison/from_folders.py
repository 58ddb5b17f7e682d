"""Comparison of runs given by their folders."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from tidscope_wire.generated.models import (
    AlignKind,
    CompareBasis,
    CompareSplit,
    Comparison,
    RunEvent,
    RunManifest,
    RunPolicy,
    SteeringDecided,
    SteeringReleased,
    SteeringStarted,
)
from tidscope_wire.role import RoleRule

from tidscope_backend.comparison.compare import check_choice, compare
from tidscope_backend.comparison.sides import (
    ComparisonError,
    PoolTotals,
    RunTables,
    Side,
    Slice,
    Window,
    parse_correction,
    pools_by_name,
    split_by_process,
)
from tidscope_backend.comparison.statistics import MIN_SLICES
from tidscope_backend.store.cut_parts import RunCutter
from tidscope_backend.store.parts import PartRows
from tidscope_backend.store.reader import RunReader, table_growth
from tidscope_backend.store.threads_table import threads_table

COLUMNS = ("time_ns", "process", "machine", "roles")
MAX_SLICES = 10
SLICE_S = 1.0
"""Minimum duration of a window's slices, in seconds."""


def compare_folders(
    groups: Sequence[Sequence[Side]],
    align: AlignKind = "start",
    mark: str | None = None,
    match: Sequence[str] = (),
    basis: CompareBasis = "rates",
    split: CompareSplit = "none",
    *,
    same_work: bool = False,
) -> Comparison:
    """Compare runs.

    Args:
        groups: groups of repeats; the first is the baseline.
        align: reference instant of the alignment.
        mark: text of the mark to align at.
        match: corrections of the matching of roles, each `RUN:ROLE=LABEL`.
        basis: whether counters are compared as rates or as totals.
        split: whether roles are split by process. Split roles have figures but no curves, because
            frames contain role totals over all processes.
        same_work: whether every run does the same work, so that totals can be judged.

    Raises:
        ComparisonError: the runs cannot be compared with these options.
        OSError: a run cannot be read.
        ValueError: a run is damaged.
    """
    check_choice([[side.id for side in group] for group in groups], align, mark)
    corrections = [parse_correction(text) for text in match]
    tables = [[tables_of(side, split) for side in group] for group in groups]
    return compare(tables, align, mark, corrections, basis, split, same_work=same_work)


def tables_of(side: Side, split: CompareSplit = "none") -> RunTables:
    """Read the tables of a comparison. An ended run without a window needs no samples.

    Raises:
        ComparisonError: the window contains fewer than two frames of the run.
    """
    reader = RunReader(side.path)
    manifest = reader.manifest
    if manifest.state == "recording" and reader.spans:
        last_ns = max(manifest.to_ns, reader.spans[-1][1])
        manifest = manifest.model_copy(update={"to_ns": last_ns})
    if side.window is not None:
        return _window_of(reader, manifest, side.window, split)
    return RunTables(
        manifest=manifest,
        threads=_with_roles(reader.threads(), manifest, reader.parts, split),
        signals=reader.signals(COLUMNS),
        events=[event for event in reader.events() if _is_steering(event)],
        pools=_pools(reader.parts),
    )


def _window_of(
    reader: RunReader, manifest: RunManifest, window: Window, split: CompareSplit
) -> RunTables:
    """Read the tables of a window: what threads did between its first frame and its last."""
    cutter = RunCutter(reader)
    times = cutter.times_between(
        manifest.from_ns + round(window.from_s * 1e9), manifest.from_ns + round(window.to_s * 1e9)
    )
    if len(times) < 2:
        length_s = (manifest.to_ns - manifest.from_ns) / 1e9
        raise ComparisonError(
            f"{manifest.name or manifest.id} has no two samples from {window.label}: "
            f"it is {length_s:.1f} s long"
        )
    rules = [RoleRule(one.pattern, one.role) for one in manifest.target.role_rules or ()]
    first, last = int(times[0]), int(times[-1])
    # The first and last frame are slightly inside the window.
    count = min(MAX_SLICES, round((last - first) / 1e9 / SLICE_S))
    count = count if count >= MIN_SLICES else 0
    bounds = times[np.linspace(0, len(times) - 1, count + 1).round().astype(np.intp)].tolist()

    def threads_of(parts: Sequence[PartRows]) -> pa.Table:
        threads = threads_table(parts, reader.fields, rules)
        return _with_roles(threads, manifest, parts, split)

    def slice_of(from_ns: int, to_ns: int) -> Slice:
        parts = cutter.parts(from_ns, to_ns)
        return Slice(to_ns - from_ns, threads_of(parts), _pools(parts))

    parts = cutter.parts(first, last)
    events = reader.events()
    return RunTables(
        manifest=manifest.model_copy(
            update={
                "from_ns": first,
                "to_ns": last,
                "started_unix_us": manifest.started_unix_us + (first - manifest.from_ns) // 1000,
                "policies": _policies_within(manifest, events, first, last),
            }
        ),
        threads=threads_of(parts),
        signals=reader.signals(COLUMNS, first, last),
        events=[one for one in events if _is_steering(one) and first < one.time_ns <= last],
        pools=_pools(parts),
        window=window,
        slices=[slice_of(at, to) for at, to in pairwise(bounds)],
    )


def _with_roles(
    threads: pa.Table, manifest: RunManifest, parts: Iterable[PartRows], split: CompareSplit
) -> pa.Table:
    if split != "process":
        return threads
    grouped = manifest.target.group is not None
    processes = table_growth(parts, "processes") if grouped else None
    return split_by_process(threads, processes, manifest.target.process.name)


def _pools(parts: Sequence[PartRows]) -> dict[str, PoolTotals]:
    return pools_by_name(table_growth(parts, "pools"), table_growth(parts, "pool_times"))


def _policies_within(
    manifest: RunManifest, events: Sequence[RunEvent], from_ns: int, to_ns: int
) -> list[RunPolicy]:
    """Return the policies that steered at any time in a window."""
    ended = [one.time_ns for one in events if isinstance(one.event, SteeringReleased)]
    ordered = sorted(manifest.policies, key=lambda one: one.time_ns)
    # A policy also ends where the next one starts.
    ended += [one.time_ns for one in ordered]
    return [
        policy
        for policy in ordered
        if policy.time_ns < to_ns and all(time > from_ns for time in ended if time > policy.time_ns)
    ]


def _is_steering(recorded: RunEvent) -> bool:
    return isinstance(recorded.event, SteeringStarted | SteeringDecided)
