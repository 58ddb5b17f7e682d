"""The disk is full while a run is recorded: what was written is whole, and the run says so."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from backend_builders import FIELDS, frame_bytes, key_frame, stream
from capabilities import missing
from run_folders import open_seqs, singles
from run_harness import RunHarness
from tidscope_backend.recording.recording import RESERVE_BYTES
from tidscope_backend.store.part_files import whole_bytes
from tidscope_backend.store.reader import RunReader
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
        # As much as fits; what was held back for the manifest is still there.
        filler.write(b"x" * ROOM)
    await harness.recorder.stop(run)
    with (small_disk / "filler").open("ab", buffering=0) as filler:
        filler.write(b"x" * ROOM)
    await harness.sealer.idle()
    assert harness.folder(run).open_parts() == [1]
    assert len(RunReader(harness.folder(run).path).signals()) == 19
    assert harness.manifest(run).end == "stopped"
    await harness.stop()
