"""More than a frame holds: exits are divided among frames of one instant, none too large."""

import queue
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from fake_proc import FakeProc, stat_line
from receiver import Receiver
from scripted_reader import ATTACH, PID, START, Script, meant, process_reader, quiet_health
from tidscope_collector.sampling import engine as engine_module
from tidscope_collector.sampling import frame_bounds
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.frame_bounds import FRAME_EXITS, most_threads
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.taskstats.exits import ExitListener, Exits
from tidscope_collector.threads.reading import Reading
from tidscope_wire.frame import LENGTH, split
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.limits import MAX_FRAME_BYTES, MAX_HEADER_BYTES
from tidscope_wire.generated.models import FrameHeader, SampleFailed, Target, TargetExited

FIELDS = tuple(
    field.name for field in CATALOGUE.fields if field.scope == "thread" and field.group != "state"
)
THREADS = 100_000
FIRST_TID = 1 << 20


def reading_of(tids: npt.NDArray[np.uint32], start_ns: int) -> Reading:
    """Threads with every field there is, and long numbers in all of them."""
    return Reading(
        tids,
        np.full((len(tids), len(FIELDS)), 10**15, np.uint64),
        None,
        np.full(len(tids), start_ns, np.int64),
        np.full(len(tids), b"0123456789abcde", "S16"),
        np.full(len(tids), 5, np.uint64),
    )


class Many(Script):
    """A reader of all fields; the exit records are thread ids."""

    fields = FIELDS

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        return reading_of(np.array(list(self.cpu), np.uint32), ATTACH - 5)

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        return reading_of(words[:, 0].astype(np.uint32), time.monotonic_ns())


class Storm(ExitListener):
    """A listener that hears of so many exits, one drain after the other.

    Attributes:
        drains: how many each of the next drains brings.
    """

    filters = False

    def __init__(self) -> None:
        self.received = self.lost = 0
        self.drains: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._next = FIRST_TID

    def drain(self) -> Exits:
        count = 0 if self.drains.empty() else self.drains.get()
        words = np.zeros((count, 1), np.uint64)
        words[:, 0] = np.arange(self._next, self._next + count)
        self._next += count
        self.received += count
        return Exits(
            words,
            np.zeros(count, np.uint16),
            np.zeros(count, np.uint32),
            frozenset(),
            time.monotonic_ns(),
            0,
        )

    def own_member(self, exits: Exits, name: str) -> npt.NDArray[np.uint32]:
        return np.zeros(len(exits.words), np.uint32)

    def keep_only(self, processes: Collection[int] | None) -> None:
        """All that it hears of are wanted."""

    def close(self) -> None:
        """Nothing is open."""


class Sampled:
    """An engine and its frames in order, each checked for its size and by a receiver."""

    def __init__(self, folder: Path, listener: Storm) -> None:
        self.stalled = False
        self.proc = FakeProc(folder)
        self.proc.process(PID, stat_line(PID, start=START))
        self.frames: queue.SimpleQueue[tuple[str, SampledFrame]] = queue.SimpleQueue()
        self.receivers: dict[str, Receiver] = {}
        self.engine = Engine(self._take, lambda: listener, stalled=lambda: self.stalled)
        self.engine.start()

    def _take(self, target: Target, frame: SampledFrame) -> None:
        self.frames.put((target.id, frame))

    def next(self) -> tuple[str, FrameHeader]:
        """The next frame, whose it is, checked."""
        target, frame = self.frames.get(timeout=120)
        check_size(frame)
        return target[-1], self.receivers[target].frame(frame.data)[0]

    def add(self, name: str, script: Script, rate_hz: float) -> None:
        """Sample a target of this name, which is one letter of its id."""
        target = meant(rate_hz=rate_hz).model_copy(update={"id": f"t-{PID}-{name * 8}"})
        self.receivers[target.id] = Receiver()
        procfs = self.proc.procfs
        reader = process_reader(script, procfs)
        sampler = TargetSampler(target, reader, None, time.monotonic_ns(), procfs)
        self.engine.submit(lambda: self.engine.add(sampler)).result(120)

    def waiting(self) -> Iterator[tuple[str, FrameHeader]]:
        """Frames that have come."""
        while not self.frames.empty():
            yield self.next()

    def until(self, name: str, exited: int) -> Iterator[tuple[str, FrameHeader]]:
        """Frames up to the first with rows that counts so many exited threads of a target."""
        while True:
            whose, header = self.next()
            yield whose, header
            if whose == name and header.exited.threads >= exited and header.roles is not None:
                return


def check_size(frame: SampledFrame) -> None:
    (header_bytes,) = LENGTH.unpack_from(frame.data)
    assert len(frame.data) <= MAX_FRAME_BYTES
    assert header_bytes <= MAX_HEADER_BYTES


def exits_in(header: FrameHeader) -> int:
    return sum(event.type == "thread_exited" for event in header.events)


def test_a_hundred_thousand_exits_of_one_sample_are_divided(tmp_path: Path) -> None:
    """All arrive, in frames of one instant; another target is sampled meanwhile."""
    storm = Storm()
    sampled = Sampled(tmp_path, storm)
    try:
        sampled.add("b", Script(t8=1), 100)
        sampled.add("a", Many(t7=1), 10)
        list(sampled.until("a", 0))
        storm.drains.put(THREADS)
        frames = list(sampled.until("a", THREADS))
    finally:
        sampled.engine.stop()
    own = [header for whose, header in frames if whose == "a"]
    with_exits = [header for header in own if exits_in(header)]
    assert len(with_exits) == THREADS // FRAME_EXITS
    assert len({header.time_ns for header in with_exits}) == 1
    assert sum(map(exits_in, own)) == THREADS
    assert own[-1].exited.threads == THREADS
    assert own[-1].health.exits_without_event == 0
    first = frames.index(("a", with_exits[0]))
    last = frames.index(("a", with_exits[-1]))
    assert any(whose == "b" for whose, _ in frames[first:last])


