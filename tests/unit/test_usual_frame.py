"""Frames that compiled code makes of rows are those that Python makes of them."""

import platform
import time

import numpy as np
import numpy.typing as npt
import pytest
from builders import collector_health, frame_header
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tidscope_collector.compiled.library import USUAL, Compiled, load
from tidscope_collector.compiled.rows import SteadyRows, describe_rows
from tidscope_collector.compiled.structs import PLAN, Struct
from tidscope_collector.sampling.readings import wire_rows
from tidscope_collector.sampling.usual_tick import UsualTick
from tidscope_collector.threads.reading import Reading
from tidscope_wire.frame import FrameDecoder, RowEncoder, split
from tidscope_wire.header_writer import HeaderWriter

WIDTH = 7
FIELDS = tuple(f"field_{column}" for column in range(WIDTH))
ATTACH = 5_000_000_000
TARGET = "t-100-deadbeef"


class Rows:
    """A `SteadySource` of rows that a test gives; nothing samples them."""

    def __init__(self, reading: Reading) -> None:
        rows = describe_rows(reading)
        self._rows = SteadyRows(reading, rows, Struct(PLAN), rows, walks=False, completed=False)
        self.is_complete, self.at_once = True, 1

    def begin(self, samples: int = 1) -> SteadyRows:
        return self._rows

    def sampled(self, result: int, cpu_ns: int = 0) -> bool:
        return result == USUAL

    def complete(self) -> bool:
        return True


def compiled() -> Compiled:
    """The compiled code, whose sample does nothing: the rows are what the test has written."""
    found = load()
    if found is None:
        assert platform.machine() != "x86_64"
        pytest.skip("missing capability x86-64: the compiled code does not run here")
    return found._replace(tick=found.frame)


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    count = draw(st.integers(1, 70))
    # Most counters are 0, and stay 0 in all rows.
    value = st.one_of(st.just(0), st.integers(0, 2**64 - 1))
    counters = draw(arrays(np.uint64, (count, WIDTH), elements=value))
    counters[:, draw(st.lists(st.integers(0, WIDTH - 1), max_size=WIDTH))] = 0
    absent: npt.NDArray[np.bool_] | None = None
    if draw(st.booleans()):
        absent = draw(arrays(np.bool_, (count, WIDTH), elements=st.booleans()))
        absent[:, draw(st.lists(st.integers(0, WIDTH - 1), max_size=WIDTH))] = False
    if draw(st.booleans()):  # by columns, as walks have them, with room for more rows
        room = np.zeros((WIDTH, count + draw(st.integers(0, 3))), np.uint64)
        room[:, :count] = counters.T
        counters = room[:, :count].T
        absent = None if absent is None else np.ascontiguousarray(absent.T).T
    return Reading(
        np.arange(100, 100 + count, dtype=np.uint32),
        counters,
        absent,
        np.zeros(count, np.int64),
        np.zeros(count, "S16"),
        seen_ns=np.zeros(count, np.int64),
        changed=draw(arrays(np.bool_, count, elements=st.booleans())),
    )


def armed(reading: Reading) -> UsualTick:
    header = frame_header(target=TARGET)
    tick = UsualTick(compiled(), Rows(reading), WIDTH, 0, ATTACH, None)
    prepared = HeaderWriter(TARGET).prepare(
        columns=WIDTH,
        live_threads=3,
        threads_born=4,
        process=header.process,
        machine=header.machine,
        health=collector_health(),
        exited=header.exited,
        counters_from="walk",
    )
    tick.arm(prepared, 10**18, 0, None)
    return tick


@settings(deadline=None)
@given(readings(), st.integers(1, 2**63), st.integers(0, 10**12))
def test_a_frame_is_the_one_of_the_encoder(reading: Reading, seq: int, late_us: int) -> None:
    assert reading.changed is not None
    rows = wire_rows(reading, reading.changed.copy(), FIELDS)
    expected = RowEncoder(FIELDS).encode(rows)
    changed = reading.tid[reading.changed].tolist()
    made = armed(reading).take(seq, ATTACH + 7, late_us, lambda: False, waits=False)
    assert made is not None
    header, body = split(made.data)
    assert bytes(body) == bytes(expected.data)
    assert header.columns == expected.columns
    assert (header.seq, header.first_seq, header.kind) == (seq, seq, "delta")
    assert (header.rows, header.time_ns) == (len(changed), 7)
    assert (header.health.sample_us, header.health.late_us) == (made.sample_us, late_us)
    assert (header.live_threads, header.threads_born) == (3, 4)
    assert (header.fields, header.roles, header.events, header.tables) == (None, None, [], None)
    assert (header.counters_from, header.process.cpu_ns) == ("walk", None)
    assert FrameDecoder(FIELDS).decode(made.data)[1].tid.tolist() == changed
    # Whoever takes the rows in sets the marks to false.
    assert not reading.changed.any()


def test_the_wall_clock_is_that_of_the_start() -> None:

    reading = Reading(
        np.array([1], np.uint32),
        np.zeros((1, WIDTH), np.uint64),
        None,
        np.zeros(1, np.int64),
        np.zeros(1, "S16"),
        seen_ns=np.zeros(1, np.int64),
        changed=np.zeros(1, np.bool_),
    )
    tick = armed(reading)
    started_ns, unix_us = time.monotonic_ns(), time.time_ns() // 1000
    made = tick.take(1, started_ns, 0, lambda: False, waits=False)
    assert made is not None
    header, _ = split(made.data)
    assert abs(header.unix_us - unix_us) < 1_000_000
    assert made.sample_us < 1_000_000
