"""The collector's numbers against the kernel's other accounts."""

import time
from pathlib import Path

import pytest
from engines import engine_of
from frame_queues import TakenFrames
from programs.known_work import EXIT_CODE, KnownWork
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.targets.sources import Sources
from tidscope_collector.taskstats.family_cache import FamilyCache
from tidscope_collector.taskstats.link import NETLINK_GENERIC, probe
from tidscope_collector.walk.choice import Choice
from tidscope_wire.frame import FrameDecoder, Rows
from tidscope_wire.generated.models import FrameHeader, ThreadExited, ThreadRenamed
from tidscope_wire.problems import ProblemError

Frame = tuple[FrameHeader, Rows]


class Harness:
    """An engine whose frames come to the test."""

    def __init__(self, counters: Choice = "auto") -> None:
        self.decoder = FrameDecoder()
        self.sources = Sources(ProcFs(), counters=counters)
        assert self.sources.kind == "taskstats", self.sources.reason
        assert self.sources.has_exits, self.sources.exits_reason
        self.frames = TakenFrames(self.sources.native)
        self.engine, self.targets = engine_of(self.sources)
        self.engine.start()

    def close(self) -> None:
        self.engine.stop()
        self.sources.close()

    def next(self) -> Frame:
        return self.decoder.decode(self.frames.get(timeout=120))

    def until_event(self, *types: str) -> list[Frame]:
        frames = [self.next()]
        while not any(event.type in types for event in frames[-1][0].events):
            frames.append(self.next())
        return frames

    def until_exit(self) -> list[Frame]:
        return self.until_event("target_exited", "target_detached")


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
            # The thread has to be sampled under its new name before it ends.
            frames = harness.until_event("thread_renamed")
            work.command("s")
            work.send("q")
            work.wait()
            frames += harness.until_exit()
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
    half = 100  # A machine that is slow for a second still has samples in time.
    harness = Harness()
    try:
        with KnownWork() as work:
            harness.targets.attach(work.pid, None, 50)
            headers = [harness.next()[0] for _ in range(2 * half + 1)]
            first = headers[0]
            # How far each sample is behind a grid of 20 ms that begins with the first.
            late_ns = [
                one.time_ns - first.time_ns - 20_000_000 * (at + one.health.missed_deadlines)
                for at, one in enumerate(headers, -first.health.missed_deadlines)
            ]
            # A busy machine makes some late. Drift would make the last half later than the first.
            assert abs(min(late_ns[half:]) - min(late_ns[:half])) < 5_000_000
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


def test_a_cached_number_of_no_taskstats_is_resolved_again(tmp_path: Path) -> None:
    cache = FamilyCache(ProcFs(), tmp_path / "family")
    kernel = probe(cache=cache)
    assert cache.read() == kernel.family
    # The controller's own number, and one that no family has.
    for wrong in (NETLINK_GENERIC, 65000):
        cache.write(wrong)
        assert probe(cache=cache) == kernel
        assert cache.read() == kernel.family
