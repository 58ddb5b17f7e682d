"""The memory that the program read_counters writes, as arrays. Pure.

struct block of ../discovery/bpf/task_iterator.bpf.c stands here once more; a test compares them.
"""

import numpy as np

ROWS = 4096
"""Threads that a block holds; of a larger process one block after the other is filled."""
FIELDS = (
    *("cpu_run_ns", "cpu_delay_ns", "cpu_count", "user_cpu_us", "system_cpu_us"),
    *("voluntary_switches", "involuntary_switches", "minor_faults", "major_faults"),
    *("read_char_bytes", "write_char_bytes", "read_syscalls", "write_syscalls"),
    *("disk_read_bytes", "disk_write_bytes", "disk_cancelled_bytes"),
    *("blkio_delay_ns", "blkio_count", "swapin_delay_ns", "swapin_count"),
    *("reclaim_delay_ns", "reclaim_count", "thrashing_delay_ns", "thrashing_count"),
    *("compact_delay_ns", "compact_count", "wpcopy_delay_ns", "wpcopy_count"),
    *("irq_delay_ns", "irq_count"),
)
"""Of the field catalogue, in the order of a block's columns."""
RUNNABLE = 1
DELAYS = 2
"""Bits of `state`: on a CPU or waiting for one; the thread has a record of delays."""

_SPARE_ROWS = 8
BLOCK = np.dtype(
    [
        *(("used", "u4"), ("threads", "u4"), ("given", "u8"), ("spare", "u8", (6,))),
        *(("tid", "u4", (ROWS,)), ("state", "u4", (ROWS,)), ("start_ns", "i8", (ROWS,))),
        *(("comm", "u8", (ROWS, 2)), ("counters", "u8", (len(FIELDS), ROWS + _SPARE_ROWS))),
    ]
)


def given_fields(mask: int) -> tuple[str, ...]:
    """The fields that this kernel has.

    Args:
        mask: member `given` of a block.
    """
    return tuple(name for column, name in enumerate(FIELDS) if mask >> column & 1)


class Columns:
    """Threads of one walk by columns, with room for more threads and for more columns.

    Args:
        width: columns of counters.
        room: threads.

    Attributes:
        room: threads that fit.
        tid: uint32[room].
        state: uint32[room], bits RUNNABLE and DELAYS.
        start_ns: int64[room], CLOCK_MONOTONIC.
        comm: uint64[room, 2], the bytes of each name: compared as words, which strings are not.
        counters: uint64[width, room].
    """

    def __init__(self, width: int, room: int) -> None:
        self.room = room
        self.tid = np.empty(room, np.uint32)
        self.state = np.empty(room, np.uint32)
        self.start_ns = np.empty(room, np.int64)
        self.comm = np.empty((room, 2), np.uint64)
        self.counters = np.empty((width, room), np.uint64)

    def grown(self, room: int) -> "Columns":
        """The same with more room."""
        more = Columns(len(self.counters), room)
        more.tid[: self.room], more.state[: self.room] = self.tid, self.state
        more.start_ns[: self.room], more.comm[: self.room] = self.start_ns, self.comm
        more.counters[:, : self.room] = self.counters
        return more

    def same_threads(self, count: int, other: "Columns") -> bool:
        """Whether the first threads are those of other columns, in the same rows, named the same.

        Args:
            count: of threads.
            other: with room for as many.
        """
        return (
            np.array_equal(self.tid[:count], other.tid[:count])
            and np.array_equal(self.start_ns[:count], other.start_ns[:count])
            and np.array_equal(self.comm[:count], other.comm[:count])
        )
