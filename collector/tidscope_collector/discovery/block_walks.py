"""Bulk reads of thread counters into a mapped block, one block after the other."""

import os
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tidscope_collector.ebpf.libbpf import IteratorLink, RunnableProgram

FROM = np.dtype([("tid", "u4"), ("after", "u4")])
"""`struct from` of bpf/task_iterator.bpf.c."""


class BlockWalk(Protocol):
    """A bulk read of the counters of one process' threads.

    Attributes:
        link: descriptor of an iterator link, or -1 if there is none; each file opened from it is
            one read.
        program: descriptor of a program that reads when it is run, or -1 if there is none.
    """

    @property
    def link(self) -> int: ...

    @property
    def program(self) -> int: ...

    def blocks(self, block: npt.NDArray[np.void]) -> Iterator[None]:
        """Fill the block until all threads were in it. Read the block at each step before resuming.

        Args:
            block: structured array with one BLOCK.

        Raises:
            OSError: the kernel refused.
        """

    def close(self) -> None:
        """Release the process. Idempotent."""


class IteratorWalk:
    """A `BlockWalk` that reads a file opened from an iterator link."""

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
                # A read returns one byte when the block is full, and none after the last thread.
                more = os.read(descriptor, 1)
                yield
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """See `BlockWalk.close`."""
        self._link.close()


class DirectWalk:
    """A `BlockWalk` that runs a program which iterates over the threads itself."""

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
        """See `BlockWalk.close`; there is nothing to release."""
