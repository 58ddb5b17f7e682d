"""Activity of a thread between any two instants, as far as samples determine it. Pure.

A sample has the time in each group of states up to its instant, and the thread's current state with
its start. Totals between two samples are therefore known, as is the state before the later sample.
An interval that covers a part of the remainder is estimated in proportion, and bounded. Example: a
state lasts D of a stretch of length L. An interval of length o within the stretch then contains at
least D - (L - o), and at most D and o.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidscope_backend.state_groups import GROUPS

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
REASONS: tuple[str, ...] = (*(group.id for group in GROUPS), "unknown")
"""Columns of all arrays in this module: the groups of states, and unmeasured time."""
UNKNOWN = len(REASONS) - 1


class Split(NamedTuple):
    """Nanoseconds by reason: estimate, minimum and maximum."""

    estimate: Floats
    least: Floats
    most: Floats

    def __add__(self, other: object) -> "Split":
        """Return the sum of two splits."""
        if not isinstance(other, Split):
            return NotImplemented
        return Split(
            self.estimate + other.estimate, self.least + other.least, self.most + other.most
        )


def no_time() -> Split:
    """Return a split of zero time."""
    return Split(*(np.zeros(len(REASONS)) for _ in range(3)))


@dataclass(frozen=True)
class Timeline:
    """Samples of one life of a thread, k of them, ascending.

    Attributes:
        time_ns: [k], nanoseconds since attach.
        total_ns: [k, reasons], cumulative at each instant.
        state: [k], index of the reason at that instant; -1 if unknown.
        since_ns: [k], start of the state.
        until_ns: end of the last sample's validity.
    """

    time_ns: Ints
    total_ns: Ints
    state: Ints
    since_ns: Ints
    until_ns: int

    def split(self, begin: int, end: int) -> Split:
        """Return the activity between two instants; time not enclosed by samples is omitted."""
        found = no_time()
        first = max(0, int(np.searchsorted(self.time_ns, begin, side="right")) - 1)
        for index in range(first, len(self.time_ns) - 1):
            if self.time_ns[index] >= end:
                break
            self._between(index, begin, end, found)
        last = len(self.time_ns) - 1
        if last >= 0 and self.state[last] >= 0:
            stays = _overlap(int(self.time_ns[last]), self.until_ns, begin, end)
            _add_exact(found, int(self.state[last]), stays)
        return found

    def _between(self, index: int, begin: int, end: int, found: Split) -> None:
        low, high = int(self.time_ns[index]), int(self.time_ns[index + 1])
        growth = np.maximum(self.total_ns[index + 1] - self.total_ns[index], 0).astype(np.float64)
        state, since = int(self.state[index + 1]), high
        if state >= 0:
            since = min(max(int(self.since_ns[index + 1]), low), high)
            growth[state] = max(0.0, growth[state] - (high - since))
            _add_exact(found, state, _overlap(since, high, begin, end))
        length, part = since - low, _overlap(low, since, begin, end)
        if part > 0:
            _add_part(found, growth, length, part)


def _add_exact(found: Split, state: int, ns: int) -> None:
    for array in found:
        array[state] += ns


def _add_part(found: Split, growth: Floats, length: int, part: int) -> None:
    # Counters are read one after the other, so the sum may deviate slightly.
    whole = growth.sum()
    if whole <= 0:
        _add_exact(found, UNKNOWN, part)
        return
    growth = growth * (length / whole)
    np.add(found.estimate, growth * (part / length), out=found.estimate)
    np.add(found.least, np.maximum(growth - (length - part), 0), out=found.least)
    np.add(found.most, np.minimum(growth, part), out=found.most)


def _overlap(low: int, high: int, begin: int, end: int) -> int:
    return max(0, min(high, end) - max(low, begin))


def split_all(timeline: Timeline, intervals: Sequence[tuple[int, int]]) -> Split:
    """Return the total activity of a thread in several intervals."""
    found = no_time()
    for begin, end in intervals:
        found += timeline.split(begin, end)
    return found


WAITING = frozenset({"locks", "polling", "sleep", "pipes", "unknown"})
"""States shared with idle threads: a process's share of them does not describe one request."""
IDLE = "idle"
MIN_SHARE = 0.001
"""Minimum part, as a share of the own time. Smaller parts are omitted, except the greatest."""


