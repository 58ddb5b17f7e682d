"""The collector's numbers against the kernel's other accounts; forged messages are not believed."""

import os
import queue
import select
import socket
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from programs.known_work import EXIT_CODE, KnownWork
from taskstats_replies import forge
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.taskstats.exits import ExitListener, possible_cpus
from tidscope_collector.taskstats.family_cache import FamilyCache
from tidscope_collector.taskstats.link import NETLINK_GENERIC, open_socket, probe
from tidscope_collector.taskstats.reader import BatchQuery
from tidscope_collector.taskstats.refusals import Refusal
from tidscope_collector.walk.choice import Choice
from tidscope_wire.frame import FrameDecoder, Rows
from tidscope_wire.generated.models import FrameHeader, Target, ThreadExited, ThreadRenamed
from tidscope_wire.problems import ProblemError

Frame = tuple[FrameHeader, Rows]


class Harness:
    """An engine whose frames come to the test."""

    def __init__(self, counters: Choice = "auto") -> None:
        self.frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.decoder = FrameDecoder()
        self.sources = Sources(ProcFs(), counters=counters)
        assert self.sources.kind == "taskstats", self.sources.reason
        assert self.sources.has_exits, self.sources.exits_reason
        self.engine = Engine(self._take, self.sources.open_exits)
        self.engine.start()
        self.targets = TargetRegistry("h-000000000000", ProcFs(), self.sources, self.engine)

    def _take(self, target: Target, frame: SampledFrame) -> None:
        self.targets.update(target)
        self.frames.put(frame.data)

    def close(self) -> None:
        self.engine.stop()
        self.sources.close()

    def next(self) -> Frame:
        return self.decoder.decode(self.frames.get(timeout=120))

    def until_exit(self) -> list[Frame]:
        frames = [self.next()]
        while not any(e.type in ("target_exited", "target_detached") for e in frames[-1][0].events):
            frames.append(self.next())
        return frames


def exits(frames: list[Frame]) -> list[ThreadExited]:
    return [e for header, _ in frames for e in header.events if isinstance(e, ThreadExited)]


@pytest.mark.parametrize("counters", ["genetlink", "walk"])
def test_sums_agree_with_the_kernels_other_accounts(counters: Choice) -> None:
    harness = Harness(counters)
    try:
        with KnownWork(burn_ms=500) as work:
            target, created = harness.targets.attach(work.pid, None, 50)
            assert created
            assert harness.targets.attach(work.pid, None, 50) == (target, False)
            first = harness.next()[0]
            assert (first.kind, first.counters_from) == ("key", counters)
            burnt = work.command("b")
            work.command("w")
            work.command("r")
            work.command("s")
            work.send("q")
            work.wait()
            frames = harness.until_exit()
        assert [header.seq for header, _ in frames] == list(range(2, len(frames) + 2))
        ended = exits(frames)
        assert all(one.exact for one in ended)
        shorts = [one for one in ended if one.name.startswith("short")]
        assert len(shorts) == 300
        tid = work.tids["burner"]
        burner = next(one for one in ended if one.tid == tid)
        reported = next(one for one in burnt.threads if one.tid == tid)
        assert burner.totals["cpu_run_ns"] >= 500e6
        assert burner.totals["cpu_run_ns"] == pytest.approx(reported.cpu_ns, rel=0.05)
        writer = next(one for one in ended if one.tid == work.tids["writer"])
        assert writer.totals["write_char_bytes"] == 8 << 20
        assert any(isinstance(e, ThreadRenamed) for header, _ in frames for e in header.events)
        last = frames[-1][0]
        assert last.exited.threads == len(ended)
        assert last.exited.inexact == 0
        assert last.live_threads == 0
        assert [e.exit_code for e in last.events if e.type == "target_exited"] == [EXIT_CODE << 8]
    finally:
        harness.close()


def test_a_rate_is_kept_without_drift() -> None:
    harness = Harness()
    try:
        with KnownWork() as work:
            harness.targets.attach(work.pid, None, 50)
            headers = [harness.next()[0] for _ in range(51)]
            first = headers[0]
            # How far each sample is behind a grid of 20 ms that begins with the first.
            late_ns = [
                one.time_ns - first.time_ns - 20_000_000 * (at + one.health.missed_deadlines)
                for at, one in enumerate(headers, -first.health.missed_deadlines)
            ]
            # A busy machine makes some late. Drift would make the last half later than the first.
            assert abs(min(late_ns[25:]) - min(late_ns[:25])) < 5_000_000
    finally:
        harness.close()


