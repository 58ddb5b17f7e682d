"""A run that was cut short: taken up by the next backend, or ended, and nothing whole is lost."""

import json
import os
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from backend_builders import frame_bytes, host, key_frame, stream, target
from run_folders import open_seqs, singles
from run_harness import RunHarness
from tidscope_backend.processes import ProgramEnd
from tidscope_backend.recording.endings import Ending
from tidscope_backend.recording.recording import PartLimits
from tidscope_backend.recording.sealing import recover_recording
from tidscope_backend.store.folder import RunFolder, RunLock
from tidscope_backend.store.frame_files import pack_frame, whole_bytes, whole_frames
from tidscope_backend.store.reader import RunReader
from tidscope_wire.generated.models import TargetExited


@asynccontextmanager
async def started(home: Path, **changes: Any) -> AsyncIterator[RunHarness]:
    harness = RunHarness(home, **changes)
    await harness.start()
    try:
        yield harness
    finally:
        await harness.stop()


async def killed(home: Path, left: Path, first: int, last: int, **request: Any) -> str:
    """Record frames, and copy the folder as a kill would leave it; the id of the run."""
    async with started(home) as harness:
        await harness.written(*stream(1, first))
        run = (await harness.begin(**request)).id
        await harness.written(*stream(first + 1, last))
        shutil.copytree(home / run, left / run)
    return run


async def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    async with started(tmp_path / "b", targets=()) as harness:
        assert [one.run for one in harness.recorder.recordings] == [run]
        harness.registry.connect_host(host(), [target()])
        # The collector replays all it has.
        await harness.written(*stream(1, 30))
        assert open_seqs(harness.folder(run)) == singles(11, 30)
        done = await harness.recorder.stop(run)
        assert (done.state, done.end, done.losses.frames) == ("complete", "stopped", 0)
        # A recorder that was never killed counts the same, including frames after its manifest.
        assert (done.counts.frames, done.counts.thread_samples) == (20, 20)


async def test_a_run_that_is_stopped_while_its_first_frame_waits_for_the_disk_is_resumed(
    tmp_path: Path,
) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    async with started(tmp_path / "b") as harness:
        harness.disk.append(time.sleep, 0.2)
        harness.send(*stream(21, 22))
        done = await harness.recorder.stop(run)
        assert (done.state, done.end, done.counts.frames) == ("complete", "stopped", 12)


async def test_a_hole_is_counted(tmp_path: Path) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    async with started(tmp_path / "b") as harness:
        await harness.written(*stream(25, 30))
        done = await harness.recorder.stop(run)
        assert (done.losses.frames, done.losses.gaps) == (4, 1)
        assert done.losses.missing_ns == 500_000_000


async def test_it_ends_if_its_target_does_not_come_back(tmp_path: Path) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    async with started(tmp_path / "b", targets=()) as harness:
        await harness.advance(29)
        assert harness.manifest(run).state == "recording"
        await harness.advance(2)
        done = harness.manifest(run)
        assert (done.state, done.end) == ("interrupted", "backend-lost")
        assert done.to_ns == 2_000_000_000
        assert "all after the last frame is missing" in done.end_detail
        assert "threads that were born or ended in the 2 s before it" in done.end_detail
        await harness.sealer.idle()
        assert harness.closed == [(run, 1), (run, None)]
        assert harness.recorder.recordings == []


async def test_it_ends_at_once_if_the_collector_does_not_know_it(tmp_path: Path) -> None:
    """Both were killed: the new collector of that host has other targets."""
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    async with started(tmp_path / "b", targets=()) as harness:
        harness.registry.connect_host(host(), [target("t-7-00000000")])
        await harness.advance()
        assert harness.manifest(run).end == "backend-lost"


async def test_the_time_at_which_it_ends_is_kept(tmp_path: Path) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20, duration_s=1.5)
    async with started(tmp_path / "b") as harness:
        await harness.written(*stream(1, 40))
        await harness.recorder.wait_saved()
        done = harness.manifest(run)
        # All had arrived before the collector was asked.
        assert (done.end, done.to_ns) == ("duration", 4_000_000_000)


