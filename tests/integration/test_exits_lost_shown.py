"""Exit records that the kernel dropped, from its counter to what a page is reported."""

import asyncio

from backend_builders import HOST_ID, host
from backend_server import SECRET, running_backend
from programs.known_work import KnownWork
from receiver import Follower
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.taskstats.exits import ExitListener, possible_cpus
from tidscope_collector.uplink.commands import CommandHandler
from tidscope_collector.uplink.connection import Uplink
from tidscope_collector.uplink.replay import Replay
from tidscope_collector.uplink.sign_in import SignIn
from tidscope_wire.generated.models import ExitRecordsLost, Target, TargetExited
from tidscope_wire.proof import host_credential
from uplink_harness import no_doctor

SHORT = 3000
SMALL_BUFFER = 8192
"""Room for a handful of records a CPU; the real one has 64 MiB, and holds some 29,000."""


async def test_lost_exit_records_are_counted_and_reported_to_the_page() -> None:
    sources = await asyncio.to_thread(Sources, ProcFs())
    replay = Replay(1 << 24, 1 << 24)

    def hand_over(target: Target, frame: SampledFrame) -> None:
        uplink.add_frame(target, frame)

    def small_listener() -> ExitListener:
        assert sources.kernel is not None, sources.reason
        return ExitListener(sources.kernel, possible_cpus(), buffer_bytes=SMALL_BUFFER)

    engine = Engine(hand_over, small_listener)
    targets = TargetRegistry(HOST_ID, ProcFs(), sources, engine)
    engine.start()
    async with running_backend(queue_frames=10_000) as backend, backend.page() as page:
        url = f"{backend.socket_url}/ws/collector"
        commands = CommandHandler(targets, no_doctor)
        sign_in = SignIn(url, host_credential(SECRET))
        uplink = Uplink(url, sign_in, host(), targets, commands, replay)
        task = asyncio.create_task(uplink.run())
        try:
            with KnownWork(short_threads=SHORT, short_us=1) as work:
                target, _ = await asyncio.to_thread(targets.attach, work.pid, None, 10)
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
            sources.close()
    # What the first frame tells of was lost before it.
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
