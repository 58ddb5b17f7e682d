"""Counts of threads and wakers that have ended, or are others': what is kept of them. Pure."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf.watched import Pids, Whose, are_of
from tidscope_collector.waits.counts import Counts, Rows
from tidscope_collector.waits.slots import Slots
from tidscope_collector.waits.sums import sum_by

_KEPT_ROWS = 16384
"""Of wake-ups of threads that have ended; of more, the rarest are added up by process."""
PID = np.uint64(32)
"""The process of a waker is shifted by so much."""
_LOW = np.uint64(0xFFFFFFFF)


class Living:
    """The threads that have a slot and have not ended, of all that are counted for.

    Args:
        slots: structured array with tgid and tid.

    Attributes:
        pids: uint32[m], ascending: their processes.
        tids: uint64[n], ascending.
    """

    def __init__(self, slots: Slots) -> None:
        self.pids = processes_of(slots)
        self.tids = np.unique(slots["tid"]).astype(np.uint64)

    def lack(self, wakers: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Which wakers are threads that are none of them: they have ended."""
        tids = wakers & _LOW
        lacking: npt.NDArray[np.bool_] = (tids != 0) & ~np.isin(tids, self.tids)
        return lacking


def processes_of(slots: Slots) -> Pids:
    return np.unique(slots["tgid"])


def without_dead(counts: Counts, living: Living) -> Counts:
    """The thread id 0 in place of threads that have ended."""
    tid, waker, address, process = counts.edges.keys
    (waiter, who), sums = counts.takers.keys, counts.takers.values
    gone, not_waiting, dead = living.lack(tid), living.lack(waiter), living.lack(waker)
    if not (gone.any() or not_waiting.any() or dead.any()):
        return counts
    takers = Rows((np.where(not_waiting, np.uint64(0), waiter), who), sums)
    waker = np.where(dead, waker >> PID << PID, waker)
    tid = np.where(gone, np.uint64(0), tid)
    edges = Rows((tid, waker, address, process), counts.edges.values)
    return replace(counts, edges=edges, takers=takers).with_all()


def without_foreign(counts: Counts, whose: Whose) -> Counts:
    """The thread id 0 in place of wakers of other processes, which others count for."""
    tid, waker, address, process = counts.edges.keys
    own = are_of((waker >> PID).astype(np.uint32), whose)
    if own.all():
        return counts
    waker = np.where(own, waker, waker >> PID << PID)
    keys, values = sum_by((tid, waker, address, process), counts.edges.values)
    return replace(counts, edges=Rows(keys, values, are_summed=True))


def bounded(counts: Counts) -> Counts:
    """At most so many rows of each kind that grows with what threads did."""
    edges = counts.edges
    if len(edges.keys[0]) <= _KEPT_ROWS:
        return counts
    least = np.argsort(edges.values[0])[: len(edges.keys[0]) - _KEPT_ROWS // 2]
    tid, waker, address, process = (column.copy() for column in edges.keys)
    waker[least] = waker[least] >> PID << PID
    address[least] = process[least] = 0
    return replace(counts, edges=Rows((tid, waker, address, process), edges.values)).with_all()