async def test_killed_between_the_last_frame_and_the_manifest(tmp_path: Path) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    last = pack_frame(frame_bytes(21, events=[TargetExited(exit_code=0)]))
    with RunFolder(tmp_path / "b" / run).open_part(1).open("ab") as part:
        part.write(last)
    async with started(tmp_path / "b") as harness:
        await harness.recorder.wait_saved()
        done = harness.manifest(run)
        assert (done.state, done.end, done.to_ns) == ("complete", "target-ended", 2_100_000_000)


async def test_a_backend_that_is_asked_to_end_leaves_it_to_the_next(tmp_path: Path) -> None:
    async with started(tmp_path) as harness:
        await harness.written(*stream(1, 11))
        run = (await harness.begin()).id
        await harness.written(*stream(12, 15))
    left = RunFolder(tmp_path / run).read_manifest()
    assert (left.state, left.end) == ("interrupted", "backend-lost")
    assert left.to_ns == 1_500_000_000
    async with started(tmp_path) as harness:
        await harness.written(*stream(1, 20))
        assert open_seqs(harness.folder(run)) == singles(11, 20)
        done = await harness.recorder.stop(run)
        assert (done.state, done.end, done.counts.frames) == ("complete", "stopped", 10)


async def test_two_backends_with_one_folder_leave_each_other_alone(tmp_path: Path) -> None:
    async with started(tmp_path) as first:
        await first.written(*stream(1, 11))
        run = (await first.begin()).id
        async with started(tmp_path) as second:
            assert second.recorder.recordings == []
            await second.written(*stream(1, 20))
        await first.written(*stream(12, 13))
        assert open_seqs(first.folder(run)) == singles(11, 13)
        assert (await first.recorder.stop(run)).state == "complete"


async def test_a_part_that_was_begun_and_has_no_frame(tmp_path: Path) -> None:
    """Killed between the making of a file and the first frame in it."""
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    folder = RunFolder(tmp_path / "b" / run)
    folder.open_part(2).write_bytes(pack_frame(key_frame(21))[:9])
    async with started(tmp_path / "b") as harness:
        assert (
            harness.recorder.current_manifest(folder, harness.manifest(run)).losses.truncated_bytes
            == 9
        )
        # A part begins with a key frame: what comes before one cannot be kept.
        await harness.written(*stream(1, 30))
        assert open_seqs(folder) == singles(11, 30)
        assert folder.open_parts() == [1, 2]


async def test_cut_at_each_byte_all_whole_frames_are_read(tmp_path: Path) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 9, 10)
    part = RunFolder(tmp_path / "b" / run).open_part(1)
    data = part.read_bytes()
    frames = list(whole_frames(data))
    ends = [sum(len(pack_frame(frame)) for frame in frames[:count]) for count in range(3)]
    assert ends[-1] == len(data)
    for length in range(len(data), -1, -1):
        os.truncate(part, length)
        whole = sum(end <= length for end in ends) - 1
        assert list(whole_frames(data[:length])) == frames[:whole]
        assert whole_bytes(part) == ends[whole]


async def test_cut_anywhere_it_is_recover_recording(tmp_path: Path) -> None:
    """At the ends of frames, of their lengths and headers, and between."""
    run = await killed(tmp_path / "a", tmp_path / "b", 9, 12)
    folder = RunFolder(tmp_path / "b" / run)
    data, manifest = folder.open_part(1).read_bytes(), folder.manifest.read_bytes()
    ends = [0]
    for frame in whole_frames(data):
        ends.append(ends[-1] + len(pack_frame(frame)))
    near = {end + step for end in ends for step in (-5, -1, 0, 1, 4, 5, 8)}
    for length in sorted({*near, *range(0, len(data), 311)}):
        if not 0 <= length <= len(data):
            continue
        folder.open_part(1).write_bytes(data[:length])
        folder.manifest.write_bytes(manifest)
        whole = sum(end <= length for end in ends) - 1
        if whole:
            table = RunReader(folder.path).signals(["seq"])
            assert table["seq"].to_pylist() == list(range(9, 9 + whole)), length
        lock = RunLock.acquire(folder)
        assert lock is not None
        recording, _ = recover_recording(folder, lock, folder.read_manifest(), PartLimits())
        stats = recording.stats
        recording.end(Ending("stopped", "complete", ""))
        lock.release()
        assert stats.losses.truncated_bytes == length - ends[whole], length
        assert stats.counts.frames == whole, length
        # The manifest had counted the first of them.
        assert stats.losses.frames == (not whole), length
        assert folder.open_part(1).exists() == bool(whole)


