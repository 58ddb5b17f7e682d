"""Mappings of processes: those of this one, and any text as a table of them."""

import ctypes
from itertools import pairwise
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from tidscope_collector.inspection.maps import Mapping, holding, object_start, parse_maps

TABLE = b"""\
400000-401000 r--p 00000000 fe:00 77                                     /bin/a b
401000-402000 rw-p 00001000 fe:00 77                                     /bin/a b
402000-404000 rw-p 00000000 00:00 0
600000-620000 rw-p 00000000 00:00 0                                      [heap]
7f0000000000-7f0000001000 r--p 00000000 fe:00 88                         /lib/x.so (deleted)
7f0000001000-7f0000002000 ---p 00000000 00:00 0
7f0000002000-7f0000003000 rw-p 00001000 fe:00 88                         /lib/x.so (deleted)
7f0000003000-7f0000004000 r--p 00000000 fe:00 88                         /lib/x.so (deleted)
7f0000004000-7f0000005000 rw-p 00001000 fe:00 88                         /lib/x.so (deleted)
"""


def start_of(mappings: list[Mapping], address: int) -> int | None:
    place = holding(mappings, address)
    assert place is not None
    first = object_start(mappings, place)
    return None if first is None else mappings[first].start


def test_the_columns_are_those_of_the_kernel() -> None:
    first = parse_maps(TABLE)[1]
    assert first == Mapping(0x401000, 0x402000, "rw-p", 0x1000, (0xFE, 0), 77, b"/bin/a b")
    assert not first.anonymous
    assert parse_maps(TABLE)[3].path == b"[heap]"


def test_variables_belong_to_the_file_that_is_mapped_before_them() -> None:
    mappings = parse_maps(TABLE)
    assert start_of(mappings, 0x401008) == 0x400000
    assert start_of(mappings, 0x403FFF) == 0x400000  # they begin as zero
    assert start_of(mappings, 0x600000) is None
    # Two copies of a library, the first with a gap.
    assert start_of(mappings, 0x7F0000002000) == 0x7F0000000000
    assert start_of(mappings, 0x7F0000004000) == 0x7F0000003000
    assert holding(mappings, 0x404000) is None
    assert holding(mappings, 0) is None


def test_this_process_has_its_heap_and_its_library() -> None:
    mappings = parse_maps(Path("/proc/self/maps").read_bytes())
    address = ctypes.cast(ctypes.CDLL(None).malloc, ctypes.c_void_p).value
    assert address is not None
    place = holding(mappings, address)
    assert place is not None
    assert b"libc" in mappings[place].path
    assert b"[heap]" in {one.path for one in mappings}


PIECES = st.one_of(
    st.sampled_from(TABLE.split(b"\n")),
    st.binary(max_size=60),
    st.builds(
        lambda a, b: b"%x-%x rw-p 00000000 00:00 0" % (a, b),
        st.integers(0, 1 << 64),
        st.integers(0, 1 << 64),
    ),
)


@given(st.lists(PIECES, max_size=12), st.integers(0, 1 << 64))
@example([b"2-3 rw-p 0 0:0 0", b"1-9 rw-p 0 0:0 0"], 2)
def test_any_text_gives_mappings_in_order(lines: list[bytes], address: int) -> None:
    mappings = parse_maps(b"\n".join(lines))
    for one, following in pairwise(mappings):
        assert one.start < one.end <= following.start
    place = holding(mappings, address)
    inside = [at for at, one in enumerate(mappings) if one.start <= address < one.end]
    assert inside == ([] if place is None else [place])
    for at in range(len(mappings)):
        first = object_start(mappings, at)
        assert first is None or (first <= at and not mappings[first].anonymous)
