"""The memory that the program read_counters writes, as arrays. Pure.

struct block of ../discovery/bpf/task_iterator.bpf.c stands here once more; a test compares them.
"""

import numpy as np
import numpy.typing as npt

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
        *(("tid", "u4", (ROWS,)), ("state", "u4", (ROWS,)), ("start_ns", "u8", (ROWS,))),
        *(("comm", "S16", (ROWS,)), ("counters", "u8", (len(FIELDS), ROWS + _SPARE_ROWS))),
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
        name: S16[room].
        counters: uint64[width, room].
    """

    def __init__(self, width: int, room: int) -> None:
        self.room = room
        self.tid = np.empty(room, np.uint32)
        self.state = np.empty(room, np.uint32)
        self.start_ns = np.empty(room, np.int64)
        self.name = np.empty(room, "S16")
        self.counters = np.empty((width, room), np.uint64)

    def grown(self, room: int) -> "Columns":
        """The same with more room."""
        more = Columns(len(self.counters), room)
        more.put(0, self.room, self.tid, self.state, self.start_ns, self.name, self.counters)
        return more

    def put(
        self,
        at: int,
        count: int,
        tid: npt.NDArray[np.uint32],
        state: npt.NDArray[np.uint32],
        start_ns: npt.NDArray[np.int64],
        name: npt.NDArray[np.bytes_],
        counters: npt.NDArray[np.uint64],
    ) -> None:
        """Copy threads in from a place on; `counters` may have fewer columns than there are."""
        end = at + count
        self.tid[at:end] = tid[:count]
        self.state[at:end] = state[:count]
        self.start_ns[at:end] = start_ns[:count]
        self.name[at:end] = name[:count]
        self.counters[: len(counters), at:end] = counters[:, :count]
