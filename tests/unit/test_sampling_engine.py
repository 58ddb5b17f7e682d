"""The sampling thread: one target's trouble is not the others', and nothing is missed silently."""

import os
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from fake_proc import FakeProc, stat_line
from scripted_reader import PID, START, Script, meant, process_reader
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.engine import Engine, Flushed
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.taskstats.exits import ExitListener, Exits
from tidscope_collector.threads.reading import Reading
from tidscope_wire.frame import split
from tidscope_wire.frame_tables import Tables, dtype_of
from tidscope_wire.generated.models import (
    DeadlinesMissed,
    ExitRecordsLost,
    FrameHeader,
    SampleFailed,
    Target,
    TargetDetached,
    ThreadBorn,
)


class LosingListener(ExitListener):
    """A listener that hears nothing and loses what the test says."""

    filters = False

    def __init__(self) -> None:
        self.received = 0
        self.lost = 0
        self.losing: queue.SimpleQueue[int | OSError] = queue.SimpleQueue()
        self.closed = False
        self.wanted: list[frozenset[int] | None] = []

    def keep_only(self, processes: Collection[int] | None) -> None:
        self.wanted.append(None if processes is None else frozenset(processes))

    def drain(self) -> Exits:
        lost = 0
        if not self.losing.empty():
            next_loss = self.losing.get()
            if isinstance(next_loss, OSError):
                raise next_loss
            lost = next_loss
        self.lost += lost
        return Exits(
            words=np.empty((0, 70), np.uint64),
            cpu=np.empty(0, np.uint16),
            number=np.empty(0, np.uint32),
            ended=frozenset(),
            before_ns=time.monotonic_ns(),
            lost=lost,
        )

    def close(self) -> None:
        self.closed = True


class Broken(Script):
    """A reader that fails as no source should."""

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        raise ValueError("nonsense from the kernel")


class Slow(Script):
    """A reader that takes three periods of 10 ms."""

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        threading.Event().wait(0.03)
        return super().read(tids)


class Pieces:
    """Tables that take longer to read than a sample is after the one before."""

    locks_reason = ""

    def __init__(self) -> None:
        self.samples: Callable[[], int] = lambda: 0
        self.seen: list[set[int]] = []
        """Of each reading the numbers of the samples that came before its pieces."""

    def read(self) -> Iterator[Tables]:
        seen = set[int]()
        self.seen.append(seen)
        for _ in range(30):
            threading.Event().wait(0.005)
            seen.add(self.samples())
            yield {}
        yield {"stays": np.array([(7, 1, 0, len(self.seen))], dtype_of("stays"))}

    def close(self) -> None:
        """Nothing is open."""


class Harness:
    """An engine with a listener of ours, and its frames by target."""

    def __init__(self, folder: Path, budget_percent: float = 0) -> None:
        self.proc = FakeProc(folder)
        self.proc.process(PID, stat_line(PID, start=START))
        self.listener = LosingListener()
        self.frames: dict[str, queue.SimpleQueue[bytes]] = {}
        budget = Budget(budget_percent)
        self.engine = Engine(self._take, lambda: self.listener, budget=budget)
        self.engine.start()

    def _take(self, target: Target, frame: SampledFrame) -> None:
        self.frames[target.id].put(frame.data)

    def add(
        self,
        name: str,
        script: Script,
        rate_hz: float = 100,
        version: int | None = None,
        tables: Pieces | None = None,
    ) -> TargetSampler:
        target = meant(rate_hz=rate_hz).model_copy(update={"id": f"t-{PID}-{name * 8}"})
        if version is not None:
            source = target.source.model_copy(update={"taskstats_version": version})
            target = target.model_copy(update={"source": source})
        self.frames[target.id] = queue.SimpleQueue()
        procfs = self.proc.procfs
        reader = process_reader(script, procfs)
        sampler = TargetSampler(target, reader, None, time.monotonic_ns(), procfs, tables=tables)
        if tables is not None:
            tables.samples = lambda: sampler.seq
        self.engine.submit(lambda: self.engine.add(sampler)).result(120)
        return sampler

    def next(self, name: str) -> FrameHeader:
        return split(self.frames[f"t-{PID}-{name * 8}"].get(timeout=120))[0]

    def until(self, name: str, wanted: Callable[[FrameHeader], bool]) -> FrameHeader:
        while not wanted(header := self.next(name)):
            pass
        return header


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    harness = Harness(tmp_path)
    try:
        yield harness
    finally:
        harness.engine.stop()
        assert harness.listener.closed or not harness.frames


