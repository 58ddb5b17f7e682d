"""The power goes while a run is recorded: what was synced is there, and the rest is counted.

The file system is one in a file, and nothing reaches that but what programs sync: a copy of it is
what a disk has after a power cut. Mounting the copy replays its journal, as a machine that boots.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend_builders import frame_bytes, host, key_frame, target
from loop_disk import LoopDisk, mounted
from run_harness import RunHarness
from tidscope_backend.recording.recording import PartLimits
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader

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
    # Where the open part is lost whole, frames are lost until the next key frame, too.
    assert done.losses.frames >= sent - len(there)
    assert done.state == ("incomplete" if done.losses.frames else "complete")
