"""Stacks of threads that ended waits: where they did, and what they did meanwhile. Pure."""

import numpy as np
from tidscope_wire.frame_tables import Table

from tidscope_backend.stacks.estimate import Ints, Strata, Units, calibrated
from tidscope_backend.stacks.intervals import Floats
from tidscope_backend.stacks.selection import ON_CPU
from tidscope_backend.stacks.units import Account


def releasers(samples: Table, waits: Account) -> Account:
    """Return the same waits with the stacks of the threads that ended them."""
    node = samples["waker_node"][waits.row].astype(np.int64)
    return waits._replace(units=waits.units._replace(node=node))


class Meanwhile:
    """Time of the threads that ended waits, while those waits lasted.

    Args:
        samples: rows of `stack_samples`.
        everything: all samples of all threads.
    """

    def __init__(self, samples: Table, everything: Account) -> None:
        self._samples = samples
        self._every = everything
        self._time = calibrated(everything.units, everything.strata)
        tid = samples["tid"][everything.row].astype(np.int64)
        self._order = np.argsort(tid, kind="stable")
        self._tids = tid[self._order]

    def holders(self, waits: Account) -> Account:
        """Return what the threads that ended waits did while these lasted.

        A sample of such a thread stands for its time that overlaps the waits. Each wait stands for
        others like it, so a sample counts as often as waits overlap it.
        """
        time = calibrated(waits.units, waits.strata)
        length = waits.end_ns - waits.begin_ns
        waker = self._samples["waker_tid"][waits.row].astype(np.int64)
        known = (waker > 0) & (length > 0) & (time > 0)
        stands_for = np.divide(time, length, out=np.zeros_like(time), where=known)
        parts = [np.empty(0, np.int64)]
        values = [np.empty(0)]
        for one in np.unique(waker[known]).tolist():
            of, own = known & (waker == one), self._of(one)
            times = _Times(waits.begin_ns[of], waits.end_ns[of], stands_for[of])
            values.append(self._time[own] * self._overlap(times, own))
            parts.append(own)
        place, value = np.concatenate(parts), np.concatenate(values)
        place, value = place[value > 0], value[value > 0]
        whole = float(time[known].sum())
        spread = float((waits.units.factor * time**2)[known].sum())
        every = self._every
        return Account(
            Units(
                every.units.node[place],
                value,
                every.units.factor[place],
                np.zeros(len(place), np.int64),
            ),
            Strata(np.array([min(whole, float(value.sum()))]), np.zeros(1, np.int64)),
            waits.exact_ns,
            every.row[place],
            every.begin_ns[place],
            every.end_ns[place],
            whole**2 / spread if spread > 0 else np.inf,
        )

    def _of(self, tid: int) -> Ints:
        """Return the places of a thread's samples."""
        begin, end = np.searchsorted(self._tids, [tid, tid + 1])
        return self._order[begin:end].astype(np.int64)

    def _overlap(self, waits: "_Times", own: Ints) -> Floats:
        """Return how many waits overlap each sample of a thread, on average over its length."""
        begin, end = self._every.begin_ns[own], self._every.end_ns[own]
        length = end - begin
        integral = waits.integral(end) - waits.integral(begin)
        mean = np.divide(integral, length, out=np.zeros_like(length), where=length > 0)
        on_cpu = (self._samples["state"][self._every.row[own]] == ON_CPU) & (length <= 0)
        return np.maximum(np.where(on_cpu, waits.number(begin), mean), 0)


class _Times:
    """Number of waits under way at any time.

    Args:
        begin_ns: [w], begins of waits.
        end_ns: [w], ends of waits.
        stands_for: [w], number of waits like it that each stands for.
    """

    def __init__(self, begin_ns: Floats, end_ns: Floats, stands_for: Floats) -> None:
        edge = np.concatenate([begin_ns, end_ns])
        order = np.argsort(edge, kind="stable")
        self._edge = edge[order]
        self._number = np.cumsum(np.concatenate([stands_for, -stands_for])[order])
        area = self._number[:-1] * np.diff(self._edge)
        self._area = np.concatenate([[0.0], np.cumsum(area)])

    def number(self, time_ns: Floats) -> Floats:
        """Return the number at times."""
        place = np.searchsorted(self._edge, time_ns, side="right") - 1
        found: Floats = np.where(place >= 0, self._number[np.maximum(place, 0)], 0)
        return found

    def integral(self, time_ns: Floats) -> Floats:
        """Return the integral of the number from the first wait on to times."""
        place = np.searchsorted(self._edge, time_ns, side="right") - 1
        place = np.maximum(place, 0)
        beyond = np.maximum(time_ns - self._edge[place], 0)
        found: Floats = self._area[place] + self._number[place] * beyond
        return found
