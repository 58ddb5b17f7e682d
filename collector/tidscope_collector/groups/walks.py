"""Walks over the threads of all processes of a group: one call of the kernel for thousands."""

import mmap

import numpy as np
import numpy.typing as npt

from tidscope_collector.discovery.task_iterator import TaskIterators
from tidscope_collector.walk.block import ROWS, Columns
from tidscope_collector.walk.walks import Walks

MEMBERS = 4096
STRETCH = np.dtype([(name, "u4") for name in ("first", "count", "tid", "pad")])
"""struct stretch of ../discovery/bpf/task_iterator.bpf.c."""
VISITS = np.dtype([("pid", "u4", MEMBERS), ("end", "u4", MEMBERS)])
"""struct visits there."""


class GroupWalks:
    """Reads the threads of many processes; belongs to the sampling thread.

    Args:
        iterators: the loaded programs.
        walks: the memory that all walks write to.

    Raises:
        BpfError: the kernel has no program that walks many processes.
    """

    def __init__(self, iterators: TaskIterators, walks: Walks) -> None:
        self._program = iterators.members_walk()
        size = -(-VISITS.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
        self._visits = np.frombuffer(mmap.mmap(iterators.visits(), size), VISITS, 1)
        self._block = walks.block

    def read(
        self, pids: npt.NDArray[np.uint32], columns: Columns
    ) -> tuple[Columns, int, npt.NDArray[np.uint32]]:
        """Read the threads; of processes that have ended there are none.

        Args:
            pids: uint32[m], ids of the processes; m is MEMBERS at most.
            columns: to write them to; the first of its columns are those of a block.

        Returns:
            `columns`, or larger ones if there was not enough room; the number n of threads;
            uint32[n], the process of each.

        Raises:
            BpfError: the kernel refused.
        """
        visits, block = self._visits, self._block
        visits["pid"][0, : len(pids)] = pids
        stretch = np.array([(0, len(pids), 0, 0)], STRETCH)
        count, owners = 0, [np.empty(0, np.uint32)]
        width = min(len(columns.counters), block["counters"].shape[1])
        while int(stretch["first"][0]) < len(pids):
            first = int(stretch["first"][0])
            self._program.run(stretch)
            got, then = int(block["used"][0]), int(stretch["first"][0])
            if count + got > columns.room:
                columns = columns.grown(max(2 * columns.room, count + got + ROWS))
            here = slice(count, count + got)
            columns.tid[here] = block["tid"][0, :got]
            columns.state[here] = block["state"][0, :got]
            columns.start_ns[here] = block["start_ns"][0, :got]
            columns.comm[here] = block["comm"][0, :got]
            columns.counters[:width, here] = block["counters"][0, :width, :got]
            last = then if then < len(pids) else len(pids) - 1
            ends = visits["end"][0, first : last + 1]
            rows = np.diff(ends, prepend=np.uint32(0))
            owners.append(np.repeat(pids[first : last + 1], rows))
            count += got
            if then < len(pids):
                # The block is full: the next run goes on behind its last thread.
                stretch["tid"] = block["tid"][0, ROWS - 1]
        return columns, count, np.concatenate(owners)
