"""Whether a thread id of a target still stands for a thread, asked of /proc one id at a time."""

import os
from collections.abc import Callable, Container
from enum import Enum

from tidscope_collector.processes.identity import group_and_uid
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import ENDED, parse_stat

PF_EXITING = 0x4  # include/linux/sched.h: set when do_exit begins, before the exit record is sent
_STAT_BYTES = 4096


class Presence(Enum):
    """What a thread id of a process stands for."""

    ALIVE = "a thread that runs or may run"
    EXITING = "a thread that has begun to end, or a zombie: a main thread waits for the others"
    GONE = "no thread of this process"


Look = Callable[[int], Presence]
"""Tells of a thread id what it stands for now."""


def presence(tasks: int, tid: int) -> Presence:
    """Look at a thread.

    Args:
        tasks: descriptor of /proc/PID/task of its process.
        tid: its id.
    """
    try:
        file = os.open(f"{tid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=tasks)
        try:
            stat = parse_stat(os.read(file, _STAT_BYTES))
        finally:
            os.close(file)
    except (FileNotFoundError, ProcessLookupError):
        return Presence.GONE
    except OSError:
        # No descriptor left, say: that is nothing against the thread.
        return Presence.ALIVE
    if stat.flags & PF_EXITING or stat.state in ENDED:
        return Presence.EXITING
    return Presence.ALIVE


def presence_in(procfs: ProcFs, tid: int, processes: Container[int]) -> Presence:
    """Look at a thread of any of several processes.

    Args:
        procfs: root of /proc.
        tid: its id.
        processes: ids of the processes.
    """
    try:
        tasks = os.open(procfs.path(f"{tid}/task"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return Presence.GONE
    except OSError:
        return Presence.ALIVE
    try:
        group, _ = group_and_uid(procfs.read(f"{tid}/status", 8192))
        return presence(tasks, tid) if group in processes else Presence.GONE
    except (OSError, ValueError):
        return Presence.GONE
    finally:
        os.close(tasks)