def test_a_reader_that_fails_says_so_and_stops_no_other(harness: Harness) -> None:
    harness.add("a", Broken(t7=1))
    harness.add("b", Script(t7=1))
    failed = harness.until("a", lambda header: header.seq == 3)
    # A busy machine may be late as well.
    events = [event for event in failed.events if not isinstance(event, DeadlinesMissed)]
    assert events == [SampleFailed(reason="ValueError: nonsense from the kernel")]
    assert harness.until("b", lambda header: header.seq == 3).live_threads == 1


def test_samples_are_taken_while_tables_are_read(harness: Harness) -> None:
    tables = Pieces()
    harness.add("a", Script(t7=1), rate_hz=20, tables=tables)
    # The first one belongs to the first frame.
    harness.until("a", lambda header: bool(header.tables))
    header = harness.until("a", lambda _: any(len(seen) > 1 for seen in tables.seen))
    while not header.tables:
        header = harness.next("a")
    assert [(one.name, one.rows) for one in header.tables] == [("stays", 1)]


@pytest.mark.parametrize("ends", ["detached", "stopped"])
def test_the_end_of_a_target_counts_what_came_since_the_sample_before(
    harness: Harness, ends: str
) -> None:
    script, tables = Script(t7=1), Pieces()
    harness.add("a", script, rate_hz=1, tables=tables)
    harness.until("a", lambda header: bool(header.tables))
    script.cpu = {7: 5, 8: 2}
    if ends == "detached":
        harness.engine.submit(lambda: harness.engine.detach(f"t-{PID}-{'a' * 8}")).result(120)
    else:
        harness.engine.stop()
    header = harness.until("a", lambda header: header.live_threads == 2)
    assert [event.tid for event in header.events if isinstance(event, ThreadBorn)] == [8]
    assert header.rows == 2
    assert header.tables is not None
    assert [(one.name, one.rows) for one in header.tables] == [("stays", 1)]
    assert header.roles is not None
    assert sum(one.totals["cpu_run_ns"] for one in header.roles) == 5 + 2


def test_tables_of_all_targets_share_half_of_the_budget(tmp_path: Path) -> None:
    harness = Harness(tmp_path, budget_percent=3)
    try:
        first, second = Pieces(), Pieces()
        one = harness.add("a", Script(t7=1), tables=first)
        assert one.tables_share == pytest.approx(0.015)
        two = harness.add("b", Script(t7=1), tables=second)
        assert (one.tables_share, two.tables_share) == pytest.approx((0.0075, 0.0075))
        harness.engine.submit(lambda: harness.engine.detach(one.target.id)).result(120)
        assert two.tables_share == pytest.approx(0.015)
    finally:
        harness.engine.stop()


def test_a_listener_that_fails_stops_nothing(harness: Harness) -> None:
    harness.add("a", Script(t7=1))
    harness.listener.losing.put(OSError(9, "no socket"))
    harness.listener.losing.put(5)
    harness.until("a", lambda header: ExitRecordsLost(count=5) in header.events)


def test_lost_exits_are_reported_to_every_target_once(harness: Harness) -> None:
    """Nobody knows whose they were."""
    harness.listener.losing.put(1)
    harness.add("a", Script(t7=1))
    harness.add("b", Script(t7=1), rate_hz=50)
    for count in (2, 40):
        harness.listener.losing.put(count)
    reported = {"a": 0, "b": 0}
    for name in ("a", "b"):
        while reported[name] < 42:
            header = harness.next(name)
            reported[name] += sum(e.count for e in header.events if isinstance(e, ExitRecordsLost))
    # What was lost before they were attached is not theirs.
    assert reported == {"a": 42, "b": 42}
    assert harness.next("a").health.exit_records_lost == 43


def test_exit_records_are_wanted_of_attached_processes_only(harness: Harness) -> None:
    harness.add("a", Script(t7=1))
    harness.engine.submit(lambda: harness.engine.detach(f"t-{PID}-{'a' * 8}")).result(120)
    harness.add("b", Script(t7=1), version=11)
    assert harness.listener.wanted == [{PID}, set(), None]


