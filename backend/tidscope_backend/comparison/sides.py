"""A side of a comparison: a run or a window, its tables, and its roles matched with other sides."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from tidscope_wire.generated.models import (
    AlignKind,
    MatchedRole,
    RunEvent,
    RunManifest,
    SteeringStarted,
)
from tidscope_wire.pools import BUCKETS, QUEUE_WAIT, RESPONSE

from tidscope_backend.pool_figures import known_figures
from tidscope_backend.store.directory import all_runs, find_runs


class Window(NamedTuple):
    """A time span of a run, in seconds since its start."""

    from_s: float
    to_s: float

    def __str__(self) -> str:
        """Return the window as FROM-TO, in seconds with no trailing zeros."""
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
    """A run, or a window of a run.

    Attributes:
        path: folder of the run.
        window: None for the complete run.
    """

    path: Path
    window: Window | None = None

    @property
    def id(self) -> str:
        """`RUN`, or `RUN@FROM-TO`."""
        return side_id(self.path.name, self.window)


def split_window(text: str) -> tuple[str, Window | None]:
    """Split `RUN@FROM-TO`; a text without a window is returned unchanged.

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
    """Find the sides of a group from a comma-separated list on the command line.

    Each item is a run or a group of repeats as in `find_runs`, optionally with `@FROM-TO` for that
    window of each run. A run whose name has this form takes precedence.

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
    """Sums over the pools of one name within a run.

    Attributes:
        size: total number of workers at the end; None if unknown.
        counted: counts by figure; figures unknown for all pools are omitted.
        times: numbers of jobs by bucket, of response times and of queue waits.
    """

    size: int | None = None
    counted: dict[str, int] = field(default_factory=dict)
    times: dict[int, list[int]] = field(
        default_factory=lambda: {RESPONSE: [0] * BUCKETS, QUEUE_WAIT: [0] * BUCKETS}
    )


def pools_by_name(pools: pa.Table, times: pa.Table) -> dict[str, PoolTotals]:
    """Add pools up by name, over several programs and restarts.

    Args:
        pools: growth of the counters in the table `pools` of a run.
        times: growth of the counters in the table `pool_times` of a run.
    """
    found: dict[str, PoolTotals] = {}
    names: dict[int, str] = {}
    # A program may replace a pool by a new one of the same name; only the newest pool's size
    # counts.
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
        duration_ns: duration from the first frame to the last.
        threads: threads as in RunTables, for this part.
        pools: pools as in RunTables, for this part.
    """

    duration_ns: int
    threads: pa.Table
    pools: Mapping[str, PoolTotals] = field(default_factory=dict)


@dataclass(frozen=True)
class RunTables:
    """Tables of one run or window.

    Attributes:
        manifest: manifest; a window's has the window's times and policies.
        threads: one row per thread's life, as in docs/runs.md.
        signals: one row per instant, ascending.
        events: events by time; at least those of steering.
        pools: pools of workers, by name.
        window: the requested window, or None for the complete run.
        slices: slices of a sufficiently long window, in order.
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
        """ID of the side; see `side_id`."""
        return side_id(self.manifest.id, self.window)

    @property
    def name(self) -> str:
        """Human-readable name: the run's name or ID, followed by the window if any."""
        name = self.manifest.name or self.manifest.id
        return name if self.window is None else f"{name} {self.window.label}"

    @property
    def duration_ns(self) -> int:
        """Time between the first and the last frame of the side, in nanoseconds."""
        return max(0, self.manifest.to_ns - self.manifest.from_ns)


class ComparisonError(ValueError):
    """The runs cannot be compared as requested; the text says why and what to do."""


