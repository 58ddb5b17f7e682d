"""CPU affinity of all threads of a process: read, set, restored (sched_setaffinity(2)).

Linux has it for each thread, and a new thread inherits that of the one that made it. So it is set
for every thread, again and again, until a whole pass finds none that lacks it: then no thread is
left that could hand down another one.
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.stat import parse_stat

MOST_PASSES = 100
MOST_S = 2.0

Cpus = frozenset[int]


@dataclass(frozen=True, slots=True)
class ThreadMask:
    """The CPUs that one thread may use.

    Attributes:
        tid: its id.
        start_ticks: with the id, tells it from a later one.
        cpus: their numbers.
    """

    tid: int
    start_ticks: int
    cpus: Cpus


class UnsettledError(Exception):
    """Threads with other masks appeared faster than they could be set."""


def read_masks(procfs: ProcFs, pid: int) -> list[ThreadMask]:
    """The masks of all threads that a process has.

    Raises:
        ProcessLookupError: the process is gone.
        PermissionError: it belongs to somebody else.
    """
    found = []
    for tid in _threads(procfs, pid):
        try:
            start = parse_stat(procfs.read(f"{pid}/task/{tid}/stat")).start_ticks
            found.append(ThreadMask(tid, start, frozenset(os.sched_getaffinity(tid))))
        except (ProcessLookupError, FileNotFoundError):
            continue
    if not found:
        raise ProcessLookupError(f"process {pid} has ended")
    return found


def common_mask(masks: list[ThreadMask]) -> Cpus:
    """The mask that most threads have; of those that are as frequent, the widest one."""
    counted = Counter(mask.cpus for mask in masks)
    return max(counted, key=lambda cpus: (counted[cpus], len(cpus), sorted(cpus)))


def set_masks(procfs: ProcFs, pid: int, wanted: Callable[[ThreadMask], Cpus | None]) -> int:
    """Give every thread the mask that it should have.

    Args:
        procfs: where the threads are listed.
        pid: of the process.
        wanted: from a thread and its present mask to the one it gets; None leaves it as it is.

    Returns:
        How many were set, those that appeared meanwhile included.

    Raises:
        ProcessLookupError: the process is gone.
        PermissionError: it belongs to somebody else.
        OSError: EINVAL, when none of the CPUs is there for it (its cpuset lacks them).
        UnsettledError: it made threads faster than they could be set, or has too many.
    """
    total = 0
    deadline = time.monotonic() + MOST_S
    for _ in range(MOST_PASSES):
        if time.monotonic() > deadline:
            break
        changed = 0
        for mask in read_masks(procfs, pid):
            cpus = wanted(mask)
            if cpus is None or cpus == mask.cpus:
                continue
            try:
                os.sched_setaffinity(mask.tid, cpus)
            except ProcessLookupError:
                continue  # It has ended; what it made before is in the next pass.
            changed += 1
        if not changed:
            return total
        total += changed
    raise UnsettledError(f"process {pid} creates threads faster than their affinity can be set")


def _threads(procfs: ProcFs, pid: int) -> list[int]:
    try:
        with os.scandir(procfs.path(f"{pid}/task")) as entries:
            return [int(entry.name) for entry in entries]
    except FileNotFoundError as error:
        raise ProcessLookupError(f"process {pid} has ended") from error
