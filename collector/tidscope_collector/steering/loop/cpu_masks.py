"""CPU affinity of all threads of a process: reading and setting masks (sched_setaffinity(2)).

Linux keeps the affinity per thread, and a new thread inherits its creator's. Masks are therefore
set repeatedly until a whole pass finds no thread with an old mask, which could hand it down.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat

MAX_PASSES = 100
MAX_S = 2.0
"""Maximum CPU time for setting the masks of one process, in seconds. A busy machine adds none."""
_STAT_BYTES = 4096

Cpus = frozenset[int]


@dataclass(frozen=True, slots=True)
class ThreadMask:
    """CPUs that one thread may use.

    Attributes:
        tid: thread ID.
        start_ticks: start time, which distinguishes it from a later thread with the same ID.
        cpus: CPU numbers.
    """

    tid: int
    start_ticks: int
    cpus: Cpus


class UnsettledError(Exception):
    """Threads with other masks appeared faster than masks could be set."""


def read_masks(procfs: ProcFs, pid: int, start_ticks: int) -> list[ThreadMask]:
    """Return the masks of all threads of a process.

    Raises:
        ProcessLookupError: the process has ended; its ID may be recycled.
        PermissionError: the process belongs to another user.
    """
    with _opened_tasks(procfs, pid, start_ticks) as tasks:
        return _read_masks(tasks, pid)


def common_mask(masks: list[ThreadMask]) -> Cpus:
    """Return the most frequent mask, and the widest one of equally frequent masks."""
    counted = Counter(mask.cpus for mask in masks)
    return max(counted, key=lambda cpus: (counted[cpus], len(cpus), sorted(cpus)))


def set_masks(
    procfs: ProcFs, pid: int, start_ticks: int, wanted: Callable[[ThreadMask], Cpus | None]
) -> int:
    """Set the mask of every thread.

    A thread's identity is checked directly before its mask is set, because the call takes an ID and
    no descriptor.

    Args:
        procfs: root of /proc.
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        wanted: returns the mask for a thread and its current mask, or None to keep it.

    Returns:
        The number of set masks, including those of new threads.

    Raises:
        ProcessLookupError: the process has ended; its ID may be recycled.
        PermissionError: the process belongs to another user.
        OSError: EINVAL if its cpuset has none of the CPUs.
        UnsettledError: it created threads faster than masks could be set, or has too many.
    """
    total = 0
    deadline = time.thread_time() + MAX_S
    with _opened_tasks(procfs, pid, start_ticks) as tasks:
        for _ in range(MAX_PASSES):
            changed = 0
            for mask in _read_masks(tasks, pid):
                if time.thread_time() > deadline:
                    raise UnsettledError(f"process {pid} has more threads than can be set in time")
                cpus = wanted(mask)
                if cpus is None or cpus == mask.cpus:
                    continue
                try:
                    if _start_of(tasks, mask.tid) != mask.start_ticks:
                        continue
                    os.sched_setaffinity(mask.tid, cpus)
                except (ProcessLookupError, FileNotFoundError):
                    continue  # the thread has ended; threads that it created are in the next pass
                changed += 1
            if not changed:
                return total
            total += changed
    raise UnsettledError(f"process {pid} creates threads faster than their affinity can be set")


@contextmanager
def _opened_tasks(procfs: ProcFs, pid: int, start_ticks: int) -> Iterator[int]:
    """Open /proc/PID/task; the descriptor stays bound to this process."""
    try:
        tasks = os.open(procfs.path(f"{pid}/task"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise ProcessLookupError(f"process {pid} has ended") from error
    try:
        if _start_of(tasks, pid) != start_ticks:
            raise ProcessLookupError(f"process {pid} has ended; its id was reused")
        yield tasks
    except FileNotFoundError as error:
        raise ProcessLookupError(f"process {pid} has ended") from error
    finally:
        os.close(tasks)


def _read_masks(tasks: int, pid: int) -> list[ThreadMask]:
    found = []
    with os.scandir(tasks) as entries:
        ids = [int(entry.name) for entry in entries]
    for tid in ids:
        try:
            start = _start_of(tasks, tid)
            found.append(ThreadMask(tid, start, frozenset(os.sched_getaffinity(tid))))
        except (ProcessLookupError, FileNotFoundError):
            continue
    if not found:
        raise ProcessLookupError(f"process {pid} has ended")
    return found


def _start_of(tasks: int, tid: int) -> int:
    """Return the start time of a thread in this task folder."""
    file = os.open(f"{tid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=tasks)
    try:
        return parse_stat(os.read(file, _STAT_BYTES)).start_ticks
    finally:
        os.close(file)


def choose_cpus(
    allowed: Collection[int],
    number: int,
    own: Collection[int],
    others: Iterable[Collection[int]],
) -> frozenset[int]:
    """Choose CPUs for a process.

    CPUs held by the fewest other processes come first, then those it already has, then the lowest
    numbers.

    Args:
        allowed: CPUs to choose from.
        number: number of CPUs, at most as many as are allowed.
        own: CPUs that it has now.
        others: CPUs of each other steered process.
    """
    held = Counter(cpu for cpus in others for cpu in cpus)
    ranked = sorted(allowed, key=lambda cpu: (held[cpu], cpu not in own, cpu))
    return frozenset(ranked[:number])


class CpuShares:
    """CPUs of all processes that one collector steers by affinity."""

    def __init__(self) -> None:
        self._held: dict[int, frozenset[int]] = {}

    def allocate(self, pid: int, allowed: Collection[int], number: int) -> frozenset[int]:
        """Choose CPUs for a process, and record them."""
        others = [cpus for other, cpus in self._held.items() if other != pid]
        self._held[pid] = choose_cpus(allowed, number, self._held.get(pid, ()), others)
        return self._held[pid]

    def free(self, pid: int) -> None:
        """Forget the CPUs of a process that is no longer steered."""
        self._held.pop(pid, None)
