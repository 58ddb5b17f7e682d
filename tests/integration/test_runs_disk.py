"""A full disk, a disk that does not answer, and a power cut while a run is recorded.

The file system of the power cut is one in a file, and nothing reaches that but what programs sync:
a copy of it is what a disk has after a power cut. Mounting the copy replays its journal, as a
machine that boots.
"""

import asyncio
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from backend_builders import FIELDS, TARGET_ID, frame_bytes, host, key_frame, stream, target
from backend_server import Backend, running_backend
from capabilities import missing
from live_page import LivePage
from loop_disk import LoopDisk, mounted
from run_folders import open_seqs, singles, until
from run_harness import RunHarness
from tidscope_backend.recording.recording import RESERVE_BYTES, PartLimits
from tidscope_backend.recording.writer import FRAME_OVERHEAD
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.frame_files import whole_bytes
from tidscope_backend.store.reader import RunReader
from tidscope_wire.generated.models import RunManifest
from tidscope_wire.problems import ProblemError

ROOM = 2 * 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "none", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        raise missing("mount", mounted.stderr.strip())
    try:
        yield place
    finally:
        # Lazily: a test that fails may leave files open.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def large(seq: int) -> bytes:
    """A frame of some 30 KiB."""
    return frame_bytes(seq, {tid: [seq] * len(FIELDS) for tid in range(1500)})


async def test_it_ends_with_what_was_written(small_disk: Path) -> None:
    harness = RunHarness(small_disk / "runs")
    await harness.start()
    await harness.written(*stream(1, 3))
    run = (await harness.begin()).id
    sent = 3
    while harness.recorder.recordings:
        sent += 1
        await harness.written(large(sent))
    await harness.recorder.wait_saved()
    done = harness.manifest(run)
    assert (done.state, done.end) == ("interrupted", "disk-full")
    assert done.losses.frames == 1
    assert done.counts.frames == sent - 3
    assert done.end_detail.startswith("The disk was full (No space left on device)")
    assert "1 frame in 1 gap" in done.end_detail
    assert harness.recorder.refused == 1
    assert open_seqs(harness.folder(run)) == singles(3, sent - 1)
    assert len(RunReader(harness.folder(run).path).signals()) == sent - 3
    # The frame that did not fit was cut off, and what was held back is freed.
    part = harness.folder(run).open_part(1)
    assert part.stat().st_size == whole_bytes(part)
    assert list(part.parent.iterdir()) == [part]
    # All that there was available was used, but for what was held back.
    assert ROOM - part.stat().st_size < RESERVE_BYTES + 3 * len(large(1))
    await harness.stop()


async def test_without_room_none_begins_and_nothing_is_left(small_disk: Path) -> None:
    harness = RunHarness(small_disk / "runs")
    await harness.start()
    await harness.written(*stream(1, 3))
    (small_disk / "runs").mkdir()
    with (small_disk / "filler").open("wb", buffering=0) as filler:
        filler.write(b"x" * (ROOM - 64 * 1024))
    with pytest.raises(ProblemError) as refused:
        await harness.begin()
    assert refused.value.problem.status == 507
    assert list((small_disk / "runs").iterdir()) == []
    assert harness.recorder.recordings == []
    await harness.stop()


async def test_a_part_that_cannot_be_sealed_stays_frames(small_disk: Path) -> None:
    harness = RunHarness(small_disk / "runs", seals=True)
    await harness.start()
    await harness.written(key_frame(1))
    run = (await harness.begin()).id
    await harness.written(*(large(seq) for seq in range(2, 20)))
    with (small_disk / "filler").open("wb", buffering=0) as filler:
        # Fill the disk; the room that was held back for the manifest remains.
        filler.write(b"x" * ROOM)
    # Sealing waits until the disk is full again: the end of the run frees some room.
    await harness.sealer.stop()
    await harness.recorder.stop(run)
    with (small_disk / "filler").open("ab", buffering=0) as filler:
        filler.write(b"x" * ROOM)
    harness.sealer.start()
    await harness.sealer.idle()
    assert harness.folder(run).open_parts() == [1]
    assert len(RunReader(harness.folder(run).path).signals()) == 19
    assert harness.manifest(run).end == "stopped"
    await harness.stop()


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
        with disk.frozen():
            waiting = [
                asyncio.create_task(
                    client.patch(f"/api/v1/runs/{stopped}", json={"name": str(number)})
                )
                for number in range(3)
            ]
            # Longer than a second, so that the check of the recording wants to sync.
            began = time.monotonic()
            seq = 3
            while seq < 30 or time.monotonic() - began < 2.5:
                seq += 1
                await collector.send(frame_bytes(seq))
                assert await next_seq(page) == seq
                assert (await client.get("/api/v1/health")).status_code == 200
                assert (await client.get("/metrics")).status_code == 200
                await asyncio.sleep(0.05)
            assert not any(task.done() for task in waiting)
            listed = (await client.get("/api/v1/runs")).json()
            assert {one["id"] for one in listed["runs"]} == {stopped, run}
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
    with disk.frozen():
        harness.send(*(frame_bytes(seq) for seq in range(4, 50)))
        assert harness.recorder.writer.queued_bytes <= room * size
        assert harness.recorder.writer.overflowed >= 46 - room
    await harness.written(key_frame(50), frame_bytes(51))
    harness.send(*(frame_bytes(seq) for seq in range(52, 54)))
    done = await harness.recorder.stop(run)
    assert done.state == "incomplete"
    # Offered, from the frame that it starts with: 3 to 53.
    assert done.counts.frames + done.losses.frames == 51
    assert done.losses.frames == harness.recorder.writer.overflowed == harness.recorder.lost
    # The writer may take what waits after frames were lost: then there is room for more once.
    assert done.losses.gaps in (1, 2)
    assert len(RunReader(harness.folder(run).path).signals()) == done.counts.frames
    await harness.stop()


