"""The exit status of a process, found in the exit records of its threads."""

import numpy as np

from tidscope_collector.taskstats.exits import ExitListener, Exits

LAST_OF_PROCESS = 0x20
"""AGROUP of ac_flag (include/uapi/linux/acct.h), in taskstats from version 12 on."""


def process_exit_code(
    listener: ExitListener, exits: Exits, pid: int, *, foreign_exits: bool
) -> int | None:
    """The exit status of a process: that of its last thread.

    exit_group(2) and deadly signals give all threads the status of the process, but for those
    that left before, such as a main thread that did not wait for the others. A kernel that
    does not say who was the last of which process: the main thread's.

    Args:
        listener: that the records are from.
        exits: the records.
        pid: of the process.
        foreign_exits: whether the kernel does not say of which process a thread is.

    Returns:
        As wait(2) gives it; None if the thread in question is not among them.
    """
    if foreign_exits:
        found = listener.own_member(exits, "ac_pid") == pid
    else:
        # ac_flag is one byte, the lowest of its word.
        last = (listener.own_member(exits, "ac_flag") & LAST_OF_PROCESS) != 0
        found = last & (listener.own_member(exits, "ac_tgid") == pid)
    rows = np.flatnonzero(found)
    return int(listener.own_member(exits, "ac_exitcode")[rows[-1]]) if len(rows) else None