LEAST_COVERAGE = 0.005
"""Coverage that is shown as 0 %. An estimate that rests on nothing certain is none."""


class Parts(NamedTuple):
    """Own time of a span, divided by reason.

    Attributes:
        ns: time by reason, greatest first; the sum is the own time. All is unknown if samples
            determine less than LEAST_COVERAGE of it.
        coverage: share of the own time that samples determine with certainty, 0 to 1.
    """

    ns: dict[str, int]
    coverage: float

    @property
    def is_known(self) -> bool:
        """True if samples determine a part of the own time, or that it was a wait."""
        return self.ns.keys() != {REASONS[UNKNOWN]}


def of_thread(timeline: Timeline, intervals: Sequence[tuple[int, int]]) -> Parts:
    """Divide intervals in which a request waited for a thread by the thread's activity."""
    own = sum(end - begin for begin, end in intervals)
    found = split_all(timeline, intervals)
    estimate = found.estimate.copy()
    estimate[UNKNOWN] += max(0.0, own - estimate.sum())
    certain = found.least[:UNKNOWN].sum()
    return _parts(dict(zip(REASONS, estimate, strict=True)), own, certain)


def of_process(
    timelines: Sequence[Timeline], intervals: Sequence[tuple[int, int]], lock_rate: float
) -> Parts:
    """Divide intervals in which a request waited for a process by its threads' activity.

    Args:
        timelines: timelines of the process's threads.
        intervals: intervals, in nanoseconds since attach.
        lock_rate: waits for locks around that time, in thread-seconds per second.
    """
    own = sum(end - begin for begin, end in intervals)
    found = no_time()
    for timeline in timelines:
        found += split_all(timeline, intervals)
    measured = min(own, _measured(timelines, intervals))
    at_work = busy(found)
    worked = at_work.estimate.sum()
    scale = min(1.0, measured / worked) if worked else 1.0
    parts = dict(zip(REASONS, at_work.estimate * scale, strict=True))
    waited = max(0.0, measured - worked)
    locked = waited * min(1.0, lock_rate)
    parts["locks"] += locked
    parts[IDLE] = waited - locked
    parts["unknown"] = max(0.0, own - measured)
    certain = min(own, at_work.least.sum() * scale) + max(0.0, measured - at_work.most.sum())
    # The request certainly waited, but not certainly for a lock.
    return _parts(parts, own, certain, guessed=locked)


def busy(found: Split) -> Split:
    """Return the time in which a thread was active, not in a state of idle threads."""
    works = np.array([reason not in WAITING for reason in REASONS], np.float64)
    return Split(*(array * works for array in found))


def _measured(timelines: Sequence[Timeline], intervals: Sequence[tuple[int, int]]) -> int:
    """Return the time of the intervals that the samples of any thread cover, in nanoseconds."""
    known = [one for one in timelines if len(one.time_ns)]
    if not known:
        return 0
    first = min(int(one.time_ns[0]) for one in known)
    last = max(max(int(one.time_ns[-1]), one.until_ns) for one in known)
    return sum(max(0, min(end, last) - max(begin, first)) for begin, end in intervals)


def _parts(ns: dict[str, float], own: int, certain: float, guessed: float = 0.0) -> Parts:
    coverage = _share(certain - guessed, own)
    if _share(certain, own) < LEAST_COVERAGE:
        return Parts({REASONS[UNKNOWN]: own}, coverage)
    return Parts(_rounded(ns, own), coverage)


def _rounded(parts: dict[str, float], own: int) -> dict[str, int]:
    """Round the parts to whole nanoseconds that sum to the own time, the greatest part first."""
    ordered = sorted(((float(ns), reason) for reason, ns in parts.items()), reverse=True)
    shown = [(round(ns), reason) for ns, reason in ordered if ns > own * MIN_SHARE]
    found = {reason: ns for ns, reason in shown or [(own, ordered[0][1])]}
    greatest = next(iter(found))
    found[greatest] += own - sum(found.values())
    return found


def _share(certain: float, own: int) -> float:
    return min(1.0, max(0.0, certain / own)) if own else 0.0
