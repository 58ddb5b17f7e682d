"""The slots that the eBPF program counts in, as arrays. Pure.

struct slot and struct control of bpf/netacct.bpf.c stand here once more; a test compares them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf.watched import Whose, are_of

SLOTS = 65536
COUNTERS = ("read_bytes", "write_bytes", "read_calls", "write_calls")
"""The counters of a slot, in the order of FIELDS."""
FIELDS = ("net_read_bytes", "net_write_bytes", "net_read_calls", "net_write_calls")
"""The same as the field catalogue names them."""

SLOT = np.dtype(
    [
        *(("tgid", "u4"), ("tid", "u4"), ("start_ns", "i8"), ("exit_ns", "i8")),
        *((name, "u8") for name in COUNTERS),
        ("generation", "u8"),
    ]
)
CONTROL = np.dtype(
    [
        *(("used", "u4"), ("pad", "u4")),
        *((name, "u8") for name in ("uncounted_calls", "uncounted_bytes", "changes")),
    ]
)
UNCOUNTED = np.dtype([("tgid", "u4"), ("tid", "u4"), ("start_ns", "i8")])
"""A thread that read a TCP socket by splice(), which was not counted."""
MAX_UNCOUNTED = 4096
_WORDS = SLOT.itemsize // 8
_COUNTERS_AT = 3
"""Where a slot's counters begin, in words."""

Slots = npt.NDArray[np.void]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class LivingThreads:
    """The living threads of processes that have slots.

    Attributes:
        tids: uint32[m], ascending.
        indices: intp[m], their slots.
        complete: whether this is all of them: no thread was left out because it started too late.
    """

    tids: npt.NDArray[np.uint32]
    indices: Indices
    complete: bool

    def find(self, tids: npt.NDArray[np.uint32]) -> Indices:
        """The slot of each thread, intp[n]; -1 for one that has none."""
        if not len(self.tids):
            return np.full(len(tids), -1, np.intp)
        at = np.minimum(np.searchsorted(self.tids, tids), len(self.tids) - 1)
        return np.where(self.tids[at] == tids, self.indices[at], -1)


def counters(slots: Slots, found: Indices) -> npt.NDArray[np.uint64]:
    """The counters of threads.

    Args:
        slots: structured array of SLOT.
        found: intp[n], the slot of each thread, -1 for one that has none.

    Returns:
        uint64[n, 4] in the order of COUNTERS; zero for a thread that has no slot.
    """
    result = np.zeros((len(found), len(COUNTERS)), np.uint64)
    has = found >= 0
    words = slots.view(np.uint64).reshape(-1, _WORDS)
    result[has] = words[found[has], _COUNTERS_AT : _COUNTERS_AT + len(COUNTERS)]
    return result


def list_living(slots: Slots, whose: Whose, before_ns: int) -> LivingThreads:
    """The slots of processes' living threads.

    Args:
        slots: structured array of SLOT.
        whose: the processes.
        before_ns: threads that started after this are others, under a used id.
    """
    alive = np.flatnonzero(are_of(slots["tgid"], whose) & (slots["exit_ns"] == 0))
    mine = alive[slots["start_ns"][alive] <= before_ns]
    owners = slots["tid"][mine]
    order = np.argsort(owners)
    return LivingThreads(owners[order], mine[order], len(mine) == len(alive))
