"""When a run ends although no frame says so."""

from pathlib import Path

import pytest
from backend_builders import host, stream, target
from run_harness import RunHarness
from tidscope_backend.cli.run_text import summary
from tidscope_wire.generated.models import RunManifest, TargetState
from tidscope_wire.problems import ProblemError

UNREPORTED = "threads that were born or ended in the 2 s before it may be missing, too."
"""The collector had not reported them yet."""


async def recorded(home: Path, **request: float) -> tuple[RunHarness, str]:
    harness = RunHarness(home)
    await harness.start()
    await harness.written(*stream(1, 11))
    return harness, (await harness.begin(**request)).id


async def ended(harness: RunHarness, run: str) -> RunManifest:
    await harness.recorder.wait_saved()
    await harness.stop()
    return harness.manifest(run)


async def test_nothing_ends_it_while_frames_come(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    for seq in range(12, 20):
        await harness.written(*stream(seq, seq))
        await harness.look(60)
    assert harness.manifest(run).state == "recording"
    await harness.stop()


async def test_a_silent_collector_may_come_back(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    harness.registry.disconnect_host(host().id)
    await harness.look(3600)
    harness.registry.connect_host(host(), [target()])
    await harness.written(*stream(12, 15))
    done = await harness.recorder.stop(run)
    assert (done.state, done.counts.frames) == ("complete", 5)
    await harness.stop()


@pytest.mark.parametrize(
    ("state", "how"),
    [
        ("detached", ("interrupted", "collector-lost")),
        ("exited", ("incomplete", "target-ended")),
    ],
)
async def test_its_last_frame_does_not_come(
    tmp_path: Path, state: TargetState, how: tuple[str, str]
) -> None:
    harness, run = await recorded(tmp_path)
    harness.registry.update_target(target(state=state))
    await harness.look(100)
    await harness.written(*stream(12, 12))
    await harness.look(4)
    assert harness.manifest(run).state == "recording"
    await harness.look(2)
    done = await ended(harness, run)
    assert ((done.state, done.end), done.to_ns) == (how, 1_200_000_000)
    assert done.target.state == state


async def test_another_collector_does_not_know_its_target(tmp_path: Path) -> None:
    harness, run = await recorded(tmp_path)
    harness.registry.disconnect_host(host().id)
    other = host().collector.model_copy(update={"pid": 2})
    harness.registry.connect_host(host().model_copy(update={"collector": other}), [])
    await harness.look()
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
    done = await harness.recorder.stop(run, target_ended=True)
    assert (done.state, done.end) == ("incomplete", "target-ended")
    assert done.end_detail.startswith("The process has ended; its last frames are missing.")
    # At least the frame that says so.
    assert (done.losses.frames, done.losses.gaps) == (1, 1)
    await harness.stop()


async def test_stopped_before_any_frame_of_an_ended_process_came(tmp_path: Path) -> None:
    harness = RunHarness(tmp_path)
    await harness.start()
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
    await harness.look(39)
    assert harness.manifest(run).state == "recording"
    await harness.look(2)
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
