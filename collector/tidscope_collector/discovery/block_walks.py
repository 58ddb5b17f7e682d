"""Walks that fill a mapped block with the counters of threads, one block after the other."""

import os
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf.libbpf import IteratorLink, RunnableProgram

FROM = np.dtype([("tid", "u4"), ("after", "u4")])
"""struct from of bpf/task_iterator.bpf.c."""


class BlockWalk(Protocol):
    """Walks the threads of one process.

    Attributes:
        link: descriptor of an iterator's link, each file of which is a walk; -1: there is none.
        program: descriptor of the program that walks when it is run; -1: there is none.
    """

    @property
    def link(self) -> int: ...

    @property
    def program(self) -> int: ...

    def blocks(self, block: npt.NDArray[np.void]) -> Iterator[None]:
        """Fill the block until all threads were in it; each time it is to be read before going on.

        Args:
            block: structured array of one BLOCK.

        Raises:
            OSError: the kernel refused.
        """

    def close(self) -> None:
        """Let go of the process; twice does no harm."""


class IteratorWalk:
    """A `BlockWalk` by a file that an iterator makes."""

    program = -1

    def __init__(self, link: IteratorLink) -> None:
        self._link = link

    @property
    def link(self) -> int:
        return self._link.descriptor

    def blocks(self, block: npt.NDArray[np.void]) -> Iterator[None]:
        """See `BlockWalk.blocks`."""
        used = block["used"]
        descriptor = self._link.open()
        try:
            more = b"x"
            while more:
                used[0] = 0
                # A byte comes when the block is full, none when there are no more threads.
                more = os.read(descriptor, 1)
                yield
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """See `BlockWalk.close`."""
        self._link.close()


class DirectWalk:
    """A `BlockWalk` by running a program that goes from thread to thread itself."""

    link = -1

    def __init__(self, program: RunnableProgram, pid: int) -> None:
        self._program = program
        self._pid = pid

    @property
    def program(self) -> int:
        return self._program.descriptor

    def blocks(self, block: npt.NDArray[np.void]) -> Iterator[None]:
        """See `BlockWalk.blocks`."""
        used, tids = block["used"], block["tid"]
        rows = tids.shape[1]
        start = np.array([(self._pid, 0)], FROM)
        while True:
            self._program.run(start)
            yield
            if used[0] < rows:
                return
            start[0] = (tids[0, rows - 1], 1)

    def close(self) -> None:
        """See `BlockWalk.close`: nothing is held."""
