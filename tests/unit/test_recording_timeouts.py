"""When a run ends although no frame says so."""

from pathlib import Path

import pytest
from backend_builders import host, stream, target
from run_rig import RunRig
from tidscope_wire.generated.models import RunManifest, TargetState
from tidscope_wire.problems import ProblemError


async def recorded(home: Path, **request: float) -> tuple[RunRig, str]:
    rig = RunRig(home)
    await rig.start()
    rig.send(*stream(1, 11))
    return rig, (await rig.begin(**request)).id


async def ended(rig: RunRig, run: str) -> RunManifest:
    await rig.recorder.wait_saved()
    await rig.stop()
    return rig.manifest(run)


async def test_nothing_ends_it_while_frames_come(tmp_path: Path) -> None:
    rig, run = await recorded(tmp_path)
    for seq in range(12, 20):
        rig.send(*stream(seq, seq))
        await rig.look(60)
    assert rig.manifest(run).state == "recording"
    await rig.stop()


async def test_a_silent_collector_may_come_back(tmp_path: Path) -> None:
    rig, run = await recorded(tmp_path)
    rig.registry.disconnect_host(host().id)
    await rig.look(3600)
    rig.registry.connect_host(host(), [target()])
    rig.send(*stream(12, 15))
    done = await rig.recorder.stop(run)
    assert (done.state, done.counts.frames) == ("complete", 5)
    await rig.stop()


@pytest.mark.parametrize(
    ("state", "end"), [("detached", "collector-lost"), ("exited", "target-ended")]
)
async def test_its_last_frame_does_not_come(tmp_path: Path, state: TargetState, end: str) -> None:
    rig, run = await recorded(tmp_path)
    rig.registry.update_target(target(state=state))
    await rig.look(100)
    rig.send(*stream(12, 12))
    await rig.look(4)
    assert rig.manifest(run).state == "recording"
    await rig.look(2)
    done = await ended(rig, run)
    assert (done.state, done.end, done.to_ns) == ("interrupted", end, 1_200_000_000)
    assert done.target.state == state


async def test_another_collector_does_not_know_its_target(tmp_path: Path) -> None:
    rig, run = await recorded(tmp_path)
    rig.registry.disconnect_host(host().id)
    other = host().collector.model_copy(update={"pid": 2})
    rig.registry.connect_host(host().model_copy(update={"collector": other}), [])
    await rig.look()
    done = await ended(rig, run)
    assert (done.state, done.end) == ("interrupted", "collector-lost")
    assert "its successor does not know the target" in done.end_detail


async def test_stopped_while_the_collector_is_away(tmp_path: Path) -> None:
    rig, run = await recorded(tmp_path)
    rig.registry.disconnect_host(host().id)
    done = await rig.recorder.stop(run)
    assert (done.state, done.end) == ("interrupted", "collector-lost")
    await rig.stop()


@pytest.mark.parametrize("connected", [True, False])
async def test_its_time_is_over_and_no_frame_comes(tmp_path: Path, connected: bool) -> None:
    rig, run = await recorded(tmp_path, duration_s=10)
    if not connected:
        rig.registry.disconnect_host(host().id)
    await rig.look(39)
    assert rig.manifest(run).state == "recording"
    await rig.look(2)
    done = await ended(rig, run)
    told = ("complete", "duration") if connected else ("interrupted", "collector-lost")
    assert (done.state, done.end) == told


async def test_one_target_can_be_recorded_again_when_it_has_ended(tmp_path: Path) -> None:
    rig, run = await recorded(tmp_path)
    with pytest.raises(ProblemError, match=run):
        await rig.begin()
    await rig.recorder.stop(run)
    assert (await rig.begin()).id != run
    # Told when each begins and ends.
    assert rig.changes == 3
    await rig.stop()
