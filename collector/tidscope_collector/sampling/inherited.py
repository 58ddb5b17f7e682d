"""Counters of threads that go on under another id: of those that executed a program. Pure.

A thread other than the first one that executes a program (execve(2)) ends the others and takes the
first one's id. What it counted under its own id has been reported there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tidscope_collector.sampling.state_columns import StateColumns
from tidscope_collector.threads.reading import Reading

MAX_THREADS = 4096
"""Threads; beyond that the first ones are forgotten, and their counters stand as the kernel's."""


class Inherited(NamedTuple):
    """What a thread had when it was seen under its own id for the last time.

    Attributes:
        values: field name to value.
        seen_ns: CLOCK_MONOTONIC.
    """

    values: Mapping[str, int]
    seen_ns: int

    def taken_off(self, totals: Mapping[str, int]) -> dict[str, int]:
        """Totals without what was inherited."""
        return {name: max(0, value - self.values.get(name, 0)) for name, value in totals.items()}


class InheritedCounters:
    """The threads of one target that go on under another id, by that id.

    Args:
        states: the columns of readings.
    """

    def __init__(self, states: StateColumns) -> None:
        self._states = states
        self._known: dict[int, Inherited] = {}

    def note(self, tid: int, inherited: Inherited) -> None:
        """A thread goes on under this id."""
        self._known[tid] = inherited
        if len(self._known) > MAX_THREADS:
            del self._known[next(iter(self._known))]

    def forget(self, tid: int) -> None:
        """The id stands for another thread."""
        self._known.pop(tid, None)

    def of(self, tid: int) -> Inherited | None:
        """Return the counters that the thread inherited, or None."""
        return self._known.get(tid)

    def taken_off(self, reading: Reading, tids: Sequence[int] | None = None) -> Reading:
        """A reading without what was inherited.

        Args:
            reading: as the kernel counts.
            tids: that it is taken off from; None: all.

        Returns:
            The same reading, if nothing was; otherwise one that is not brought up to date in place.
        """
        wanted = list(self._known) if tids is None else list(tids)
        rows = np.flatnonzero(np.isin(reading.tid, wanted)).tolist() if wanted else []
        if not rows:
            return reading
        counters = reading.counters.copy()
        for row in rows:
            inherited = self._known[int(reading.tid[row])]
            self._states.take_off(counters[row], inherited.values, inherited.seen_ns)
        return replace(reading, counters=counters, changed=None)
