"""Who ran while threads were queued, and who woke them: processes of one name are one.

So their number is bounded.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf.watched import Pids, Processes, Whose, are_in, are_of
from tidscope_collector.waits.counts import Counts, Rows
from tidscope_collector.waits.sums import sum_by

_MAX_NAMES = 1024
"""What ran under further names is not known."""
_MAX_KNOWN = 4096
"""Processes whose name is kept at hand; those that were met longest ago leave first."""
_NONE = -1
_PID = np.uint64(32)


class ProcessesByName:
    """Which process stands for each: the first that was seen with its name.

    A build starts thousands of processes a minute; what matters is which program they run.

    Args:
        name_of: name of a process by its id, and whether it is a kernel thread.
    """

    def __init__(self, name_of: Callable[[int], tuple[str, bool]]) -> None:
        self._name_of = name_of
        self._first: dict[tuple[str, bool], int] = {}
        self._known: dict[int, int] = {}
        self._names: dict[int, tuple[str, bool]] = {}

    def name(self, pid: int) -> str:
        """The name of a process that stands for all that have it."""
        return self.describe(pid)[0]

    def describe(self, pid: int) -> tuple[str, bool]:
        """The same, and whether it is a kernel thread."""
        known = self._names.get(pid)
        return known if known is not None and known[0] else self._name_of(pid)

    def fold(self, counts: Counts, whose: Whose, living: Pids) -> Counts:
        """Counts whose takers and wakers are processes that stand for others.

        Args:
            counts: of threads.
            whose: their processes. A single one stands for itself, and wakers of its threads are
                left as they are. Of a group those are that live, as wakers; takers are not.
            living: uint32[m], ascending: processes with threads that are counted for.
        """
        folded = replace(counts, takers=self._fold_takers(counts, whose))
        if isinstance(whose, int):
            return folded
        return replace(folded, edges=self._fold_wakers(counts, whose, living))

    def _fold_takers(self, counts: Counts, whose: Whose) -> Rows:
        (tid, who), (ns,) = counts.takers.keys, counts.takers.values
        own = whose if isinstance(whose, int) else None
        stands = self._all(who, own)
        if counts.takers.are_summed and (stands == who.astype(np.int64)).all():
            return counts.takers
        kept = stands != _NONE
        keys = tid[kept], stands[kept].astype(np.uint64)
        return Rows(*sum_by(keys, (ns[kept],)), are_summed=True)

    def _fold_wakers(self, counts: Counts, whose: Processes, living: Pids) -> Rows:
        tid, waker, address, process = counts.edges.keys
        pid = (waker >> _PID).astype(np.uint32)
        rows = np.flatnonzero((pid != 0) & ~(are_of(pid, whose) & are_in(pid, living)))
        if not len(rows):
            return counts.edges
        several = np.unique(pid[rows])
        kernel = [self._name_of(one)[1] for one in several.tolist()]
        who = several.astype(np.uint64) << np.uint64(1) | np.array(kernel, np.uint64)
        place = np.searchsorted(several, pid[rows])
        stands = self._all(who, None)[place]
        known = np.where(stands == _NONE, pid[rows].astype(np.int64), stands >> 1)
        waker = waker.copy()
        waker[rows] = known.astype(np.uint64) << _PID
        return Rows(*sum_by((tid, waker, address, process), counts.edges.values), are_summed=True)

    def _all(self, who: npt.NDArray[np.uint64], own: int | None) -> npt.NDArray[np.int64]:
        """Who stands for each, int64[n]; _NONE: there are too many names."""
        several, place = np.unique(who, return_inverse=True)
        stands = np.array([self._stands_for(one, own) for one in several.tolist()], np.int64)
        found: npt.NDArray[np.int64] = stands[place]
        return found

    def _stands_for(self, who: int, own: int | None) -> int:
        pid, kernel = who >> 1, who & 1
        if pid in (0, own):
            return who
        known = self._known.pop(who, None)
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known = dict(list(self._known.items())[_MAX_KNOWN // 2 :])
            key = self._name_of(pid)[0], bool(kernel)
            if key not in self._first and len(self._first) >= _MAX_NAMES:
                return _NONE
            known = self._first.setdefault(key, who)
            self._names.setdefault(known >> 1, key)
        self._known[who] = known
        return known