def test_exits_beyond_what_is_kept_are_in_the_totals_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "HELD_EXITS", 5_000)
    storm = Storm()
    sampled = Sampled(tmp_path, storm)
    try:
        sampled.add("a", Many(t7=1), 1)
        for _ in range(3):
            storm.drains.put(4_000)
        frames = [header for _, header in sampled.until("a", 12_000)]
    finally:
        sampled.engine.stop()
    events = sum(map(exits_in, frames))
    last = frames[-1]
    assert last.exited.threads == 12_000
    assert last.exited.totals["cpu_run_ns"] == 12_000 * 10**15
    assert 0 < last.health.exits_without_event == 12_000 - events


def test_while_a_backend_takes_nothing_exits_wait_and_then_all_of_them_arrive(
    tmp_path: Path,
) -> None:
    storm = Storm()
    sampled = Sampled(tmp_path, storm)
    try:
        sampled.add("a", Many(t7=1), 100)
        list(sampled.until("a", 0))
        sampled.stalled = True
        sampled.engine.submit(lambda: None).result(120)
        for _ in range(4):
            storm.drains.put(1_000)
        while not storm.drains.empty():
            time.sleep(0.01)
        # A command is carried out between two steps: what was under way is done.
        sampled.engine.submit(lambda: None).result(120)
        before = [header for _, header in sampled.waiting()]
        assert all(header.exited.threads == 0 for header in before)
        sampled.stalled = False
        frames = [header for _, header in sampled.until("a", 4_000)]
    finally:
        sampled.engine.stop()
    assert sum(map(exits_in, frames)) == 4_000
    assert any(event.type == "deadlines_missed" for one in frames for event in one.events)
    assert frames[-1].health.exits_without_event == 0


def test_what_was_taken_from_the_kernel_goes_out_with_a_last_sample(tmp_path: Path) -> None:
    storm = Storm()
    sampled = Sampled(tmp_path, storm)
    try:
        sampled.add("a", Many(t7=1), 1)
        list(sampled.until("a", 0))
        storm.drains.put(3_000)
        while not storm.drains.empty():
            time.sleep(0.01)
    finally:
        sampled.engine.stop()
    last = [header for _, header in sampled.waiting()][-1]
    assert last.exited.threads == 3_000


def sampler(folder: Path) -> TargetSampler:
    proc = FakeProc(folder)
    proc.process(PID, stat_line(PID, start=START))
    reader = process_reader(Many(), proc.procfs)
    return TargetSampler(meant(), reader, None, ATTACH, proc.procfs)


def sample(of: TargetSampler, tids: npt.NDArray[np.uint32], now: int) -> list[SampledFrame]:
    return of.frame(
        reading_of(tids, ATTACH - 5),
        now,
        None,
        lateness=(0, 0),
        lost=0,
        health=quiet_health(),
        started_ns=now,
    )


def test_threads_that_are_born_and_gone_at_once(tmp_path: Path) -> None:
    """One frame has all births and rows; ends without a record are divided."""
    of, threads = sampler(tmp_path), THREADS // 4
    (born,) = sample(of, np.arange(1, threads + 1, dtype=np.uint32), ATTACH + 1)
    # A frame has room for as many as a sample may have.
    assert most_threads(len(FIELDS)) >= THREADS
    assert len(born.data) / threads * most_threads(len(FIELDS)) <= MAX_FRAME_BYTES
    header, _ = split(born.data)
    assert (header.kind, header.rows, len(header.events)) == ("key", threads, threads)
    gone = of.final(None, exited=True, exit_code=0, lost=0, health=quiet_health())
    assert len(gone) == 5
    exits = 0
    for frame in gone:
        check_size(frame)
        header, _ = split(frame.data)
        exits += sum(event.type == "thread_exited" for event in header.events)
        # Each frame counts what it and those before it report.
        assert (header.exited.threads, header.live_threads) == (exits, threads - exits)
        assert header.exited.totals["cpu_run_ns"] == exits * 10**15
    assert exits == threads
    assert header.events[-1] == TargetExited(exit_code=0)


def test_a_first_frame_is_a_key_frame_whatever_has_exited_before_it(tmp_path: Path) -> None:
    storm = Storm()
    sampled = Sampled(tmp_path, storm)
    try:
        storm.drains.put(0)
        storm.drains.put(2 * FRAME_EXITS)
        sampled.add("a", Many(t7=1), 100)
        _, header = sampled.next()
    finally:
        sampled.engine.stop()
    assert header.kind == "key"
    assert header.exited.threads == 2 * FRAME_EXITS
    assert header.health.exits_without_event == FRAME_EXITS


def test_more_threads_than_a_key_frame_holds_are_a_failed_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_bounds, "KEY_ROWS_BYTES", 10_000)
    most = most_threads(len(FIELDS))
    sampled = Sampled(tmp_path, Storm())
    try:
        sampled.add("a", Many(**{f"t{tid}": 1 for tid in range(7, 8 + most)}), 100)
        _, header = sampled.next()
    finally:
        sampled.engine.stop()
    failure = SampleFailed(reason=f"OSError: {most + 1} threads; a frame holds {most}")
    assert header.events == [failure]
    assert header.rows == 0
