"""Births, executions and ends of members, as the eBPF program puts them into its ring.

struct event of bpf/groups.bpf.c stands here once more; a test compares them. How the ring is
mapped: Documentation/bpf/ringbuf.rst of the kernel.
"""

import mmap

import numpy as np
import numpy.typing as npt

BORN, EXECUTED, DONE, MOVED = 1, 2, 3, 4
"""Kinds of events."""

EVENT = np.dtype(
    [
        *((name, "u4") for name in ("kind", "pid", "other", "value")),
        ("groups", "u8"),
        *((name, "i8") for name in ("at_ns", "start_ns", "start_boot_ns")),
        ("run_ns", "u8"),
        ("comm", "S16"),
    ]
)
RING_BYTES = 4 << 20
_RECORD = np.dtype([("length", "u4"), ("page", "u4"), ("event", EVENT)])
_BUSY = np.uint32(1 << 31)

Events = npt.NDArray[np.void]
"""Structured array of EVENT, in the order of the ring."""


class EventRing:
    """The reader of a ring whose records all have one size.

    Args:
        descriptor: of the map.
        length: of the ring, bytes.
    """

    def __init__(self, descriptor: int, length: int = RING_BYTES) -> None:
        page = mmap.PAGESIZE
        self._taken = np.frombuffer(mmap.mmap(descriptor, page), np.uint64, 1)
        # What is written stands there twice in a row, so that no record is in two pieces.
        written = mmap.mmap(descriptor, page + 2 * length, prot=mmap.PROT_READ, offset=page)
        self._written = np.frombuffer(written, np.uint64, 1)
        self._data = memoryview(written)[page:]
        self._length = length

    def drain(self) -> Events:
        """Take all events that are there."""
        taken, written = int(self._taken[0]), int(self._written[0])
        count = (written - taken) // _RECORD.itemsize
        if not count:
            return np.empty(0, EVENT)
        records = np.frombuffer(self._data, _RECORD, count, offset=taken % self._length)
        busy = np.flatnonzero(records["length"] & _BUSY)
        if len(busy):
            count = int(busy[0])
        events: Events = records["event"][:count].copy()
        self._taken[0] = taken + count * _RECORD.itemsize
        return events
