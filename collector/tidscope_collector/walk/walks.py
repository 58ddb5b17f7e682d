"""Walking the threads of processes: one read of a file, and their counters are in memory."""

import mmap

import numpy as np
import numpy.typing as npt

from tidscope_collector.discovery.block_walks import BlockWalk
from tidscope_collector.discovery.task_iterator import TaskIterators
from tidscope_collector.threads.reading import TargetExitedError
from tidscope_collector.walk.block import BLOCK, FIELDS, ROWS, Columns, given_fields

_TRIES = 3


class Walks:
    """The memory that all walks write to, one at a time; belongs to the sampling thread.

    Args:
        iterators: the loaded programs.

    Raises:
        BpfError: the kernel does not have the one that reads counters.
    """

    def __init__(self, iterators: TaskIterators) -> None:
        self._iterators = iterators
        size = -(-BLOCK.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
        self._memory = mmap.mmap(iterators.blocks(), size)
        self.block = np.frombuffer(self._memory, BLOCK, 1)

    @property
    def program(self) -> int:
        """Descriptor of the program that fills the block when it is run; -1: there is none."""
        return self._iterators.walk_program

    def over(self, pid: int, width: int = len(FIELDS)) -> "Walk":
        """Make a walk of the threads of a process.

        Args:
            pid: in the initial PID namespace.
            width: how many of the block's columns are wanted, the first ones.

        Raises:
            BpfError: the kernel refused.
        """
        return Walk(self.block, self._iterators.walk(pid), pid, width)


class Walk:
    """Reads all threads of one process.

    Args:
        block: structured array of BLOCK with one row: the memory.
        threads: of the process.
        pid: for messages.
        width: how many columns of counters are copied out.

    """

    def __init__(
        self, block: npt.NDArray[np.void], threads: BlockWalk, pid: int, width: int
    ) -> None:
        self._walk = threads
        self._block = block
        self._pid = pid
        self._used, self._threads, self._given = block["used"], block["threads"], block["given"]
        self._tid, self._state = block["tid"][0], block["state"][0]
        self._start_ns, self._comm = block["start_ns"][0], block["comm"][0]
        self._counters = block["counters"][0, :width]

    @property
    def link(self) -> int:
        """See `BlockWalk`."""
        return self._walk.link

    @property
    def program(self) -> int:
        """See `BlockWalk`."""
        return self._walk.program

    def read(self, columns: Columns) -> tuple[Columns, int]:
        """Read the threads.

        An iterator goes on by the thread visited last, and ends the walk where that has exited; so
        does a walk in several blocks. Then it has visited fewer threads than there are, and is made
        again.

        Args:
            columns: to write them to; the first of its columns are those of a block.

        Returns:
            `columns`, or larger ones if there was not enough room; the number of threads.

        Raises:
            TargetExitedError: there are none any more.
            OSError: the kernel refused.
        """
        for _ in range(_TRIES):
            columns, count = self._read(columns)
            if count >= int(self._threads[0]):
                break
        if not count:
            raise TargetExitedError(f"process {self._pid} has ended")
        return columns, count

    def given_here(self) -> tuple[str, ...]:
        """The fields that this kernel has, in the order of columns.

        Raises:
            TargetExitedError: there are no threads any more.
            OSError: the kernel refused.
        """
        self.read(Columns(len(self._counters), ROWS))
        return given_fields(int(self._given[0]))

    def _read(self, columns: Columns) -> tuple[Columns, int]:
        count = 0
        for _ in self._walk.blocks(self._block):
            got = int(self._used[0])
            if count + got > columns.room:
                columns = columns.grown(max(2 * columns.room, count + got + ROWS))
            columns.tid[count : count + got] = self._tid[:got]
            columns.state[count : count + got] = self._state[:got]
            columns.start_ns[count : count + got] = self._start_ns[:got]
            columns.comm[count : count + got] = self._comm[:got]
            columns.counters[: len(self._counters), count : count + got] = self._counters[:, :got]
            count += got
        return columns, count

    def close(self) -> None:
        """Let go of the process; twice does no harm."""
        self._walk.close()
