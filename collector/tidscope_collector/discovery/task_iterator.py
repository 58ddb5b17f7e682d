"""The eBPF task iterators, and the one that lists threads and tells which have not run since.

A third of the price of listing /proc/PID/task; and threads that have not run need not be asked for
their counters, which is what sampling costs most.
"""

import errno
import os
from pathlib import Path

import numpy as np

from tidscope_collector.discovery.block_walks import BlockWalk, DirectWalk, IteratorWalk
from tidscope_collector.discovery.marks import RECORD, Records, idle
from tidscope_collector.discovery.threads import Threads
from tidscope_collector.ebpf.libbpf import BpfError, Program, RunnableProgram
from tidscope_collector.threads.reading import TargetExitedError

OBJECT = Path(__file__).parent / "bpf" / "task_iterator.bpf.o"
_LIST = "list_threads"
_READ = "read_counters"
_WALK = "walk_threads"
_MEMBERS = "walk_members"
_BLOCKS, _VISITS = "blocks", "visits"
_FIRST_BYTES = 1 << 16


class TaskIterators:
    """The loaded programs, from which each target has iterators of its own.

    Args:
        image: the object file's content; None: of the one that is installed.

    Attributes:
        no_walk: why there is no program that reads counters; empty if there is.
        walks_directly: whether that program goes from thread to thread itself (Linux 6.7 and
            newer); else an iterator calls it for each.
        walks_members: whether there is one that walks many processes in one call.

    Raises:
        BpfError: the one that lists threads cannot be loaded.
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
        """Make an iterator over the threads of a process.

        Args:
            pid: in the initial PID namespace.

        Raises:
            BpfError: the kernel refused.
        """
        return TaskIterator(self._program, pid)

    def walk(self, pid: int) -> BlockWalk:
        """Make what writes the counters of a process' threads.

        Args:
            pid: in the initial PID namespace.

        Raises:
            BpfError: the kernel refused.
        """
        if self.walks_directly:
            return DirectWalk(self._program.runnable(_WALK), pid)
        return IteratorWalk(self._program.iterate(_READ, pid))

    @property
    def walk_program(self) -> int:
        """Descriptor of the program that goes from thread to thread itself; -1: there is none."""
        return self._program.runnable(_WALK).descriptor if self.walks_directly else -1

    def members_walk(self) -> RunnableProgram:
        """What writes the counters of many processes' threads.

        Raises:
            BpfError: there is none.
        """
        if not self.walks_members:
            raise BpfError("the kernel has no walks over many processes (Linux 6.7)", 0)
        return self._program.runnable(_MEMBERS)

    def visits(self) -> int:
        """The descriptor of the memory that says which processes are walked.

        Raises:
            BpfError: there is none.
        """
        return self._program.map(_VISITS)

    def blocks(self) -> int:
        """The descriptor of the memory that counters are written to.

        Raises:
            BpfError: there is none.
        """
        return self._program.map(_BLOCKS)

    def close(self) -> None:
        """Take the programs out of the kernel, once no iterator is left."""
        self._program.close()


class TaskIterator:
    """A `ThreadLister`.

    Attributes:
        records: structured array of RECORD, what the last look found.
    """

    def __init__(self, program: Program, pid: int) -> None:
        self._pid = pid
        self._link = program.iterate(_LIST, pid)
        self._buffer = bytearray(_FIRST_BYTES)
        self.records: Records = np.empty(0, RECORD)

    @property
    def descriptor(self) -> int:
        """Of the link: each walk is a file that is made from it."""
        return self._link.descriptor

    def list_threads(self) -> Threads:
        """List the threads.

        Raises:
            TargetExitedError: there are none any more.
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
                        continue  # the kernel rests after a million threads
                if not more:
                    return length
                length += more
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Let go of the process."""
        self._link.close()
