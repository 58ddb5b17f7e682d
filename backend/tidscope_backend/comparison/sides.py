"""A side of a comparison: a run or a window of one, and the tables read of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from tidscope_wire.generated.models import AlignKind, RunEvent, RunManifest, SteeringStarted
from tidscope_wire.pools import BUCKETS, QUEUE_WAIT, RESPONSE, known_figures

from tidscope_backend.store.directory import all_runs, find_runs


class Window(NamedTuple):
    """A stretch of a run, in seconds from its start."""

    from_s: float
    to_s: float

    def __str__(self) -> str:
        """The window as FROM-TO, in seconds with no trailing zeros."""
        return f"{_short(self.from_s)}-{_short(self.to_s)}"

    @property
    def label(self) -> str:
        """Human-readable form of the window, with its unit."""
        return f"{_short(self.from_s)}–{_short(self.to_s)} s"


def side_id(run: str, window: Window | None) -> str:
    """Return the id of a side in links and answers: `RUN` or `RUN@FROM-TO`."""
    return run if window is None else f"{run}@{window}"


def _short(seconds: float) -> str:
    text = f"{seconds:.3f}"
    return text.rstrip("0").rstrip(".")


_SECONDS = r"[0-9]{1,7}(?:\.[0-9]{1,3})?"
_WINDOW = re.compile(rf"(.+)@({_SECONDS})-({_SECONDS})", re.DOTALL)


@dataclass(frozen=True)
class Side:
    """A run, or a window of it.

    Attributes:
        path: folder of the run.
        window: None: all of it.
    """

    path: Path
    window: Window | None = None

    @property
    def id(self) -> str:
        """`RUN`, or `RUN@FROM-TO`."""
        return side_id(self.path.name, self.window)


def split_window(text: str) -> tuple[str, Window | None]:
    """Take `RUN@FROM-TO` apart; a text without a window stays whole.

    Raises:
        ComparisonError: the window ends before it begins.
    """
    found = _WINDOW.fullmatch(text)
    if found is None:
        return text, None
    window = Window(float(found[2]), float(found[3]))
    if window.to_s <= window.from_s:
        raise ComparisonError(f"the window {window} ends before it begins")
    return found[1], window


def find_sides(runs: Path, text: str) -> list[Side]:
    """The sides of a group as the command line names it, joined by commas.

    Each is a run or a group of repeats as `find_runs` knows them, or one with `@FROM-TO` behind it:
    that window of each of its runs. A name that looks like that is recognised if a run has it.

    Raises:
        RunNotFoundError: see `find_runs`.
        ComparisonError: a window ends before it begins.
    """
    known = all_runs(runs)
    names = {run.name for run in known} | {run.group for run in known}
    found: list[Side] = []
    for name in [text] if text in names else text.split(","):
        called, window = (name, None) if name in names else split_window(name)
        found += [Side(path, window) for path in find_runs(runs, called)]
    return found


_COUNTED = ("finished", "failed", "started", "response_ns", "queue_wait_ns", "run_ns")


@dataclass
class PoolTotals:
    """Pools of one name, within a run.

    Attributes:
        size: workers at the end, of all of them; None: not known.
        counted: by figure; one that is not known of any of them is not in it.
        times: jobs by bucket, of response times and of queue waits.
    """

    size: int | None = None
    counted: dict[str, int] = field(default_factory=dict)
    times: dict[int, list[int]] = field(
        default_factory=lambda: {RESPONSE: [0] * BUCKETS, QUEUE_WAIT: [0] * BUCKETS}
    )


def pools_by_name(pools: pa.Table, times: pa.Table) -> dict[str, PoolTotals]:
    """Add pools up by their names: those of several programs, and of one that started again.

    Args:
        pools: the table `pools` of a run, growth of its counters.
        times: the same of `pool_times`.
    """
    found: dict[str, PoolTotals] = {}
    names: dict[int, str] = {}
    # A program may replace a pool by one of the same name: only the newest pool's size counts.
    last: dict[tuple[int, str], int] = {}
    rows = known_figures(pools).to_pylist()
    for row in rows:
        last[row["pid"], row["name"]] = max(row["pool"], last.get((row["pid"], row["name"]), 0))
    for row in rows:
        totals = found.setdefault(row["name"], PoolTotals())
        names[row["pool"]] = row["name"]
        if row["size"] is not None and last[row["pid"], row["name"]] == row["pool"]:
            totals.size = (totals.size or 0) + row["size"]
        for name in _COUNTED:
            if row[name] is not None:
                totals.counted[name] = totals.counted.get(name, 0) + row[name]
    for row in times.to_pylist():
        pool = names.get(row["pool"])
        if pool is not None and row["time"] in (RESPONSE, QUEUE_WAIT):
            found[pool].times[row["time"]][min(row["bucket"], BUCKETS - 1)] += row["count"]
    return found


@dataclass(frozen=True)
class Slice:
    """One of the equally long parts of a window.

    Attributes:
        duration_ns: from its first frame to its last.
        threads: as in RunTables, of this part.
        pools: the same.
    """

    duration_ns: int
    threads: pa.Table
    pools: Mapping[str, PoolTotals] = field(default_factory=dict)


@dataclass(frozen=True)
class RunTables:
    """One run or window, as read.

    Attributes:
        manifest: what was recorded; of a window with its times and the policies in it.
        threads: a row a thread's life, as in docs/runs.md.
        signals: a row an instant, ascending.
        events: those of steering at least, by time.
        pools: of workers, by name.
        window: what of the run it is, as requested; None: all.
        slices: of a window that is long enough, in order.
    """

    manifest: RunManifest
    threads: pa.Table
    signals: pa.Table
    events: Sequence[RunEvent]
    pools: Mapping[str, PoolTotals] = field(default_factory=dict)
    window: Window | None = None
    slices: Sequence[Slice] = ()

    @property
    def id(self) -> str:
        """Id of this side: see `side_id`."""
        return side_id(self.manifest.id, self.window)

    @property
    def name(self) -> str:
        """Human-readable name: the run's name or id, followed by the window if there is one."""
        name = self.manifest.name or self.manifest.id
        return name if self.window is None else f"{name} {self.window.label}"

    @property
    def duration_ns(self) -> int:
        """Time between the first and the last frame of the side, in nanoseconds."""
        return max(0, self.manifest.to_ns - self.manifest.from_ns)


class ComparisonError(ValueError):
    """These runs cannot be compared like this; the text says why and what to do."""


def zero_of(run: RunTables, align: AlignKind, mark: str | None) -> tuple[int, str | None]:
    """Find time 0 of a run.

    Args:
        run: which.
        align: at what; with `mark` also its text.
        mark: text of the mark; the first that has it counts.

    Returns:
        Nanoseconds since attach, and why that is the start although something else was asked for;
        None if it is what was asked for.
    """
    start = run.manifest.from_ns
    if align == "start":
        return start, None
    if align == "policy":
        began = [event.time_ns for event in run.events if isinstance(event.event, SteeringStarted)]
        # A policy that started before the run is in the manifest with an earlier time.
        began += [policy.time_ns for policy in run.manifest.policies]
        within = [time for time in began if _is_within(run, time)]
        if within:
            return min(within), None
        if began:
            return start, "its policy started before the run and did not change in it"
        return start, "no policy steered it"
    found = [one.time_ns for one in run.manifest.marks if one.text == mark]
    if found:
        return min(found), None
    return start, f"it has no mark {mark!r}"


def _is_within(run: RunTables, time_ns: int) -> bool:
    return run.manifest.from_ns <= time_ns <= run.manifest.to_ns
