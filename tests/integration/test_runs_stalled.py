"""A disk that does not answer: the backend does, and what could not be written is counted."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from backend_builders import TARGET_ID, frame_bytes, key_frame, stream, target
from backend_server import Backend, running_backend
from live_page import LivePage
from loop_disk import LoopDisk
from run_folders import singles, until
from run_harness import RunHarness
from tidscope_backend.recording.writer import FRAME_OVERHEAD
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader
from tidscope_wire.generated.models import RunManifest

WAIT = 200


@pytest.fixture
async def backend(disk: LoopDisk) -> AsyncIterator[Backend]:
    async with asyncio.timeout(WAIT), running_backend(runs_dir=disk.place / "runs") as running:
        yield running


async def next_seq(page: LivePage) -> int:
    header, _ = await page.frame()
    return header.seq


async def test_pages_and_requests_are_served_while_the_disk_hangs(
    backend: Backend, disk: LoopDisk
) -> None:
    """Recording, starting, changing, deleting and listing runs: whatever waits for the disk waits
    alone, and after the thaw nothing is missing."""
    async with (
        backend.collector(targets=[target()]) as collector,
        backend.page() as page,
        backend.program() as client,
        (await collector.greeted()).confirming(),
    ):
        await page.subscribe(TARGET_ID)
        await collector.send(*stream(1, 3))
        while await next_seq(page) < 3:
            pass
        first = RunManifest.model_validate_json(
            (await client.post("/api/v1/runs", json={"target": TARGET_ID, "past_s": 1})).content
        )
        stopped = (await client.post(f"/api/v1/runs/{first.id}/stop")).json()["id"]
        answer = await client.post("/api/v1/runs", json={"target": TARGET_ID})
        run = answer.json()["id"]
        disk.freeze()
        waiting = [
            asyncio.create_task(client.patch(f"/api/v1/runs/{stopped}", json={"name": str(number)}))
            for number in range(3)
        ]
        # Longer than a second, so that the check of the recording wants to sync.
        began = time.monotonic()
        seq = 3
        while seq < 30 or time.monotonic() - began < 2.5:
            seq += 1
            await collector.send(frame_bytes(seq))
            assert await next_seq(page) == seq
            assert (await client.get("/health")).status_code == 200
            assert (await client.get("/metrics")).status_code == 200
            await asyncio.sleep(0.05)
        assert not any(task.done() for task in waiting)
        listed = (await client.get("/api/v1/runs")).json()
        assert {one["id"] for one in listed["runs"]} == {stopped, run}
        disk.thaw()
        await asyncio.gather(*waiting)
        done = RunManifest.model_validate_json(
            (await client.post(f"/api/v1/runs/{run}/stop")).content
        )
        assert (done.state, done.losses.frames) == ("complete", 0)
        assert done.counts.frames == seq - 2
        folder = RunFolder(disk.place / "runs" / run)
        await until(folder.threads.exists)
        found = RunReader(folder.path).signals(["first_seq", "seq"])
        pairs = zip(found["first_seq"].to_pylist(), found["seq"].to_pylist(), strict=True)
        assert list(pairs) == singles(3, seq)


async def test_what_waits_for_the_disk_is_bounded_and_the_rest_is_counted(
    disk: LoopDisk,
) -> None:
    room = 10
    size = len(frame_bytes(4)) + FRAME_OVERHEAD
    harness = RunHarness(disk.place / "runs", max_queued_bytes=room * size)
    await harness.start()
    harness.send(*stream(1, 3))
    run = (await harness.begin()).id
    disk.freeze()
    try:
        harness.send(*(frame_bytes(seq) for seq in range(4, 50)))
        assert harness.recorder.writer.queued_bytes <= room * size
        assert harness.recorder.writer.overflowed >= 46 - room
    finally:
        disk.thaw()
    await harness.written(key_frame(50), frame_bytes(51))
    harness.send(*(frame_bytes(seq) for seq in range(52, 54)))
    done = await harness.recorder.stop(run)
    assert done.state == "incomplete"
    # Offered, from the frame that it starts with: 3 to 53.
    assert done.counts.frames + done.losses.frames == 51
    assert done.losses.frames == harness.recorder.writer.overflowed == harness.recorder.lost
    assert done.losses.gaps == 1
    assert len(RunReader(harness.folder(run).path).signals()) == done.counts.frames
    await harness.stop()


async def test_a_loss_at_the_end_is_counted(disk: LoopDisk) -> None:
    """No frame follows the lost ones, so no gap shows them."""
    size = len(frame_bytes(4)) + FRAME_OVERHEAD
    harness = RunHarness(disk.place / "runs", max_queued_bytes=5 * size)
    await harness.start()
    harness.send(*stream(1, 3))
    run = (await harness.begin()).id
    disk.freeze()
    try:
        harness.send(*(frame_bytes(seq) for seq in range(4, 20)))
        stopping = asyncio.create_task(harness.recorder.stop(run))
    finally:
        disk.thaw()
    done = await stopping
    assert done.state == "incomplete"
    assert done.counts.frames + done.losses.frames == 17
    await harness.stop()