def zero_of(run: RunTables, align: AlignKind, mark: str | None) -> tuple[int, str | None]:
    """Find time 0 of a run.

    Args:
        run: run to align.
        align: reference instant; `mark` also needs a text.
        mark: text of the mark; its first occurrence counts.

    Returns:
        Nanoseconds since attach, and the reason for falling back to the start of the run; None
        without a fallback.
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


class Correction(NamedTuple):
    """Manual match: a role of a run gets this label in the comparison."""

    run: str
    role: str
    label: str


def parse_correction(text: str) -> Correction:
    """Parse `RUN:ROLE=LABEL`; a role may contain : and =, a label may not contain =.

    Raises:
        ComparisonError: the text has another form.
    """
    run, colon, rest = text.partition(":")
    role, sign, label = rest.rpartition("=")
    if not (run and colon and sign and role and label):
        raise ComparisonError(f"match {text!r} is not RUN:ROLE=LABEL")
    return Correction(run, role, label)


def match_roles(
    runs: Sequence[str], weights: Sequence[Mapping[str, int]], corrections: Sequence[Correction]
) -> list[MatchedRole]:
    """Match roles by name, with manual corrections.

    Args:
        runs: run IDs.
        weights: roles of each run with their weights for sorting.
        corrections: manual matches. A role of the same run that already has the label's name, and
            is not matched manually, gets another label.

    Returns:
        Each role of each run once, sorted by descending weight and label.

    Raises:
        ComparisonError: a correction names an unknown run or role, or gives two roles of one run
            the same label.
    """
    named = [
        _corrections_of(run, roles, corrections) for run, roles in zip(runs, weights, strict=True)
    ]
    strangers = {one.run for one in corrections} - set(runs)
    if strangers:
        raise ComparisonError(f"match names {min(strangers)}, which is not compared")
    found: dict[str, list[str | None]] = {}
    for place, roles in enumerate(weights):
        taken = set(named[place].values())
        for role in roles:
            label = named[place].get(role, role)
            if role not in named[place] and label in taken:
                label = _free(f"{role} (not matched)", roles)
            found.setdefault(label, [None] * len(runs))[place] = role
    weight: Counter[str] = Counter()
    for label, matched in found.items():
        for place, own in enumerate(matched):
            weight[label] += 0 if own is None else weights[place][own]
    manual = {label for labels in named for label in labels.values()}
    return [
        MatchedRole(label=label, roles=found[label], manual=label in manual)
        for label in sorted(found, key=lambda label: (-weight[label], label))
    ]


def _corrections_of(
    run: str, roles: Mapping[str, int], corrections: Sequence[Correction]
) -> dict[str, str]:
    """Return the manually matched roles of one run, with their labels."""
    labels: dict[str, str] = {}
    for one in corrections:
        if one.run != run:
            continue
        if one.role not in roles:
            raise ComparisonError(f"match names the role {one.role!r}, which {run} does not have")
        if one.label in labels.values() and labels.get(one.role) != one.label:
            raise ComparisonError(f"match gives two roles of {run} the label {one.label!r}")
        labels[one.role] = one.label
    return labels


def _free(label: str, taken: Mapping[str, int]) -> str:
    while label in taken:
        label += "'"
    return label


def split_by_process(threads: pa.Table, processes: pa.Table | None, lead: str) -> pa.Table:
    """Call each role "PROCESS → ROLE".

    A process has the last name in its row; a process without a row has the name of its main thread.
    Of several processes with a recycled ID, the last one counts.

    Args:
        threads: one row per life of a thread; in a group, `pid` is the process.
        processes: one row per process of a group, by process number; None for a single process.
        lead: name of the single process.

    Returns:
        Threads with split roles.
    """
    names: dict[int, str] = {}
    if "pid" in threads.column_names:
        rows = threads.select(["tid", "pid", "name"]).to_pydict()
        for tid, pid, name in zip(rows["tid"], rows["pid"], rows["name"], strict=True):
            if tid == pid:
                names[pid] = name
        pids = rows["pid"]
    else:
        pids = [None] * len(threads)
    if processes is not None:
        described = processes.select(["pid", "name"]).to_pydict()
        for pid, name in zip(described["pid"], described["name"], strict=True):
            if pid:
                names[pid] = name
    roles = threads.column("role").to_pylist()
    split = [f"{_name(pid, names, lead)} → {role}" for pid, role in zip(pids, roles, strict=True)]
    place = threads.column_names.index("role")
    return threads.set_column(place, "role", pa.array(split, pa.utf8()))


def _name(pid: int | None, names: dict[int, str], lead: str) -> str:
    if pid is None:
        return lead
    return names.get(pid) or "unknown"
