"""Which slot an exit record belongs to. Pure, but for the question whether a thread is exiting."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf.watched import Whose, are_of
from tidscope_collector.procfs.files import ProcFs

_SLACK_NS = 10_000
"""Ages in exit records are in microseconds, taken a little before or after ours."""
_PF_EXITING = 0x4  # include/linux/sched.h

Slots = npt.NDArray[np.void]
Indices = npt.NDArray[np.intp]


def find_exited(
    slots: Slots,
    whose: Whose,
    tids: npt.NDArray[np.uint32],
    ages_ns: npt.NDArray[np.int64],
    now_ns: int,
    exiting: Callable[[int, int], bool],
) -> Indices:
    """The slots of threads whose exit records have come.

    A record tells the id and the age of a thread, to the microsecond. The kernel writes it shortly
    before the slot gets its time of exit (do_exit: taskstats_exit, then the tracepoint). Where an
    id was used by several threads meanwhile, the ages tell which is which: a slot's age is the
    record's, or a little more; the pairs that agree best are made first.

    Args:
        slots: structured array with tgid, tid, start_ns and exit_ns.
        whose: the processes.
        tids: uint32[n].
        ages_ns: int64[n].
        now_ns: CLOCK_MONOTONIC.
        exiting: whether the thread that has an id now is exiting, or gone, by ids of process and
            thread; it is asked about slots without a time of exit, which may also be those of a
            living thread under a used id.

    Returns:
        intp[n], the slot of each thread, -1 for one that has none; no slot twice.
    """
    found = np.full(len(tids), -1, np.intp)
    mine = np.flatnonzero(are_of(slots["tgid"], whose) & np.isin(slots["tid"], tids))
    if not len(mine):
        return found
    rows = slots[mine]
    ends = np.where(rows["exit_ns"] == 0, now_ns, rows["exit_ns"])
    lives = (ends - rows["start_ns"]).tolist()
    by_tid: dict[int, list[int]] = {}
    for place, (tgid, tid, ended) in enumerate(rows[["tgid", "tid", "exit_ns"]].tolist()):
        if not ended and not exiting(tgid, tid):
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


def is_exiting(procfs: ProcFs, pid: int, tid: int) -> bool:
    """Whether a thread exits, or is gone."""
    try:
        stat = procfs.read(f"{pid}/task/{tid}/stat", 4096)
    except OSError:
        return True
    flags = int(stat.rpartition(b")")[2].split()[6])  # proc_pid_stat(5): field 9
    return bool(flags & _PF_EXITING)
