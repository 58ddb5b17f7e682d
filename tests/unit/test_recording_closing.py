"""When a run ends although no frame says so."""

import asyncio
import time
from pathlib import Path

import pytest
from backend_builders import frame_bytes, host, stream, target
from run_harness import RunHarness
from tidscope_backend.cli.run_text import summary
from tidscope_backend.recording.closing import Flush
from tidscope_wire.frame import split
from tidscope_wire.generated.models import (
    FlushReply,
    FramesLost,
    RunManifest,
    Target,
    TargetExited,
    TargetState,
)
from tidscope_wire.problems import ProblemError, refusal

UNREPORTED = "threads that were born or ended in the 2 s before it may be missing, too."
"""The collector had not reported them yet."""


async def recorded(home: Path, close_s: float = 10.0, **request: float) -> tuple[RunHarness, str]:
    harness = RunHarness(home, close_s=close_s)
    await harness.start()
    await harness.written(*stream(1, 11))
    return harness, (await harness.begin(**request)).id


def flushed(seq: int, exited: int | None = 0) -> Flush:
    """A collector that says so of its target."""

    async def flush(_: Target) -> FlushReply:
        return FlushReply(request_id=0, seq=seq, exited=exited)

    return flush


async def silent(_: Target) -> FlushReply:
    """A collector that never answers."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets it")


async def ended(harness: RunHarness, run: str) -> RunManifest:
    await harness.recorder.wait_saved()
    await harness.stop()
    return harness.manifest(run)


async def test_nothing_ends_it_while_frames_come(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    for seq in range(12, 20):
        await harness.written(*stream(seq, seq))
        await harness.advance(60)
    assert harness.manifest(run).state == "recording"
    await harness.stop()


async def test_a_silent_collector_may_come_back(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    harness.registry.disconnect_host(host().id)
    await harness.advance(3600)
    harness.registry.connect_host(host(), [target()])
    await harness.written(*stream(12, 15))
    done = await harness.recorder.stop(run)
    assert (done.state, done.counts.frames) == ("complete", 5)
    await harness.stop()


@pytest.mark.parametrize(
    ("state", "how"),
    [
        ("detached", ("incomplete", "target-ended")),
        ("exited", ("incomplete", "target-ended")),
    ],
)
async def test_its_last_frame_does_not_come(
    tmp_path: Path, state: TargetState, how: tuple[str, str]
) -> None:
    harness, run = await recorded(tmp_path)
    harness.registry.update_target(target(state=state))
    await harness.advance(100)
    await harness.written(*stream(12, 12))
    await harness.advance(4)
    assert harness.manifest(run).state == "recording"
    await harness.advance(2)
    done = await ended(harness, run)
    assert ((done.state, done.end), done.to_ns) == (how, 1_200_000_000)
    assert done.target.state == state


async def test_another_collector_does_not_know_its_target(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    harness.registry.disconnect_host(host().id)
    other = host().collector.model_copy(update={"pid": 2})
    harness.registry.connect_host(host().model_copy(update={"collector": other}), [])
    await harness.advance()
    done = await ended(harness, run)
    assert (done.state, done.end) == ("interrupted", "collector-lost")
    assert "its successor does not know the target" in done.end_detail
    assert UNREPORTED in done.end_detail


async def test_stopped_while_the_collector_is_away(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    harness.registry.disconnect_host(host().id)
    done = await harness.recorder.stop(run)
    assert (done.state, done.end) == ("interrupted", "collector-lost")
    assert UNREPORTED in done.end_detail
    await harness.stop()


async def test_stopped_although_the_last_frames_of_an_ended_process_have_not_come(
    tmp_path: Path,
) -> None:
    harness, run = await recorded(tmp_path)
    harness.flush = flushed(11, exited=None)
    done = await harness.recorder.stop(run, target_ended=True)
    assert (done.state, done.end) == ("incomplete", "target-ended")
    assert done.end_detail.startswith("The process has ended; its last frames are missing.")
    # At least the frame that says so.
    assert (done.losses.frames, done.losses.gaps) == (1, 1)
    await harness.stop()


async def test_stopped_before_any_frame_of_an_ended_process_came(tmp_path: Path) -> None:
    harness = RunHarness(tmp_path)
    await harness.start()
    harness.flush = flushed(0, exited=None)
    done = await harness.recorder.stop((await harness.begin()).id, target_ended=True)
    assert (done.state, done.counts.frames) == ("incomplete", 0)
    assert summary(done, None, "127.0.0.1:1")[0] == (
        "incomplete: The process has ended; its last frames are missing."
    )
    await harness.stop()


@pytest.mark.parametrize("connected", [True, False])
async def test_its_time_is_over_and_no_frame_comes(tmp_path: Path, connected: bool) -> None:
    harness, run = await recorded(tmp_path, duration_s=10)
    if not connected:
        harness.registry.disconnect_host(host().id)
    await harness.advance(39)
    assert harness.manifest(run).state == "recording"
    await harness.advance(2)
    done = await ended(harness, run)
    reported = ("complete", "duration") if connected else ("interrupted", "collector-lost")
    assert (done.state, done.end) == reported


async def test_one_target_can_be_recorded_again_when_it_has_ended(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    with pytest.raises(ProblemError, match=run):
        await harness.begin()
    await harness.recorder.stop(run)
    assert (await harness.begin()).id != run
    # Reported when each begins and ends.
    assert harness.changes == 3
    await harness.stop()


async def test_a_run_that_is_stopped_waits_for_the_frames_that_its_collector_still_has(
    tmp_path: Path,
) -> None:
    harness, run = await recorded(tmp_path)
    harness.flush = flushed(14)
    stopping = asyncio.create_task(harness.recorder.stop(run))
    await harness.asked.wait()
    await harness.written(*stream(12, 13))
    assert not stopping.done()
    # Frames after the one that has everything are of a time after the stop.
    await harness.written(*stream(14, 16))
    done = await stopping
    assert (done.state, done.end, done.end_detail) == ("complete", "stopped", "It was stopped.")
    assert (done.to_ns, done.counts.frames) == (1_400_000_000, 4)
    assert done.losses.tail_ns == 0
    await harness.stop()


async def test_two_who_stop_a_run_get_the_same_end(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    harness.flush = flushed(12)
    stopping = [asyncio.create_task(harness.recorder.stop(run)) for _ in range(2)]
    await harness.asked.wait()
    await harness.written(*stream(12, 12))
    first, second = await asyncio.gather(*stopping)
    assert first == second
    await harness.stop()


async def test_what_the_collector_does_not_deliver_in_time_is_stated(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path, close_s=0.05)
    await harness.written(*stream(12, 12))
    harness.now_s += 18
    harness.flush = flushed(20, exited=88_549)
    done = await harness.recorder.stop(run)
    assert (done.state, done.end) == ("incomplete", "stopped")
    losses = done.losses
    assert (losses.frames, losses.gaps) == (8, 1)
    # The first frame that came was of 1.2 s.
    assert (losses.tail_ns, losses.tail_samples) == (18_000_000_000, 180)
    assert losses.missing_ns == losses.tail_ns
    assert losses.tail_exits == 88_549
    assert summary(done, None, "127.0.0.1:1")[0] == (
        "incomplete: It was stopped. Of frames up to 20, those after 12 did not arrive within "
        "0.05 s. Missing: 8 frames in 1 gap (0.0 s), the last 18.0 s (180 samples), "
        "88549 exits before its end."
    )
    await harness.stop()


async def test_a_collector_that_does_not_answer_leaves_the_run_incomplete(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path, close_s=0.05)
    await harness.written(*stream(12, 12))
    harness.now_s += 2
    harness.flush = silent
    done = await harness.recorder.stop(run)
    assert (done.state, done.losses.tail_exits) == ("incomplete", None)
    assert done.end_detail == (
        "It was stopped. The collector did not confirm its last frame within 0.05 s. "
        "Missing: the last 2.0 s (20 samples), an unknown number of exits before its end."
    )
    await harness.stop()


async def test_the_missing_end_is_measured_by_the_clock_of_the_host(tmp_path: Path) -> None:
    """A run of past frames alone, so no arrival says how old they are."""
    harness = RunHarness(tmp_path, close_s=0.05)
    await harness.start()
    frames = stream(1, 11)
    await harness.written(*frames)
    last_us = split(frames[-1])[0].unix_us
    before_us = time.time_ns() // 1000
    slow = host().model_copy(update={"clock_ahead_us": last_us + 2_000_000 - before_us})
    harness.registry.connect_host(slow, harness.targets)
    run = (await harness.begin()).id
    harness.flush = silent
    done = await harness.recorder.stop(run)
    since_ns = time.time_ns() - before_us * 1000
    assert 2_000_000_000 <= done.losses.tail_ns <= 2_000_000_000 + since_ns
    assert done.host.clock_ahead_us == slow.clock_ahead_us
    await harness.stop()


async def test_a_collector_that_refuses_leaves_the_run_incomplete(tmp_path: Path) -> None:
    async def refuses(_: Target) -> FlushReply:
        raise refusal("unknown-target", "no target is attached", "attach again")

    harness, run = await recorded(tmp_path)
    harness.flush = refuses
    done = await harness.recorder.stop(run)
    assert done.state == "incomplete"
    assert "no target is attached" in done.end_detail
    await harness.stop()


async def test_a_collector_that_is_lost_while_a_run_ends_interrupts_it(tmp_path: Path) -> None:
    async def lost(_: Target) -> FlushReply:
        harness.registry.disconnect_host(host().id)
        raise refusal("no-collector", "the connection was lost", "wait")

    harness, run = await recorded(tmp_path)
    await harness.written(*stream(12, 12))
    harness.now_s += 3
    harness.flush = lost
    done = await harness.recorder.stop(run)
    assert (done.state, done.end) == ("interrupted", "collector-lost")
    assert (done.losses.tail_ns, done.losses.tail_samples) == (3_000_000_000, 30)
    await harness.stop()


async def test_a_target_that_ends_while_its_run_is_stopped_ends_it(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    harness.flush = flushed(13, exited=None)
    stopping = asyncio.create_task(harness.recorder.stop(run))
    await harness.asked.wait()
    await harness.written(*stream(12, 12), frame_bytes(13, events=[TargetExited(exit_code=0)]))
    done = await stopping
    assert (done.state, done.end) == ("complete", "target-ended")
    await harness.stop()


async def test_frames_that_the_collector_has_lost_are_not_waited_for(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    harness.flush = flushed(14)
    stopping = asyncio.create_task(harness.recorder.stop(run))
    await harness.asked.wait()
    await harness.written(*stream(12, 12))
    harness.recorder.frames_lost(
        FramesLost(target=target().id, from_seq=13, to_seq=14, reason="the buffer was full")
    )
    done = await stopping
    assert (done.state, done.losses.frames) == ("incomplete", 2)
    await harness.stop()


async def test_the_time_of_a_run_is_over_once_the_collector_has_confirmed_it(
    tmp_path: Path,
) -> None:
    harness, run = await recorded(tmp_path, duration_s=1)
    harness.flush = flushed(23)
    await harness.written(*stream(12, 21))
    assert harness.manifest(run).state == "recording"
    await harness.written(*stream(22, 30))
    done = await ended(harness, run)
    assert (done.state, done.end, done.to_ns) == ("complete", "duration", 2_300_000_000)


async def test_a_collector_that_is_asked_to_end_says_which_frames_are_the_last(
    tmp_path: Path,
) -> None:
    harness, run = await recorded(tmp_path)
    harness.flush = silent
    harness.recorder.collector_ends({target().id: 13})
    await harness.written(*stream(12, 13))
    done = await ended(harness, run)
    assert (done.state, done.end) == ("complete", "stopped")
    assert (done.end_detail, done.to_ns) == ("The collector was asked to end.", 1_300_000_000)
