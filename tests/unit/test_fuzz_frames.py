"""Thousands of frames, right and broken, the same in every run: see tests/fuzz/frames.py."""

import struct

import numpy as np
from fuzz.frames import GOLDEN, check_arrow, check_frame, check_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tidscope_wire.frame import RowEncoder, Rows, decode_delta, decode_key

FIXED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=800,
    suppress_health_check=list(HealthCheck),
)
FRAMES = tuple(GOLDEN.values())
PLACE = st.integers(0, 65535)
VALUE = st.one_of(st.sampled_from([0, 1, 4, 127, 128, 255]), st.integers(0, 255))
PATCHES = st.lists(
    st.builds(lambda at, value: struct.pack("=HB", at, value), PLACE, VALUE), max_size=5
)


@FIXED
@given(st.integers(0, 6), PATCHES)
def test_a_patched_arrow_stream_is_refused_or_holds_together(
    chosen: int, patches: list[bytes]
) -> None:
    check_arrow(bytes([chosen]) + b"".join(patches))


@FIXED
@given(st.sampled_from(FRAMES), st.lists(st.tuples(PLACE, VALUE), max_size=5))
def test_a_patched_frame_is_refused_or_holds_together(
    frame: bytes, patches: list[tuple[int, int]]
) -> None:
    made = bytearray(frame)
    for at, value in patches:
        made[at % len(made)] = value
    check_frame(bytes(made))


@FIXED
@given(st.binary(max_size=300))
def test_any_bytes_are_got_over(data: bytes) -> None:
    check_frame(data)
    check_rows(data)


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    """Any rows that the collector could send."""
    count = draw(st.integers(0, 12))
    fields = draw(st.lists(st.text(min_size=1, max_size=8), max_size=4, unique=True))
    fields = [field for field in fields if field not in ("tid", "pid", "start_ns", "name")]

    def column(low: int, high: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    absent = {
        field: np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)), np.bool_)
        for field in fields
        if draw(st.booleans())
    }
    names = draw(st.lists(st.text(max_size=15), min_size=count, max_size=count))
    key = draw(st.booleans())
    return Rows(
        np.array(column(0, 2**32 - 1), np.uint32),
        {
            field: np.array(column(0, draw(st.sampled_from([0, 2**64 - 1]))), np.uint64)
            for field in fields
        },
        absent,
        np.array(column(-(2**63), 2**63 - 1), np.int64) if key else None,
        names if key else None,
        np.array(column(0, 2**32 - 1), np.uint32) if key and draw(st.booleans()) else None,
    )


@settings(FIXED, max_examples=200)
@given(rows())
def test_any_rows_are_read_as_they_were_written(made: Rows) -> None:
    body, fields, columns = RowEncoder(list(made.columns)).encode(made)
    if made.name is None:
        found = decode_delta(body, tuple(made.columns), columns)
    else:
        found = decode_key(body, fields, columns)
    assert found.tid.tolist() == made.tid.tolist()
    assert found.name == made.name
    assert (found.start_ns is None) == (made.start_ns is None)
    if found.start_ns is not None and made.start_ns is not None:
        assert found.start_ns.tolist() == made.start_ns.tolist()
    assert (None if found.pid is None else found.pid.tolist()) == (
        None if made.pid is None else made.pid.tolist()
    )
    assert list(found.columns) == list(made.columns)
    for field, values in made.columns.items():
        gone = made.absent.get(field, np.zeros(len(values), np.bool_))
        assert found.absent.get(field, np.zeros(len(values), np.bool_)).tolist() == gone.tolist()
        assert found.columns[field][~gone].tolist() == values[~gone].tolist()
