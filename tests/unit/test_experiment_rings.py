"""Counts of io_uring from a made /proc, and from this one."""

import ctypes
import mmap
import os
import struct
from pathlib import Path

import pytest
from capabilities import missing
from tidscope_backend.experiments.program import LINK, Ring, parse_ring, read_rings, ring_counts

FDINFO = """pos:\t0
flags:\t02000002
SqMask:\t0xff
SqHead:\t{submitted}
SqTail:\t9
CachedSqHead:\t{submitted}
CqMask:\t0x1ff
CqHead:\t7
CqTail:\t7
CachedCqTail:\t{completed}
SQEs:\t0
"""


def made(proc: Path, rings: dict[str, tuple[int, int]]) -> None:
    for name in ("fd", "fdinfo"):
        (proc / "7" / name).mkdir(parents=True, exist_ok=True)
    for name, (submitted, completed) in rings.items():
        (proc / "7" / "fd" / name).symlink_to(LINK)
        text = FDINFO.format(submitted=submitted, completed=completed)
        (proc / "7" / "fdinfo" / name).write_text(text)


def test_rings_of_a_process(tmp_path: Path) -> None:
    made(tmp_path, {"5": (10, 8), "9": (4, 4)})
    (tmp_path / "7" / "fd" / "6").symlink_to("socket:[1]")
    (tmp_path / "7" / "fd" / "11").symlink_to(LINK)  # Closed in between: no counts.
    assert read_rings(7, tmp_path) == {"5": Ring(10, 8), "9": Ring(4, 4)}
    assert read_rings(8, tmp_path) == {}


def test_a_process_without_rings_has_no_figures() -> None:
    assert ring_counts({}, read_rings(os.getpid())) == {}


def test_what_is_counted_between_two_readings() -> None:
    before = {"5": Ring(2**32 - 10, 100)}
    after = {"5": Ring(30, 150), "9": Ring(8, 6)}
    # The ring 5 began at 0 again, and 9 is new.
    assert ring_counts(before, after) == {
        "rings": 2.0,
        "ring_submissions": 40 + 8,
        "ring_completions": 50 + 6,
    }


class NopRing:
    """A ring of this process (io_uring_setup(2)), for requests that do nothing."""

    ENTRIES, SQES = 8, 0x10000000

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        library.mmap.restype = ctypes.c_void_p
        self._call, self._map = library.syscall, library.mmap
        parameters = bytearray(120)
        self.fd = self._call(425, self.ENTRIES, (ctypes.c_char * 120).from_buffer(parameters))
        if self.fd < 0:
            raise missing("io_uring", os.strerror(ctypes.get_errno()))
        # struct io_sqring_offsets begins at 40: head, tail, mask, entries, flags, dropped, array.
        offsets = struct.unpack_from("7I", parameters, 40)
        self._tail, self._array = offsets[1], offsets[6]
        self._queue = self._mapped(self._array + 4 * self.ENTRIES, 0)
        self._entries = self._mapped(64 * self.ENTRIES, self.SQES)

    def _mapped(self, size: int, offset: int) -> "ctypes.Array[ctypes.c_char]":
        """Not mmap.mmap, which makes another descriptor of the ring."""
        flags = (mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED)
        place = self._map(None, ctypes.c_size_t(size), *flags, self.fd, ctypes.c_long(offset))
        return (ctypes.c_char * size).from_address(place)

    def submit(self, count: int) -> None:
        """Submit so many requests, and wait until they are complete."""
        (tail,) = struct.unpack_from("I", self._queue, self._tail)
        for at in range(tail, tail + count):
            # All zeros: IORING_OP_NOP.
            struct.pack_into("I", self._queue, self._array + 4 * (at % self.ENTRIES), 0)
        struct.pack_into("I", self._queue, self._tail, tail + count)
        assert self._call(426, self.fd, count, count, 1, None, 0) == count

    def close(self) -> None:
        os.close(self.fd)


def test_the_kernel_counts_as_is_expected() -> None:
    ring = NopRing()
    try:
        ring.submit(3)
        before = read_rings(os.getpid())
        assert before[str(ring.fd)] == Ring(3, 3)
        ring.submit(5)
        ring.submit(2)
        found = ring_counts(before, read_rings(os.getpid()))
        assert found == {"rings": 1.0, "ring_submissions": 7.0, "ring_completions": 7.0}
    finally:
        ring.close()


def test_an_fdinfo_without_counts_is_refused() -> None:
    with pytest.raises(KeyError):
        parse_ring("pos:\t0\n")
