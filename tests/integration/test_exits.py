"""Exit records of threads: none of a storm is lost silently, and losses reach the page."""

import asyncio
import json
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from backend_builders import HOST_ID, host
from backend_server import SECRET, running_backend
from engines import engine_of
from frame_queues import TakenFrames
from programs.build import build_c
from programs.known_work import KnownWork
from receiver import Follower
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.targets import sources as sources_module
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.taskstats.exits import ExitSockets
from tidscope_collector.uplink.commands import CommandHandler
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.frames import FramesLink
from tidscope_collector.uplink.sign_in import SignIn
from tidscope_wire.frame import split
from tidscope_wire.generated.limits import MAX_FRAME_BYTES
from tidscope_wire.generated.models import ExitRecordsLost, FrameHeader, TargetExited
from tidscope_wire.proof import host_credential
from uplink_harness import no_doctor

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROGRAMS = Path(__file__).parents[1] / "programs"
THREADS = 20_000
MANY = 100_000


def storm(arguments: Sequence[str], rate_hz: float) -> tuple[int, int, FrameHeader]:
    """Attach the collector to a program that ends threads.

    Args:
        arguments: the program, which waits for a byte and says how many threads it ended, and ends
            with its input.
        rate_hz: samples a second.

    Returns:
        Threads that exited by the program's own account, the main one included; exits that were
        reported; and the last frame's header.
    """
    sources = Sources(ProcFs())
    frames = TakenFrames(sources.native)
    engine = Engine(sources.native, lambda _: None)
    engine.start()
    child = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        targets = TargetRegistry("h-000000000000", ProcFs(), sources, engine)
        targets.attach(child.pid, None, rate_hz)
        last = split(frames.get(timeout=120))[0]
        assert (last.seq, last.exited.threads) == (1, 0)
        # Starts the storm, reads its figures, and closes the input, on which it ends.
        ended = json.loads(child.communicate(b".", timeout=120)[0])["threads"] + 1
        exits = 0
        while not any(event.type == "target_exited" for event in last.events):
            data = frames.get(timeout=120)
            assert len(data) <= MAX_FRAME_BYTES
            last = split(data)[0]
            exits += sum(event.type == "thread_exited" for event in last.events)
            assert not any(event.type == "exit_records_lost" for event in last.events)
    finally:
        child.kill()
        child.communicate()
        engine.stop()
        sources.close()
    return ended, exits, last


def test_the_collector_counts_every_thread_of_a_storm_exactly() -> None:
    program = build_c(BENCHMARKS / "exit_storm.c")
    ended, exits, last = storm([str(program), str(THREADS), "200"], 10)
    assert ended == THREADS + 1
    assert exits == last.exited.threads == ended
    assert last.exited.inexact == 0
    assert last.health.exit_records_lost == 0
    assert last.health.exit_records_received >= ended


def test_a_hundred_thousand_exits_arrive_in_frames_within_the_bound() -> None:
    """Frames arrive within some seconds, since a sample is taken once a second."""
    program = build_c(BENCHMARKS / "exit_storm.c")
    ended, exits, last = storm([str(program), str(MANY), "200"], 1)
    assert ended == MANY + 1
    assert exits == last.exited.threads == ended
    assert last.health.exits_without_event == 0


@pytest.mark.parametrize("mib", [256, 512])
def test_no_thread_whose_end_takes_long_exits_twice(mib: int) -> None:
    """A thread has sent its record, and a sample that did not know it still lists it."""
    program = build_c(PROGRAMS / "slow_exits.c")
    ended, exits, last = storm([str(program), "5000", str(mib)], 100)
    assert ended == 5002
    assert exits == last.exited.threads == ended
    assert last.exited.inexact == 0


SHORT = 3000
SMALL_BUFFER = 8192
"""Room for a handful of records a CPU; the real one has 64 MiB, and holds some 29,000."""


async def test_lost_exit_records_are_counted_and_reported_to_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        sources_module, "ExitSockets", partial(ExitSockets, buffer_bytes=SMALL_BUFFER)
    )
    sources = await asyncio.to_thread(Sources, ProcFs())
    engine, targets = engine_of(sources, HOST_ID)
    async with running_backend(queue_frames=10_000) as backend, backend.page() as page:
        url = f"{backend.socket_url}/ws/collector"
        commands = CommandHandler(targets, no_doctor)
        sign_in = SignIn(url, host_credential(SECRET))
        frames = FramesLink(url, sign_in, HOST_ID)
        sources.native.use_link(frames.native)
        engine.start()
        uplink = Uplink(url, sign_in, host(), targets, commands, frames)
        task = asyncio.create_task(uplink.run())
        try:
            with KnownWork(short_threads=SHORT, short_us=1) as work:
                target, _ = await asyncio.to_thread(targets.attach, work.pid, None, 10)
                # Nobody commanded it, so no reply announces it.
                uplink.tell_changes()
                await page.subscribe(target.id)
                follower = Follower(page)
                first = await follower.next()
                await asyncio.to_thread(work.command, "s")
                work.send("q")
                await follower.until_event(TargetExited)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await asyncio.to_thread(engine.stop)
            await asyncio.to_thread(frames.stop)
            sources.close()
    # Losses in the first frame happened before it.
    lost = sum(
        event.count
        for header in follower.headers[1:]
        for event in header.events
        if isinstance(event, ExitRecordsLost)
    )
    last = follower.headers[-1]
    assert lost == last.health.exit_records_lost - first.health.exit_records_lost
    # Five threads besides; the sums know of those whose record came, and of those that were seen.
    exact = last.exited.threads - last.exited.inexact
    assert exact < SHORT
    assert exact + lost >= SHORT + 5
    assert follower.receiver.live == {}
