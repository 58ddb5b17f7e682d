"""Stacks are taken while a run lasts that asks for them."""

import asyncio
from pathlib import Path

import pytest
from backend_builders import TARGET_ID, stream
from run_harness import RunHarness
from tidscope_backend.recording.stack_leases import LEASE_SECONDS
from tidscope_wire.problems import ProblemError, refusal

LEASE = (TARGET_ID, LEASE_SECONDS)


async def begun(home: Path, **request: object) -> tuple[RunHarness, str]:
    harness = RunHarness(home)
    await harness.start()
    await harness.written(*stream(1, 11))
    return harness, (await harness.begin(**request)).id


async def advance(harness: RunHarness, seconds: float) -> None:
    await harness.advance(seconds)
    await asyncio.sleep(0)


async def test_a_lease_is_renewed_until_the_run_ends(tmp_path: Path) -> None:
    harness, run = await begun(tmp_path, stacks=True)
    assert harness.manifest(run).stacks
    assert harness.leases == [LEASE]
    for seq in range(12, 37):
        await harness.written(*stream(seq, seq))
        await advance(harness, 1)
    assert harness.leases == [LEASE] * 3
    await harness.recorder.stop(run)
    for _ in range(3):
        await advance(harness, 20)
    assert len(harness.leases) == 3
    await harness.stop()


async def test_a_run_without_stacks_takes_no_lease(tmp_path: Path) -> None:
    harness, run = await begun(tmp_path)
    await advance(harness, 20)
    assert harness.leases == []
    assert not harness.manifest(run).stacks
    await harness.stop()


async def test_what_the_collector_refuses_is_not_recorded(tmp_path: Path) -> None:
    harness = RunHarness(tmp_path, no_stacks=refusal("no-stacks", "there is no eBPF", "use Linux"))
    await harness.start()
    await harness.written(*stream(1, 11))
    with pytest.raises(ProblemError) as refused:
        await harness.begin(stacks=True)
    assert refused.value.problem.type.endswith("no-stacks")
    assert harness.recorder.recordings == []
    await harness.begin()
    await harness.stop()


async def test_a_collector_that_fails_later_does_not_end_the_run(tmp_path: Path) -> None:
    harness, run = await begun(tmp_path, stacks=True)
    harness.no_stacks = refusal("no-collector", "it is away", "wait")
    for seq in range(12, 35):
        await harness.written(*stream(seq, seq))
        await advance(harness, 1)
    assert len(harness.leases) == 3
    assert harness.recorder.is_recording(run)
    await harness.stop()


async def test_the_past_alone_needs_no_lease(tmp_path: Path) -> None:
    harness, run = await begun(tmp_path, stacks=True, duration_s=0, past_s=60)
    assert harness.leases == []
    assert not harness.manifest(run).stacks
    await harness.stop()


async def test_the_next_backend_goes_on_with_the_lease(tmp_path: Path) -> None:
    harness, run = await begun(tmp_path, stacks=True)
    await harness.stop()
    later = RunHarness(tmp_path)
    await later.start()
    await later.written(*stream(12, 13))
    await advance(later, 1)
    assert later.leases == [LEASE]
    assert later.recorder.is_recording(run)
    await later.stop()