@pytest.mark.parametrize("junk", [b"\0" * 8, b"\0" * 5000, b"\xff" * 40], ids=len)
async def test_what_a_failure_of_power_leaves_is_cut_off(tmp_path: Path, junk: bytes) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    with RunFolder(tmp_path / "b" / run).open_part(1).open("ab") as part:
        part.write(junk)
    async with started(tmp_path / "b") as harness:
        await harness.written(*stream(1, 25))
        assert open_seqs(harness.folder(run)) == singles(11, 25)
        assert (await harness.recorder.stop(run)).losses.truncated_bytes == len(junk)


async def test_a_manifest_that_is_none_is_left_alone(tmp_path: Path) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    folder = RunFolder(tmp_path / "b" / run)
    folder.manifest.write_text(json.dumps({"id": run, "state": "recording"}))
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    async with started(tmp_path / "b") as harness:
        assert harness.recorder.recordings == []
        await harness.written(*stream(1, 30))
    assert {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()} == before


async def test_parts_that_were_not_closed_are_closed(tmp_path: Path) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    folder = RunFolder(tmp_path / "b" / run)
    manifest = folder.read_manifest()
    folder.write_manifest(manifest.model_copy(update={"state": "complete", "end": "stopped"}))
    async with started(tmp_path / "b") as harness:
        assert harness.recorder.recordings == []
        await harness.sealer.idle()
        assert harness.closed == [(run, 1), (run, None)]
        assert harness.manifest(run).end == "stopped"


SECOND_US = 1_000_000


@pytest.mark.parametrize(
    ("ends", "end", "why"),
    [
        (
            [("collector", 1, 0), ("backend", 50, 300_000)],
            "collector-lost",
            "The collector ended by SIGKILL; the backend ended by SIGKILL 0.3 s after that: ",
        ),
        (
            [("backend", 50, 0), ("collector", 1, 2 * SECOND_US)],
            "collector-lost",
            "The collector ended by SIGKILL; the backend ended by SIGKILL 2.0 s before that: ",
        ),
        # Ends before the run began, and of other collectors, are none of its business.
        (
            [("collector", 1, -3600 * SECOND_US), ("collector", 7, 0), ("backend", 50, 1)],
            "backend-lost",
            "The backend and the collector ended while recording, and nobody has seen which ",
        ),
        (
            [],
            "backend-lost",
            "The backend and the collector ended while recording, and nobody has seen which ",
        ),
    ],
)
async def test_of_two_that_were_killed_the_supervisors_log_names_the_one_that_matters(
    tmp_path: Path, ends: list[tuple[str, int, int]], end: str, why: str
) -> None:
    run = await killed(tmp_path / "a", tmp_path / "b", 11, 20)
    async with started(tmp_path / "b", targets=()) as harness:
        begun_us = harness.manifest(run).created_unix_us + SECOND_US
        harness.ends = [
            ProgramEnd(name, pid, begun_us + at_us, "by SIGKILL") for name, pid, at_us in ends
        ]
        other = host().collector.model_copy(update={"pid": 2})
        harness.registry.connect_host(host().model_copy(update={"collector": other}), [])
        assert [one.id for one in harness.recorder.unfinished_targets(host().id, 2)] == [
            target().id
        ]
        assert harness.recorder.unfinished_targets(host().id, 1) == []
        await harness.advance()
        done = harness.manifest(run)
        assert (done.state, done.end) == ("interrupted", end)
        assert done.end_detail.startswith(f"{why}")
        assert "all after the last frame is missing" in done.end_detail
        # The builders' frames are of an earlier year.
        assert done.losses.tail_ns == done.losses.missing_ns > 0
        assert done.losses.tail_exits is None