@pytest.mark.parametrize(
    ("pid", "ticks", "kind"),
    [(2, None, "kernel-thread"), (4_194_000, None, "unknown-process"), (1, 999_999, "reused")],
)
def test_refusals_name_what_was_wrong(pid: int, ticks: int | None, kind: str) -> None:
    harness = Harness()
    try:
        with pytest.raises(ProblemError) as caught:
            harness.targets.attach(pid, ticks, 10)
        assert kind in caught.value.problem.type
        assert caught.value.problem.hint
    finally:
        harness.close()


def test_detach_ends_the_stream_and_the_kernel_is_reported() -> None:
    harness = Harness()
    try:
        with KnownWork() as work:
            target, _ = harness.targets.attach(work.pid, None, 100)
            harness.next()
            assert harness.targets.detach(target.id).state == "detached"
            assert harness.until_exit()[-1][0].events[-1].type == "target_detached"
            assert Path(f"/proc/{work.pid}").exists()
            again, created = harness.targets.attach(work.pid, None, 100)
            assert created
            assert again.id != target.id
    finally:
        harness.close()


def test_the_monotonic_clock_is_the_zero_of_times() -> None:
    harness = Harness()
    try:
        with KnownWork() as work:
            before = time.monotonic_ns()
            harness.targets.attach(work.pid, None, 10)
            header, rows = harness.next()
            assert header.time_ns <= time.monotonic_ns() - before
            assert rows.start_ns is not None
            assert (rows.start_ns < 0).all()
    finally:
        harness.close()


class Opened:
    """Remembers the sockets that it opens."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []

    def __call__(self, buffer_bytes: int) -> socket.socket:
        self.sockets.append(open_socket(buffer_bytes))
        return self.sockets[-1]


def test_a_forged_reply_is_refused_and_the_kernels_believed() -> None:
    kernel, opened = probe(), Opened()
    query = BatchQuery(kernel, opened)
    tid = threading.get_native_id()
    offset = kernel.layout.offsets["cpu_run_virtual_total"] // 8
    try:
        for sequence in (1, 2):  # before and after the first right reply was seen
            forge(opened.sockets[0], tid, kernel, sequence)
            words, _ = query.query(np.array([tid], np.uint32))
            assert len(words) == 1
            assert words[0, offset] > 1_000_000
            assert dict(query.refused) == {Refusal.SENDER: sequence}
    finally:
        query.close()


def test_a_forged_exit_is_refused_and_the_kernels_received() -> None:
    kernel, opened = probe(), Opened()
    listener = ExitListener(kernel, possible_cpus(), open_link=opened)
    try:
        forge(opened.sockets[0], os.getpid(), kernel, 1)
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        seen: set[int] = set()
        while thread.native_id not in seen:
            assert select.select(opened.sockets, [], [], 10)[0], "no exit record came"
            seen |= set(listener.own_member(listener.drain(), "ac_pid").tolist())
        assert os.getpid() not in seen
        assert dict(listener.refused) == {Refusal.SENDER: 1}
        assert listener.lost == 0
    finally:
        listener.close()


def test_exits_of_other_processes_are_left_out_by_the_kernel() -> None:
    listener = ExitListener(probe(), possible_cpus())

    def wait_for(tid: int) -> set[int]:
        """Receive records until that of a thread of ours; of which processes they were."""
        deadline = time.monotonic() + 20
        seen: set[int] = set()
        while True:
            exits = listener.drain()
            seen |= set(listener.own_member(exits, "ac_tgid").tolist())
            if tid in listener.own_member(exits, "ac_pid"):
                return seen
            assert time.monotonic() < deadline, "no exit record came"
            time.sleep(0.001)

    def end_thread() -> int:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        assert thread.native_id is not None
        return thread.native_id

    try:
        listener.keep_only({os.getpid()})
        listener.drain()
        subprocess.run(["true"], check=True)
        assert wait_for(end_thread()) == {os.getpid()}
        listener.keep_only(None)
        other = subprocess.Popen(["true"])
        other.wait()
        assert other.pid in wait_for(other.pid)
    finally:
        listener.close()


def test_a_cached_number_of_no_taskstats_is_resolved_again(tmp_path: Path) -> None:
    cache = FamilyCache(ProcFs(), tmp_path / "family")
    kernel = probe(cache=cache)
    assert cache.read() == kernel.family
    # The controller's own number, and one that no family has.
    for wrong in (NETLINK_GENERIC, 65000):
        cache.write(wrong)
        assert probe(cache=cache) == kernel
        assert cache.read() == kernel.family