async def test_a_loss_at_the_end_is_counted(disk: LoopDisk) -> None:
    """No frame follows the lost ones, so no gap shows them."""
    size = len(frame_bytes(4)) + FRAME_OVERHEAD
    harness = RunHarness(disk.place / "runs", max_queued_bytes=5 * size)
    await harness.start()
    harness.send(*stream(1, 3))
    run = (await harness.begin()).id
    with disk.frozen():
        harness.send(*(frame_bytes(seq) for seq in range(4, 20)))
        stopping = asyncio.create_task(harness.recorder.stop(run))
    done = await stopping
    assert done.state == "incomplete"
    assert done.counts.frames + done.losses.frames == 17
    await harness.stop()


KEY_EVERY = 10
SMALL_PARTS = PartLimits(part_bytes=1)
"""Each key frame begins a part."""


@contextmanager
def after_power_cut(disk: LoopDisk, tmp_path: Path, number: int) -> Iterator[Path]:
    copy = disk.after_power_cut(tmp_path / f"copy-{number}")
    try:
        with mounted(copy, tmp_path / f"booted-{number}", "commit=300") as booted:
            yield booted.place / "runs"
    finally:
        copy.unlink()


def frame(seq: int) -> bytes:
    return key_frame(seq) if seq % KEY_EVERY == 1 else frame_bytes(seq)


def seqs_of(folder: RunFolder) -> list[int]:
    found: list[int] = RunReader(folder.path).signals(["seq"])["seq"].to_pylist()
    return found


async def test_a_part_is_on_the_disk_before_the_next_one_begins(
    disk: LoopDisk, tmp_path: Path
) -> None:
    """Nobody syncs a part that was left behind: it would miss its end, in the middle of a run."""
    harness = RunHarness(disk.place / "runs", limits=SMALL_PARTS)
    await harness.start()
    await harness.written(frame(1))
    run = (await harness.begin()).id
    await harness.written(*map(frame, range(2, 25)))
    with after_power_cut(disk, tmp_path, 0) as runs:
        # Parts 1 and 2 are full; of the open one a second may be missing.
        assert seqs_of(RunFolder(runs / run))[:20] == list(range(1, 21))
    await harness.stop()


async def test_what_was_synced_stays_and_the_rest_is_counted(
    disk: LoopDisk, tmp_path: Path
) -> None:
    """Cut at each step: after the start, before and after syncs, while parts are sealed."""
    harness = RunHarness(disk.place / "runs", limits=SMALL_PARTS, seals=True)
    await harness.start()
    await harness.written(frame(1))
    run = (await harness.begin()).id
    synced, seq = 1, 1
    for step in range(6):
        with after_power_cut(disk, tmp_path, step) as runs:
            await check_recovered(runs, run, synced, seq)
        await harness.written(*map(frame, range(seq + 1, seq + 8)))
        seq += 7
        if step % 2:
            await harness.recorder.check_runs(save=step == 3)
            synced = seq
        if step == 4:
            await harness.sealer.idle()
    await harness.recorder.stop(run)
    await harness.sealer.idle()
    with after_power_cut(disk, tmp_path, 99) as runs:
        folder = RunFolder(runs / run)
        done = folder.read_manifest()
        assert (done.state, done.counts.frames) == ("complete", seq)
        assert folder.open_parts() == []
        assert folder.threads.exists()
        assert seqs_of(folder) == list(range(1, seq + 1))
    await harness.stop()


async def check_recovered(runs: Path, run: str, synced: int, sent: int) -> None:
    """A backend that starts on what is left: frames to `synced` are there, none is uncounted."""
    folder = RunFolder(runs / run)
    counted = folder.read_manifest().counts.frames
    there = seqs_of(folder)
    assert there == list(range(1, len(there) + 1))
    assert synced <= len(there) <= sent
    # A manifest never counts what the disk does not have.
    assert counted <= len(there)
    harness = RunHarness(runs, targets=())
    await harness.start()
    try:
        assert [one.run for one in harness.recorder.recordings] == [run]
        harness.registry.connect_host(host(), [target()])
        await harness.written(*map(frame, range(sent + 1, sent + 4)))
        done = await harness.recorder.stop(run)
    finally:
        await harness.stop()
    assert done.counts.frames + done.losses.frames == sent + 3
    # If the open part is lost whole, frames up to the next key frame are lost as well.
    assert done.losses.frames >= sent - len(there)
    assert done.state == ("incomplete" if done.losses.frames else "complete")
