"""The columns of states among those of a reading: what is true of them and of no other. Pure.

Stays under way are not in them; a column may fall by some microseconds when a stay ends; the last
two, the state and since when, are gauges, of which there is no sum.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at

from tidscope_collector.threads.reading import Reading


class StateColumns:
    """Where they are.

    Args:
        fields: names of the columns of readings: all of a ledger, as the last ones and in the order
            of the catalogue, or none.
        attach_ns: CLOCK_MONOTONIC from which SINCE counts.

    Attributes:
        summed: names of the columns that have sums, the first ones of a reading.
        rising: bool[F], which columns never fall while a thread lives.
    """

    def __init__(self, fields: Sequence[str], attach_ns: int) -> None:
        ledger = (*STATE_FIELDS, STATE, SINCE)
        self._first = len(fields) - len(ledger) if STATE in fields else len(fields)
        if tuple(fields[self._first :]) not in (ledger, ()):
            raise ValueError("the fields of states do not stand at the end, in their order")
        self._attach_ns = attach_ns
        self._behind = min(len(fields), self._first + len(STATE_FIELDS))
        self.summed = tuple(fields[: self._behind])
        self.rising = np.arange(len(fields)) < self._first

    def at(self, reading: Reading, now_ns: int | npt.NDArray[np.int64]) -> Reading:
        """The columns that have sums, as they are at an instant.

        Args:
            reading: of n threads.
            now_ns: CLOCK_MONOTONIC; int64[n]: of each thread its own.
        """
        counters = reading.counters[:, : self._behind]
        if self._first < self._behind:
            finished = counters[:, self._first :]
            state, since = reading.counters[:, self._behind], reading.counters[:, self._behind + 1]
            times = np.maximum(np.asarray(now_ns) - self._attach_ns, 0).astype(np.uint64)
            counters = counters.copy()
            counters[:, self._first :] = states_at(finished, state, since, times)
        absent, invalid = reading.absent, reading.invalid
        return replace(
            reading,
            counters=counters,
            absent=None if absent is None else absent[:, : self._behind],
            invalid=None if invalid is None else invalid[:, : self._behind],
            changed=None,
        )

    def take_off(
        self, row: npt.NDArray[np.uint64], values: Mapping[str, int], until_ns: int
    ) -> None:
        """Take off what a thread had at an instant, in place.

        Args:
            row: uint64[F], of a reading after it.
            values: field name to value, as `at` gives it for that instant.
            until_ns: CLOCK_MONOTONIC of it. A stay under way counts from then on.
        """
        off = np.array([values.get(name, 0) for name in self.summed], np.uint64)
        summed = row[: self._behind]
        summed -= np.minimum(summed, off)
        if self._first < self._behind:
            began_ns = np.uint64(max(0, until_ns - self._attach_ns))
            row[self._behind + 1] = max(row[self._behind + 1], began_ns)
