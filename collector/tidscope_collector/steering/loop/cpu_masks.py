"""CPU affinity of all threads of a process: read, set, restored (sched_setaffinity(2)).

Linux has it for each thread, and a new thread inherits that of the one that made it. So it is set
for every thread, again and again, until a whole pass finds none that lacks it: then no thread is
left that could hand down another one.
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
_STAT_BYTES = 4096

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


def read_masks(procfs: ProcFs, pid: int, start_ticks: int) -> list[ThreadMask]:
    """The masks of all threads that a process has.

    Raises:
        ProcessLookupError: the process is gone; another one may have its id.
        PermissionError: it belongs to somebody else.
    """
    with _opened_tasks(procfs, pid, start_ticks) as tasks:
        return _read_masks(tasks, pid)


def common_mask(masks: list[ThreadMask]) -> Cpus:
    """The mask that most threads have; of those that are as frequent, the widest one."""
    counted = Counter(mask.cpus for mask in masks)
    return max(counted, key=lambda cpus: (counted[cpus], len(cpus), sorted(cpus)))


def set_masks(
    procfs: ProcFs, pid: int, start_ticks: int, wanted: Callable[[ThreadMask], Cpus | None]
) -> int:
    """Give every thread the mask that it should have.

    A thread is seen to be the one that was meant right before its mask is set: the call takes an
    id, and there is none that takes a descriptor.

    Args:
        procfs: where the threads are listed.
        pid: of the process.
        start_ticks: its start.
        wanted: from a thread and its present mask to the one it gets; None leaves it as it is.

    Returns:
        How many were set, those that appeared meanwhile included.

    Raises:
        ProcessLookupError: the process is gone; another one may have its id.
        PermissionError: it belongs to somebody else.
        OSError: EINVAL, when none of the CPUs is there for it (its cpuset lacks them).
        UnsettledError: it made threads faster than they could be set, or has too many.
    """
    total = 0
    deadline = time.monotonic() + MAX_S
    with _opened_tasks(procfs, pid, start_ticks) as tasks:
        for _ in range(MAX_PASSES):
            changed = 0
            for mask in _read_masks(tasks, pid):
                if time.monotonic() > deadline:
                    raise UnsettledError(f"process {pid} has more threads than can be set in time")
                cpus = wanted(mask)
                if cpus is None or cpus == mask.cpus:
                    continue
                try:
                    if _start_of(tasks, mask.tid) != mask.start_ticks:
                        continue
                    os.sched_setaffinity(mask.tid, cpus)
                except (ProcessLookupError, FileNotFoundError):
                    continue  # It has ended; what it made before is in the next pass.
                changed += 1
            if not changed:
                return total
            total += changed
    raise UnsettledError(f"process {pid} creates threads faster than their affinity can be set")


@contextmanager
def _opened_tasks(procfs: ProcFs, pid: int, start_ticks: int) -> Iterator[int]:
    """A descriptor of /proc/PID/task: whatever gets the id later, nothing else is found in it."""
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
    """Start of a thread of the process whose task folder this is."""
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

    Those that the fewest other processes hold come first, among them those that it has already, and
    then the lowest numbers.

    Args:
        allowed: to choose from.
        number: how many; at most as many as are allowed.
        own: those that it has now.
        others: those that each of the other steered processes has.
    """
    held = Counter(cpu for cpus in others for cpu in cpus)
    ranked = sorted(allowed, key=lambda cpu: (held[cpu], cpu not in own, cpu))
    return frozenset(ranked[:number])


class CpuShares:
    """The CPUs of all processes that one collector steers by affinity."""

    def __init__(self) -> None:
        self._held: dict[int, frozenset[int]] = {}

    def allocate(self, pid: int, allowed: Collection[int], number: int) -> frozenset[int]:
        """Choose CPUs for a process, and note that it has them."""
        others = [cpus for other, cpus in self._held.items() if other != pid]
        self._held[pid] = choose_cpus(allowed, number, self._held.get(pid, ()), others)
        return self._held[pid]

    def free(self, pid: int) -> None:
        """The process is not steered any more."""
        self._held.pop(pid, None)
