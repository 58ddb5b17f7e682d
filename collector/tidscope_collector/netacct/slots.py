"""The slots that the eBPF program counts in, as arrays; finding those of threads. Pure.

struct slot and struct control of bpf/netacct.bpf.c stand here once more; a test compares them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
_SLACK_NS = 10_000
"""Ages in exit records are in microseconds, taken a little before or after ours."""

_WORDS = SLOT.itemsize // 8
_COUNTERS_AT = 3
"""Where a slot's counters begin, in words."""

Slots = npt.NDArray[np.void]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class LivingThreads:
    """The living threads of a process that have slots.

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


def list_living(slots: Slots, tgid: int, before_ns: int) -> LivingThreads:
    """The slots of a process' living threads.

    Args:
        slots: structured array of SLOT.
        tgid: the process.
        before_ns: threads that started after this are others, under a used id.
    """
    alive = np.flatnonzero((slots["tgid"] == tgid) & (slots["exit_ns"] == 0))
    mine = alive[slots["start_ns"][alive] <= before_ns]
    owners = slots["tid"][mine]
    order = np.argsort(owners)
    return LivingThreads(owners[order], mine[order], len(mine) == len(alive))


def find_exited(
    slots: Slots,
    tgid: int,
    tids: npt.NDArray[np.uint32],
    ages_ns: npt.NDArray[np.int64],
    now_ns: int,
    exiting: Callable[[int], bool],
) -> Indices:
    """The slots of threads whose exit records have come.

    A record tells the id and the age of a thread, to the microsecond. The kernel writes it shortly
    before the slot gets its time of exit (do_exit: taskstats_exit, then the tracepoint). Where an
    id was used by several threads meanwhile, the ages tell which is which: a slot's age is the
    record's, or a little more; the pairs that agree best are made first.

    Args:
        slots: structured array of SLOT.
        tgid: the process.
        tids: uint32[n].
        ages_ns: int64[n].
        now_ns: CLOCK_MONOTONIC.
        exiting: whether the thread that has an id now is exiting, or gone; it is asked about slots
            without a time of exit, which may also be those of a living thread under a used id.

    Returns:
        intp[n], the slot of each thread, -1 for one that has none; no slot twice.
    """
    found = np.full(len(tids), -1, np.intp)
    mine = np.flatnonzero((slots["tgid"] == tgid) & np.isin(slots["tid"], tids))
    if not len(mine):
        return found
    rows = slots[mine]
    ends = np.where(rows["exit_ns"] == 0, now_ns, rows["exit_ns"])
    lives = (ends - rows["start_ns"]).tolist()
    by_tid: dict[int, list[int]] = {}
    for place, (tid, ended) in enumerate(
        zip(rows["tid"].tolist(), rows["exit_ns"].tolist(), strict=True)
    ):
        if not ended and not exiting(tid):
            continue
        by_tid.setdefault(tid, []).append(place)
    pairs: list[tuple[int, int, int]] = []
    for record, (tid, age) in enumerate(zip(tids.tolist(), ages_ns.tolist(), strict=True)):
        for place in by_tid.get(tid, ()):
            excess = lives[place] - age
            if excess >= -_SLACK_NS:
                pairs.append((abs(excess), record, place))
    taken: set[int] = set()
    for _, record, place in sorted(pairs):
        if found[record] < 0 and place not in taken:
            found[record] = mine[place]
            taken.add(place)
    return found
