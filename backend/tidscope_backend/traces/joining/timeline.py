"""What a thread did between any two instants, as far as its samples tell. Pure.

A sample gives the time in each group of states up to its instant, and the state that the thread is
in since when. So between two samples the totals are known, and of the stretch up to the later one
which state it was in. An interval that covers a part of the rest is estimated in proportion, and
bounded: of a state that lasted D of a stretch of length L, an interval of length o within it has at
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
"""Columns of all arrays here: the groups of states, and what was not measured."""
UNKNOWN = len(REASONS) - 1


class Split(NamedTuple):
    """Nanoseconds by reason: estimated, at least, and at most."""

    estimate: Floats
    least: Floats
    most: Floats

    def __add__(self, other: object) -> "Split":
        """The sum of two."""
        if not isinstance(other, Split):
            return NotImplemented
        return Split(
            self.estimate + other.estimate, self.least + other.least, self.most + other.most
        )


def no_time() -> Split:
    """Nothing at all."""
    return Split(*(np.zeros(len(REASONS)) for _ in range(3)))


@dataclass(frozen=True)
class Timeline:
    """Samples of one life of a thread, k of them, ascending.

    Attributes:
        time_ns: [k], since attach.
        total_ns: [k, reasons], cumulative up to then.
        state: [k], index of the reason that it is in then; -1: not known.
        since_ns: [k], since when.
        until_ns: the last one holds until then.
    """

    time_ns: Ints
    total_ns: Ints
    state: Ints
    since_ns: Ints
    until_ns: int

    def split(self, begin: int, end: int) -> Split:
        """What it did from one instant to another; what no samples enclose is left out."""
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
    # Counters are read one after the other, so they may add up to a little more or less.
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
    """What a thread did in several intervals together."""
    found = no_time()
    for begin, end in intervals:
        found += timeline.split(begin, end)
    return found
