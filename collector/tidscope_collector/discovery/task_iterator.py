"""Task iterators: eBPF programs that list threads and tell which have run since the last listing.

Listing costs a third of reading /proc/PID/task. Threads that have not run need no new counters, and
reading counters is the largest cost of sampling.

RECORD duplicates `struct record` of bpf/task_iterator.bpf.c; a test compares its values with /proc.
"""

import errno
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tidscope_collector.discovery.block_walks import BlockWalk, DirectWalk, IteratorWalk
from tidscope_collector.discovery.task_folder import Threads
from tidscope_collector.ebpf.libbpf import BTF_KIND_FUNC, BpfError, Program, RunnableProgram
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.threads.matching import rows_of_both
from tidscope_collector.threads.reading import TargetExitedError

RECORD = np.dtype(
    [
        *(("tid", "u4"), ("runnable", "u4"), ("start_ns", "u8")),
        *(("run_ns", "u8"), ("switches", "u8"), ("comm", "S16")),
    ]
)
_WORDS = RECORD.itemsize // 8

Records = npt.NDArray[np.void]
OBJECT = Path(__file__).parent / "bpf" / "task_iterator.bpf.o"
_LIST = "list_threads"
_READ = "read_counters"
_WALK = "walk_threads"
_MEMBERS = "walk_members"
_BLOCKS, _VISITS = "blocks", "visits"
_FIRST_BYTES = 1 << 16
TASK_WALKS = KernelFeature("bpf_iter_task", BTF_KIND_FUNC, "task iterators for one process", "6.1")


def idle(now: Records, before: Records) -> npt.NDArray[np.bool_]:
    """Return which threads have certainly not run between two readings.

    A thread's counters change only while it runs. A thread that ran and sleeps again has one more
    context switch. A runnable thread may be running, so its counters may change although its marks
    stay the same until the next tick.

    Args:
        now: structured array of RECORD, one row per thread.
        before: array of the previous reading.

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


class TaskIterators:
    """Loaded programs, from which iterators for each target are made.

    Args:
        image: content of the object file, or None for the installed one.

    Attributes:
        no_walk: why no program can read counters; empty if one can.
        walks_directly: True if the program iterates over threads itself (Linux 6.7 or newer);
            otherwise an iterator calls it per thread.
        walks_members: True if a program can read many processes in one call.

    Raises:
        BpfError: the program that lists threads cannot be loaded.
    """

    def __init__(self, image: bytes | None = None) -> None:
        image = image or OBJECT.read_bytes()
        self.no_walk = ""
        self.walks_directly = self.walks_members = False
        for left_out in ((), (_MEMBERS,), (_MEMBERS, _WALK)):
            try:
                self._program = Program(image, leave_out=left_out)
            except BpfError as error:
                self.no_walk = f"the kernel refused the eBPF program: {error}"
                continue
            self.no_walk = ""
            self.walks_directly = _WALK not in left_out
            self.walks_members = not left_out
            return
        self._program = Program(image, leave_out=(_MEMBERS, _WALK, _READ))

    def over(self, pid: int) -> "TaskIterator":
        """Return an iterator over the threads of a process.

        Args:
            pid: process ID in the initial PID namespace.

        Raises:
            BpfError: the kernel refused.
        """
        return TaskIterator(self._program, pid)

    def walk(self, pid: int) -> BlockWalk:
        """Return a bulk read of the counters of a process' threads.

        Args:
            pid: process ID in the initial PID namespace.

        Raises:
            BpfError: the kernel refused.
        """
        if self.walks_directly:
            return DirectWalk(self._program.runnable(_WALK), pid)
        return IteratorWalk(self._program.iterate(_READ, pid))

    @property
    def walk_program(self) -> int:
        """Descriptor of the program that iterates over threads itself, or -1 if there is none."""
        return self._program.runnable(_WALK).descriptor if self.walks_directly else -1

    def members_walk(self) -> RunnableProgram:
        """Return the program that reads the counters of many processes' threads.

        Raises:
            BpfError: the kernel does not support it.
        """
        if not self.walks_members:
            raise BpfError("the kernel has no walks over many processes (Linux 6.7)", 0)
        return self._program.runnable(_MEMBERS)

    def visits(self) -> int:
        """Return the descriptor of the map that names the processes to read.

        Raises:
            BpfError: the program is not loaded.
        """
        return self._program.map(_VISITS)

    def blocks(self) -> int:
        """Return the descriptor of the map that counters are written to.

        Raises:
            BpfError: the program is not loaded.
        """
        return self._program.map(_BLOCKS)

    def close(self) -> None:
        """Unload the programs. Close all iterators first."""
        self._program.close()


class TaskIterator:
    """A `ThreadLister` that reads the eBPF task iterator.

    Attributes:
        records: structured array of RECORD from the last listing.
    """

    def __init__(self, program: Program, pid: int) -> None:
        self._pid = pid
        self._link = program.iterate(_LIST, pid)
        self._buffer = bytearray(_FIRST_BYTES)
        self.records: Records = np.empty(0, RECORD)

    @property
    def descriptor(self) -> int:
        """Descriptor of the iterator link; each listing opens a file from it."""
        return self._link.descriptor

    def list_threads(self) -> Threads:
        """Return the current threads.

        Raises:
            TargetExitedError: the process has ended.
            OSError: the kernel refused.
        """
        length = self._read()
        records = np.frombuffer(self._buffer, RECORD, length // RECORD.itemsize).copy()
        if not len(records):
            raise TargetExitedError(f"process {self._pid} has ended")
        quiet = idle(records, self.records)
        self.records = records
        return Threads(records["tid"].copy(), quiet)

    def _read(self) -> int:
        descriptor = self._link.open()
        try:
            length = 0
            while True:
                if length == len(self._buffer):
                    self._buffer.extend(bytes(length))
                with memoryview(self._buffer) as view:
                    try:
                        more = os.readv(descriptor, [view[length:]])
                    except OSError as error:
                        if error.errno != errno.EAGAIN:
                            raise
                        continue  # the kernel pauses after a million threads
                if not more:
                    return length
                length += more
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Release the process."""
        self._link.close()


def load(procfs: ProcFs) -> TaskIterators | Obstacle:
    """Load the programs. Return the obstacle if that fails.

    Args:
        procfs: root of /proc.
    """
    return attempt(procfs, TASK_WALKS, TaskIterators)
