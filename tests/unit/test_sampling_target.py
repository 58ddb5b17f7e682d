"""One target's frames: key frames, deltas, what is reported beside the rows, the last one."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_proc import FakeProc, stat_line
from receiver import Receiver
from scripted_reader import ATTACH, PID, START, Script, meant, process_reader, quiet_health
from tidscope_collector.inspection.go_questions import WORD
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader
from tidscope_collector.processes.identity import Identity, identify
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling import frame_maker
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.threads.reading import Reading, TargetExitedError
from tidscope_wire.frame import Rows
from tidscope_wire.generated.models import (
    DeadlinesMissed,
    ExitRecordsLost,
    FrameHeader,
    GomaxprocsChanged,
    RateAdapted,
    RateChanged,
    SampleFailed,
    TargetDetached,
    TargetExited,
    ThreadExited,
)

SECOND = 1_000_000_000


class Stream:
    """A sampler of this very process, with a /proc of files, and the receiver of its frames."""

    def __init__(self, folder: Path, script: Script, size: GomaxprocsReader | None = None) -> None:
        proc = FakeProc(folder)
        proc.process(PID, stat_line(PID, start=START))
        for tid in {PID, *script.cpu}:
            proc.thread(PID, tid, stat_line(tid, start=START))
        self.script = script
        reader = process_reader(script, proc.procfs)
        self.sampler = TargetSampler(meant(), reader, size, ATTACH, proc.procfs)
        self.receiver = Receiver()
        self.now = ATTACH
        self.last: SampledFrame

    def sample(
        self, after_ns: int = SECOND // 10, late: int = 0, missed: int = 0, lost: int = 0
    ) -> tuple[FrameHeader, Rows]:
        self.now += after_ns
        reading, _ = self.sampler.read()
        return self.frame(reading, late, missed, lost)

    def frame(
        self, reading: Reading, late: int = 0, missed: int = 0, lost: int = 0
    ) -> tuple[FrameHeader, Rows]:
        (self.last,) = self.sampler.frame(
            reading,
            self.now,
            None,
            lateness=(late, missed),
            lost=lost,
            health=quiet_health(),
            started_ns=self.now,
        )
        return self.receiver.frame(self.last.data)


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    return Stream(tmp_path, Script(t7=100, t8=200))


def test_the_first_frame_is_a_key_frame_and_then_only_what_changed(stream: Stream) -> None:
    header, rows = stream.sample()
    assert (header.kind, header.seq, header.live_threads) == ("key", 1, 2)
    assert (rows.name, rows.start_ns is not None) == (["work", "work"], True)
    assert stream.last.key
    stream.script.cpu[8] = 201
    header, rows = stream.sample()
    assert (header.kind, rows.tid.tolist(), rows.name) == ("delta", [8], None)
    assert not stream.last.key
    header, rows = stream.sample()
    assert (header.seq, rows.tid.tolist(), header.events) == (3, [], [])
    assert header.time_ns == 3 * SECOND // 10


def test_a_key_frame_comes_again_after_ten_seconds(stream: Stream) -> None:
    kinds = {stream.sample(SECOND)[0].seq: stream.last.key for _ in range(22)}
    assert [seq for seq, key in kinds.items() if key] == [1, 11, 21]


def test_a_key_frame_comes_early_where_frames_are_large(
    stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.sample()
    before = len(stream.receiver.live)
    monkeypatch.setattr(frame_maker, "KEY_FRAME_BYTES", 4000)
    kinds = [stream.sample()[0].kind for _ in range(12)]
    # A frame here has about 1,100 bytes.
    assert 2 <= kinds.count("key") <= 4
    assert len(stream.receiver.live) == before


def test_what_was_missed_and_lost_is_reported_in_each_kind_of_frame(stream: Stream) -> None:
    reported = [DeadlinesMissed(count=3), ExitRecordsLost(count=4)]
    header, _ = stream.sample(missed=3, lost=4, late=2500)
    assert header.events[:2] == reported
    assert header.health.late_us == 2
    (frame,) = stream.sampler.failure(
        OSError(5, "no answer"),
        lateness=(0, 3),
        lost=4,
        health=quiet_health(),
        started_ns=stream.now + 1,
    )
    header, rows = stream.receiver.frame(frame.data)
    assert header.events == [*reported, SampleFailed(reason="OSError: [Errno 5] no answer")]
    assert (rows.tid.tolist(), header.live_threads) == ([], 2)
    (frame,) = stream.sampler.final(
        None, exited=False, exit_code=None, lost=4, health=quiet_health()
    )
    header, _ = stream.receiver.frame(frame.data)
    assert header.events == [ExitRecordsLost(count=4), TargetDetached()]
    assert stream.sampler.target.state == "detached"
    # Reported once.
    assert stream.receiver.seq == 3


def test_a_sample_that_failed_loses_nothing(stream: Stream) -> None:
    stream.sample()
    stream.script.cpu[7] = 150
    (frame,) = stream.sampler.failure(
        OSError("x"),
        lateness=(0, 0),
        lost=0,
        health=quiet_health(),
        started_ns=stream.now + 1,
    )
    stream.receiver.frame(frame.data)
    _, rows = stream.sample()
    assert rows.tid.tolist() == [7]
    assert stream.receiver.total("cpu_run_ns") == 150 + 200


def test_the_end_of_the_process(stream: Stream) -> None:
    stream.sample()
    (frame,) = stream.sampler.final(None, exited=True, exit_code=9, lost=0, health=quiet_health())
    header, rows = stream.receiver.frame(frame.data)
    assert [type(event) for event in header.events] == [ThreadExited, ThreadExited, TargetExited]
    assert header.events[-1] == TargetExited(exit_code=9)
    assert (header.live_threads, rows.tid.tolist()) == (0, [])
    assert header.exited.totals == {"cpu_run_ns": 300}
    assert stream.sampler.target.state == "exited"


def test_another_rate_is_reported_once(stream: Stream) -> None:
    stream.sample()
    stream.sampler.change_rate(50, stream.now)
    stream.sampler.change_rate(50, stream.now)
    assert stream.sample()[0].events == [RateChanged(rate_hz=50, previous_hz=10)]
    assert stream.sample()[0].events == []
    assert stream.sampler.target.rate_hz == 50


def test_a_rate_that_the_budget_lowers_is_reported_and_the_one_asked_for_is_kept(
    stream: Stream,
) -> None:
    stream.sample()
    event = RateAdapted(
        rate_hz=4, previous_hz=10, requested_hz=10, overhead_percent=5, budget_percent=2
    )
    stream.sampler.adapt_rate(event, stream.now)
    assert stream.sampler.schedule.due_ns == stream.now + SECOND // 4
    assert stream.sample()[0].events == [event]
    assert (stream.sampler.schedule.rate_hz, stream.sampler.target.rate_hz) == (4, 10)


def test_without_a_meter_counters_of_the_machine_are_absent(stream: Stream) -> None:
    machine = stream.sample()[0].machine
    assert (machine.cpu_busy_us, machine.package_uj, machine.domains_uj) == (None, None, [])


class Memory:
    """Answers requests for GOMAXPROCS as the child at the other end does, when the test says so."""

    def __init__(self) -> None:
        ours, self.child = socket.socketpair()
        self.reader = GomaxprocsReader(0, ours)

    def answer(self, size: int) -> None:
        assert self.child.recv(16) == b"?"
        self.child.send(WORD.pack(size))


@pytest.fixture
def memory() -> Iterator[Memory]:
    made = Memory()
    yield made
    made.child.close()


def sized(stream: Stream, memory: Memory, size: int | None) -> FrameHeader:
    """The frame of a sample whose request is answered, or not."""
    reading, _ = stream.sampler.read()
    if size is not None:
        memory.answer(size)
    stream.now += SECOND // 10
    return stream.frame(reading)[0]


def test_gomaxprocs_is_reported_when_it_changes(tmp_path: Path, memory: Memory) -> None:
    stream = Stream(tmp_path, Script(t7=1), memory.reader)
    assert sized(stream, memory, 4).process.gomaxprocs == 4
    header = sized(stream, memory, 2)
    assert header.events == [GomaxprocsChanged(size=2, previous=4)]
    assert header.process.gomaxprocs == 2
    stream.sampler.close()
    assert memory.child.recv(16) == b""


def test_a_gomaxprocs_that_is_late_is_absent_and_counted(tmp_path: Path, memory: Memory) -> None:
    stream = Stream(tmp_path, Script(t7=1), memory.reader)
    assert sized(stream, memory, 4).process.gomaxprocs_missed == 0
    for missed in (1, 2, 3):
        gauges = sized(stream, memory, None).process
        assert (gauges.gomaxprocs, gauges.gomaxprocs_missed) == (None, missed)
    # What was asked for long ago is not what is in effect now.
    memory.answer(7)
    header = sized(stream, memory, 2)
    assert (header.process.gomaxprocs, header.process.gomaxprocs_missed) == (2, 3)
    assert header.events == [GomaxprocsChanged(size=2, previous=4)]
    stream.sampler.close()


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def test_reused_process_id_is_not_sampled(tmp_path: Path, memory: Memory) -> None:
    proc = FakeProc(tmp_path)
    proc.process(PID, stat_line(PID, start=START))
    proc.thread(PID, PID, stat_line(PID, start=START))
    before = descriptors()
    reader = process_reader(Script(), proc.procfs)
    with pytest.raises(TargetExitedError, match="id was reused"):
        TargetSampler(meant(start_ticks=START - 1), reader, memory.reader, ATTACH, proc.procfs)
    assert len(descriptors()) == len(before) - 1


def test_a_real_process_that_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    ) as child:
        found = identify(ProcFs(), child.pid)
        assert isinstance(found, Identity)
        target = meant(child.pid, found.start_ticks)
        reader = process_reader(Script(), ProcFs(), child.pid)
        other = process_reader(Script(), ProcFs(), child.pid)
        sampler = TargetSampler(target, reader, None, ATTACH, ProcFs())
        sampler.read()
        assert child.stdin is not None
        child.stdin.close()
        # Also before anyone has fetched its exit status.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(TargetExitedError):
            sampler.read()
    sampler.close()
    with pytest.raises(TargetExitedError):
        TargetSampler(target, other, None, ATTACH, ProcFs())


def test_the_first_frame_with_threads_is_the_baseline(stream: Stream) -> None:
    (frame,) = stream.sampler.failure(
        OSError(5, "no answer"),
        lateness=(0, 0),
        lost=0,
        health=quiet_health(),
        started_ns=stream.now + 1,
    )
    header, _ = stream.receiver.frame(frame.data)
    assert (header.kind, header.baseline, header.rows) == ("key", False, 0)
    header, _ = stream.sample()
    assert (header.kind, header.baseline, header.rows) == ("key", True, 2)
    assert stream.last.baseline
    header, _ = stream.sample()
    assert (header.baseline, header.rows) == (False, 0)
    assert not stream.last.baseline


def test_births_are_counted_since_the_baseline(stream: Stream) -> None:
    assert stream.sample()[0].threads_born == 0
    stream.script.cpu |= {9: 1, 10: 1}
    assert stream.sample()[0].threads_born == 2
    assert stream.sample()[0].threads_born == 2
