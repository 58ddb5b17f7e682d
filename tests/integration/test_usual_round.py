"""Rounds of usual ticks: frames go out whole, in order, and once; Python is waited for by none."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from backend_builders import target
from builders import collector_health, frame_header
from capabilities import needs
from programs.obedient_threads import ObedientThreads
from tidscope_collector.compiled.library import load
from tidscope_collector.compiled.link import Link
from tidscope_collector.compiled.rows import SteadySource
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.usual_round import Collect, RoundTimes, Tick
from tidscope_collector.sampling.usual_tick import UsualTick
from tidscope_collector.targets.sources import Sources
from tidscope_collector.threads.reading import ProcessReader
from tidscope_wire.frame import FrameDecoder, split
from tidscope_wire.generated.models import Target
from tidscope_wire.header_writer import HeaderWriter
from websockets.frames import Frame, Opcode
from websockets.streams import StreamReader

pytestmark = [needs("root"), needs("btf")]
PERIOD_NS = 2_000_000
FOREVER_NS = 2**62


class Wire:
    """Takes the frames of rounds at one end of a socket; a test reads the other."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.link = Link()
        self.made: list[tuple[SampledFrame, bool]] = []
        self.rest = b""
        self._collect: Collect
        self.reaches = True

    def begin(self, target: Target, seq: int, collect: Collect) -> Link:
        self._collect = collect
        with self.link as link:
            link.accept(self.ours.fileno()) if self.reaches else link.refuse()
        return self.link

    def end(self, message: memoryview) -> None:
        if rest := self.link.take_rest():
            self.rest = bytes(message[-rest:])
            self.link.release()
        self.made += self._collect()

    def received(self, size: int) -> bytes:
        """What has arrived."""
        data = b""
        while len(data) < size:
            data += self.theirs.recv(size - len(data))
        return data

    def close(self) -> None:
        self.ours.close()
        self.theirs.close()


class Round(NamedTuple):
    """A program whose usual ticks are taken in rounds."""

    tick: UsualTick
    reader: ProcessReader
    wire: Wire
    wake: int

    def take(self, ticks: int, *, seq: int = 0) -> list[Tick]:
        """Take so many ticks, one after the other."""
        now = time.monotonic_ns()
        until_ns = now + ticks * PERIOD_NS
        when = RoundTimes(now, PERIOD_NS, until_ns, FOREVER_NS)
        return self.tick.take_round(self.wire, target(), seq, when, self.wake)


@pytest.fixture
def program() -> Iterator[ObedientThreads]:
    with ObedientThreads() as started:
        started.order("born one")
        yield started


@pytest.fixture
def taken(program: ObedientThreads) -> Iterator[Round]:
    sources, compiled = Sources(ProcFs()), load()
    assert compiled is not None
    reader = sources.process_reader(program.pid)
    assert isinstance(reader, SteadySource)
    pidfd = os.pidfd_open(program.pid)
    tick = UsualTick(compiled, reader, len(reader.fields), pidfd, 0, None)
    reader.read()
    header = frame_header()
    prepared = HeaderWriter(target().id).prepare(
        columns=len(reader.fields),
        live_threads=3,
        threads_born=4,
        process=header.process,
        machine=header.machine,
        health=collector_health(),
        exited=header.exited,
        counters_from="walk",
    )
    tick.arm(prepared, FOREVER_NS, 0, None)
    wake = os.eventfd(0, os.EFD_NONBLOCK)
    wire = Wire()
    yield Round(tick, reader, wire, wake)
    wire.close()
    os.close(wake)
    os.close(pidfd)
    reader.close()
    sources.close()


def message_of(data: bytes) -> bytes:
    """The payload of a client's message, as `websockets` reads it."""
    stream = StreamReader()
    stream.feed_data(data)
    parser = Frame.parse(stream.read_exact, mask=True)
    try:
        next(parser)
    except StopIteration as end:
        assert end.value.opcode is Opcode.BINARY
        assert not stream.buffer
        return bytes(end.value.data)
    raise AssertionError("the message is not complete")


def size_of(frame: SampledFrame) -> int:
    """Bytes of its message."""
    return len(frame.data) + 6 + 2 * (len(frame.data) >= 126)


def test_frames_arrive_whole_and_in_order(program: ObedientThreads, taken: Round) -> None:
    decoder, seq = FrameDecoder(taken.reader.fields), 0
    made: list[Tick] = []
    # A machine that is busy misses deadlines: then there are fewer in a round.
    while len(made) < 10:
        program.order("work one 100")
        made += taken.take(5, seq=seq)
        seq = len(made)
    frames = taken.wire.made
    assert [frame.seq for frame, _ in frames] == list(range(1, len(made) + 1))
    assert [len(frame.data) for frame, _ in frames] == [one.size for one in made]
    assert all(sent for _, sent in frames)
    rows = 0
    for (frame, _), one in zip(frames, made, strict=True):
        assert message_of(taken.wire.received(size_of(frame))) == frame.data
        header, _ = split(frame.data)
        assert (header.seq, header.time_ns) == (frame.seq, one.started_ns)
        rows += len(decoder.decode(frame.data)[1].tid)
    assert rows >= 2
    starts = [one.started_ns for one in made]
    assert starts == sorted(set(starts))


def test_a_round_ends_when_python_is_wanted(taken: Round) -> None:
    os.eventfd_write(taken.wake, 1)
    assert taken.take(10**9) == []
    os.eventfd_read(taken.wake)
    threading.Timer(0.05, os.eventfd_write, (taken.wake, 1)).start()
    when = RoundTimes(FOREVER_NS - 1, PERIOD_NS, FOREVER_NS, FOREVER_NS)
    assert taken.tick.take_round(taken.wire, target(), 0, when, taken.wake) == []
    os.eventfd_read(taken.wake)


def test_a_frame_that_does_not_go_out_is_the_last_of_its_round(taken: Round) -> None:
    taken.wire.reaches = False
    made: list[Tick] = []
    while not made:
        made = taken.take(10**9)
    assert len(made) == 1
    ((frame, sent),) = taken.wire.made
    assert (frame.seq, sent) == (1, False)


def test_the_rest_of_a_message_is_handed_over(taken: Round) -> None:
    taken.wire.ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    while not taken.wire.rest and all(sent for _, sent in taken.wire.made):
        taken.take(1000, seq=len(taken.wire.made))
    frames = [frame for frame, sent in taken.wire.made if sent]
    for frame in frames[:-1]:
        assert message_of(taken.wire.received(size_of(frame))) == frame.data
    last = taken.wire.received(size_of(frames[-1]) - len(taken.wire.rest))
    assert message_of(last + taken.wire.rest) == frames[-1].data


def test_a_birth_that_does_not_wait_ends_the_round(program: ObedientThreads, taken: Round) -> None:
    program.order("born two")
    # However late the tick is, it is taken.
    when = RoundTimes(time.monotonic_ns(), 10**12, FOREVER_NS, 0)
    taken.tick.take_round(taken.wire, target(), 0, when, taken.wake)
    assert taken.tick.has_news


def test_one_at_a_time_holds_a_link() -> None:
    link, inside, most = Link(), [0], [0]

    def hold() -> None:
        for _ in range(2000):
            with link:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=hold) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert inside == [0]
