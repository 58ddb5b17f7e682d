"""The CPU budget at work: rates go down when sampling costs too much, and come back."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from backend_server import SECRET, Backend, running_backend
from frame_queues import TakenFrames
from live_page import LivePage
from programs.build import build_c
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling import budget as budget_module
from tidscope_collector.sampling import engine as engine_module
from tidscope_collector.sampling import selfwatch
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.selfwatch import SelfWatch
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_wire.frame import split
from tidscope_wire.generated.models import (
    FrameHeader,
    LiveState,
    RateAdapted,
    RateChanged,
    Target,
    TargetsResponse,
)

WAKERS = Path(__file__).parents[2] / "benchmarks" / "wakers.c"
PATIENCE_S = 120.0
MS = 1_000_000
BUDGET = 20
"""CPU budget of a test that simulates costs, in percent of one core."""
PERIODS = 5
"""Periods between frames over which a rate is measured."""


@contextmanager
def wakers(threads: int, period_ms: int) -> Iterator[int]:
    """A program of so many threads, each of which wakes once a period; its process id."""
    command = [str(build_c(WAKERS)), str(threads), str(period_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process.pid
        finally:
            process.kill()


def adapted(header: FrameHeader) -> list[RateAdapted]:
    return [event for event in header.events if isinstance(event, RateAdapted)]


class Cost:
    """A clock of the sampling thread on which each sample takes what the test says."""

    def __init__(self) -> None:
        self.sample_ns = 0
        self._ns = 0

    def __call__(self) -> int:
        # Asked before and after a sample, and once to close an account.
        self._ns += self.sample_ns // 2
        return self._ns


def test_the_engine_lowers_the_rate_and_raises_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real samples of a real process, with seconds made short and a clock that tells their cost.

    Both cost and budget are far above what samples take on a busy machine.
    """
    monkeypatch.setattr(selfwatch, "ACCOUNT_NS", 100 * MS)
    for name, seconds in {"OVER_S": 0.5, "ROOM_S": 0.5, "WAIT_S": 1.0}.items():
        monkeypatch.setattr(budget_module, name, seconds)
    monkeypatch.setattr(engine_module, "SECOND_NS", 100 * MS)
    sources, cost = Sources(ProcFs()), Cost()
    frames = TakenFrames(sources.native)
    watch = SelfWatch(sending=lambda: 0, sampling=cost)
    engine = Engine(
        sources.native,
        lambda _: None,
        budget=Budget(BUDGET),
        watch=watch,
    )
    engine.start()
    targets = TargetRegistry("h-000000000000", ProcFs(), sources, engine)

    def until_adapted() -> tuple[list[RateAdapted], FrameHeader]:
        while True:
            header, _ = split(frames.get(timeout=PATIENCE_S))
            assert header.health.effective_hz <= header.health.requested_hz
            if found := adapted(header):
                return found, header

    try:
        with wakers(5, 100) as pid:
            target, _ = targets.attach(pid, None, 50)
            cost.sample_ns = 100 * MS
            events, header = until_adapted()
            assert events[0].previous_hz == 50
            assert events[0].rate_hz <= 12.5
            assert events[0].requested_hz == 50
            assert events[0].overhead_percent > events[0].budget_percent == BUDGET
            rate_hz = events[-1].rate_hz
            assert (header.health.effective_hz, header.health.requested_hz) == (rate_hz, 50)
            assert header.health.budget_percent == BUDGET
            cost.sample_ns, rising = 0, False
            while rate_hz < 50:
                before = rate_hz
                events, header = until_adapted()
                rate_hz = events[-1].rate_hz
                # The rate may be lowered once more before it rises.
                rising |= rate_hz > before
                assert rate_hz > before or not rising
            assert rate_hz == header.health.effective_hz == 50
            # A person's wish is in effect at once, and is no adaptation.
            assert targets.set_rate(target.id, 25).rate_hz == 25
            while not any(isinstance(event, RateChanged) for event in header.events):
                header, _ = split(frames.get(timeout=PATIENCE_S))
            assert header.events == [RateChanged(rate_hz=25, previous_hz=50)]
            assert (header.health.effective_hz, header.health.requested_hz) == (25, 25)
    finally:
        engine.stop()
        sources.close()