def test_what_cannot_be_done_in_time_is_counted_and_reported(harness: Harness) -> None:
    harness.add("a", Slow(t7=1))
    reported = 0
    for _ in range(10):
        header = harness.next("a")
        reported += sum(e.count for e in header.events if isinstance(e, DeadlinesMissed))
        assert header.health.missed_deadlines == reported
    # Each sample takes three periods, so two of three deadlines are missed.
    assert reported >= 18


def test_nobody_waits_for_ever_when_the_thread_ends(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    go = threading.Event()
    harness.engine.submit(lambda: go.wait(120))
    stopping = threading.Thread(target=harness.engine.stop)
    stopping.start()
    asked = []
    while stopping.is_alive():
        # Some stand before the end in the queue, some behind it, some come when nobody reads it.
        asked.append(harness.engine.submit(os.getpid))
        if len(asked) == 1000:
            go.set()
            stopping.join(120)
    for future in asked:
        assert future.cancelled() or future.result(120) == PID
    assert asked[-1].cancelled()
    with pytest.raises(CancelledError):
        harness.engine.submit(os.getpid).result(120)


def test_a_failing_command_fails_alone(harness: Harness) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        harness.engine.submit(fail).result(120)
    assert harness.engine.submit(os.getpid).result(120) == PID


def target_id(name: str) -> str:
    return f"t-{PID}-{name * 8}"


def cpu_ns(header: FrameHeader) -> int:
    """On-CPU time of all threads that live, as the roles of a frame have it."""
    assert header.roles is not None
    return sum(role.totals["cpu_run_ns"] for role in header.roles)


def flush(harness: Harness, name: str) -> Flushed | None:
    flushed: Flushed | None = harness.engine.submit(
        lambda: harness.engine.flush(target_id(name))
    ).result(120)
    return flushed


def test_a_flush_has_everything_up_to_now(harness: Harness) -> None:
    script = Script(t7=1)
    harness.add("a", script, rate_hz=1)
    assert cpu_ns(harness.next("a")) == 1
    script.cpu[7] = 5
    harness.listener.losing.put(3)
    flushed = flush(harness, "a")
    assert flushed is not None
    assert flushed.exited == 0
    # Its frames went out before the answer.
    frames = [harness.frames[target_id("a")].get_nowait() for _ in range(2, flushed.seq + 1)]
    header = split(frames[-1])[0]
    assert (header.seq, cpu_ns(header)) == (flushed.seq, 5)
    events = [event for frame in frames for event in split(frame)[0].events]
    assert ExitRecordsLost(count=3) in events


def test_a_flush_reads_all_tables(harness: Harness) -> None:
    tables = Pieces()
    harness.add("a", Script(t7=1), rate_hz=1, tables=tables)
    harness.next("a")
    before = len(tables.seen)
    flushed = flush(harness, "a")
    assert flushed is not None
    header = harness.until("a", lambda header: header.seq == flushed.seq)
    assert len(tables.seen) > before
    assert [(one.name, one.rows) for one in header.tables or ()] == [("stays", 1)]


def test_a_target_that_is_detached_is_sampled_once_more(harness: Harness) -> None:
    script = Script(t7=1)
    harness.add("a", script, rate_hz=1)
    harness.next("a")
    script.cpu[7] = 5
    harness.engine.submit(lambda: harness.engine.detach(target_id("a"))).result(120)
    header, last = harness.next("a"), harness.next("a")
    while TargetDetached() not in last.events:
        header, last = last, harness.next("a")
    assert cpu_ns(header) == 5
    # Whoever asks later learns which frame was the last.
    assert flush(harness, "a") == Flushed(last.seq, None)
    harness.engine.forget(target_id("a"))
    assert flush(harness, "a") is None


def test_deadlines_passed_over_before_a_change_of_rate_are_counted(harness: Harness) -> None:
    harness.add("a", Script(t7=1), rate_hz=100)
    harness.next("a")

    def busy() -> None:
        """The sampling thread does something else for some periods; then the rate changes."""
        sampler = harness.engine.find(target_id("a"))
        assert sampler is not None
        while time.monotonic_ns() < sampler.schedule.due_ns + 10 * sampler.schedule.period_ns:
            pass
        harness.engine.ask_rate(target_id("a"), 50)

    before = harness.next("a").health.missed_deadlines
    harness.engine.submit(busy).result(120)
    header = harness.until("a", lambda header: header.health.requested_hz == 50)
    assert header.health.missed_deadlines >= before + 11
