"""Who ran while threads were queued: processes of one name are one, so their number is bounded."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tidscope_collector.waits.counts import Counts, Rows
from tidscope_collector.waits.sums import sum_by

_MOST_NAMES = 1024
"""What ran under further names is not known."""
_MOST_KNOWN = 16384
_NONE = -1


class TakersByName:
    """Which process stands for each: the first that was seen with its name.

    A build starts thousands of processes a minute; what matters is which program they run.

    Args:
        name_of: name of a process by its id, and whether it is a kernel thread.
    """

    def __init__(self, name_of: Callable[[int], tuple[str, bool]]) -> None:
        self._name_of = name_of
        self._first: dict[tuple[str, int], int] = {}
        self._known: dict[int, int] = {}
        self._names: dict[int, str] = {}

    def name(self, pid: int) -> str:
        """The name of a process that stands for all that have it."""
        return self._names.get(pid) or self._name_of(pid)[0]

    def fold(self, counts: Counts, pid: int) -> Counts:
        """Counts whose takers are processes that stand for others.

        Args:
            counts: of the threads of a process.
            pid: that process, which stands for itself only.
        """
        (tid, who), (ns,) = counts.takers.keys, counts.takers.values
        several, place = np.unique(who, return_inverse=True)
        known = self._known
        stands = np.array(
            [
                known[one] if one in known and one >> 1 != pid else self._stands_for(one, pid)
                for one in several.tolist()
            ],
            np.int64,
        )
        found: npt.NDArray[np.int64] = stands[place]
        kept = found != _NONE
        keys = tid[kept], found[kept].astype(np.uint64)
        return replace(counts, takers=Rows(*sum_by(keys, (ns[kept],))))

    def _stands_for(self, who: int, own: int) -> int:
        pid, kernel = who >> 1, who & 1
        if pid in (0, own):
            return who
        known = self._known.get(who)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known = dict(list(self._known.items())[_MOST_KNOWN // 2 :])
            key = self._name_of(pid)[0], kernel
            if key not in self._first and len(self._first) >= _MOST_NAMES:
                return _NONE
            known = self._known[who] = self._first.setdefault(key, who)
            self._names.setdefault(known >> 1, key[0])
        return known