@asynccontextmanager
async def collector(backend: Backend, budget_percent: float) -> AsyncIterator[None]:
    """The real collector, on its way to the backend."""
    url = f"{backend.socket_url}/ws/collector"
    command = ["-m", "tidscope_collector", "run", "--backend", url]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        *("--budget-percent", str(budget_percent)),
        env={**os.environ, "TIDSCOPE_COLLECTOR_SECRET": SECRET},
    )
    try:
        yield
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def attached(budget_percent: float, threads: int) -> AsyncIterator[tuple[Target, LivePage]]:
    """A program watched at 20 samples a second, and a page that gets its frames."""
    with wakers(threads, 100) as pid:
        async with (
            running_backend(command_seconds=60) as backend,
            backend.program() as client,
            backend.page() as page,
            collector(backend, budget_percent),
            asyncio.timeout(PATIENCE_S),
        ):
            while not (await page.text(LiveState)).hosts:
                pass
            made = await client.post("/api/v1/targets", json={"pid": pid, "rate_hz": 20})
            target = Target.model_validate_json(made.text)
            await page.subscribe(target.id)
            yield target, page
            reported = (await client.get("/api/v1/targets")).text
            (kept,) = TargetsResponse.model_validate_json(reported).targets
            assert kept.rate_hz == 20, "the rate asked for is kept"


async def test_a_program_of_many_threads_is_sampled_less_often_and_that_is_said() -> None:
    async with attached(budget_percent=0.5, threads=400) as (_, page):
        header, _ = await page.frame()
        assert (header.health.effective_hz, header.health.requested_hz) == (20, 20)
        while not adapted(header):
            header, _ = await page.frame()
        event, *_ = adapted(header)
        assert (event.previous_hz, event.requested_hz, event.budget_percent) == (20, 20, 0.5)
        assert event.overhead_percent >= 0.5
        assert event.rate_hz < 20
        # The rate is effective: frames are a period apart; after a late one the next comes sooner.
        last, _ = await page.frame()
        first = last
        while last.seq < first.seq + PERIODS:
            last, _ = await page.frame()
            if last.health.effective_hz != first.health.effective_hz:
                first = last
        periods = (last.time_ns - first.time_ns) / 1e9 * last.health.effective_hz
        assert periods > last.seq - first.seq - 1
        assert last.health.effective_hz < last.health.requested_hz == 20


def is_plausible(header: FrameHeader) -> bool:
    """True if sampling takes CPU time, and no more than the whole process."""
    process, sampling = header.health.cpu_percent, header.health.overhead_percent
    assert process is not None
    assert sampling is not None
    return 0.5 < sampling <= process * 1.05 + 0.5


async def test_without_a_budget_the_rate_asked_for_is_kept_and_the_cost_is_reported() -> None:
    async with attached(budget_percent=0, threads=400) as (_, page):
        header, _ = await page.frame()
        while header.time_ns < 9e9:
            header, _ = await page.frame()
            assert not adapted(header)
        # The two clocks are read one after the other, and frames may wait for a moment.
        while not is_plausible(header) or header.health.unsent_frames >= 20:
            header, _ = await page.frame()
        health = header.health
        assert (health.effective_hz, health.requested_hz, health.budget_percent) == (20, 20, 0)
        assert 0 < health.sample_mean_us <= health.sample_max_us
        assert health.replay_frames >= 100
        assert health.sent_frames >= 100
        assert health.replay_bytes > 100_000
        assert health.sent_bytes > 100_000
        assert header.machine.cpu_busy_us is not None
        assert header.machine.cpu_busy_us > 0
