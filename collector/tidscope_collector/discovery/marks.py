"""Tells which threads have not run, from two readings of the task iterator. Pure.

struct record of bpf/task_iterator.bpf.c stands here once more; a test holds what is read against
/proc.
"""

import numpy as np
import numpy.typing as npt

from tidscope_collector.threads.matching import rows_of_both

RECORD = np.dtype(
    [
        *(("tid", "u4"), ("runnable", "u4"), ("start_ns", "u8")),
        *(("run_ns", "u8"), ("switches", "u8"), ("comm", "S16")),
    ]
)
_WORDS = RECORD.itemsize // 8

Records = npt.NDArray[np.void]


def idle(now: Records, before: Records) -> npt.NDArray[np.bool_]:
    """Which threads have certainly not run between two readings.

    A counter of a thread moves only while the thread runs. One that ran and sleeps again has
    switched once more; one that is runnable may be running, and its counters may be moving, though
    its marks stand still until the next tick.

    Args:
        now: structured array of RECORD, n threads.
        before: the same of the reading before.

    Returns:
        bool[n].
    """
    result = np.zeros(len(now), np.bool_)
    here, there = rows_of_both(now["tid"], before["tid"])
    result[here] = (_words(now)[here] == _words(before)[there]).all(axis=1)
    result &= now["runnable"] == 0
    return result


def _words(records: Records) -> npt.NDArray[np.uint64]:
    return np.ascontiguousarray(records).view(np.uint64).reshape(len(records), _WORDS)
