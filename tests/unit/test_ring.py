"""The ring: what a restart, its bounds and a cut do to the frames of its tracks."""

import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from backend_builders import HOST_ID, TARGET_ID, host, target
from builders import frame_header
from recorded import FIELDS, check, story
from run_folders import run_folder
from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.announced import AnnouncedTargets
from tidscope_backend.recording.sealing import seal_part, write_summaries
from tidscope_backend.recording.stats import RecordingStats
from tidscope_backend.recording.writer import opening_frames
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.ring.bounds import Place, Stored, to_evict
from tidscope_backend.ring.cutting import NothingKeptError, cut_run
from tidscope_backend.ring.listing import TrackNotFoundError, find_track, ring_tracks
from tidscope_backend.ring.status import RingStatus, open_status, read_status, write_status
from tidscope_backend.ring.tracks import Tracks
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.frame_files import whole_frames
from tidscope_backend.store.reader import RunReader
from tidscope_backend.stream.frames import parse_frame
from tidscope_wire.envelope import split
from tidscope_wire.frame import join
from tidscope_wire.generated.models import Target, TargetExited

RUN = "r-20261129-031200-0000aa"
HOUR = 3600.0
WINDOWS = [(0, 449), (37, 312), (100, 299), (210, 260), (401, 449)]
"""First and last frame."""


def known(*targets: Target) -> HostRegistry:
    """A registry with a connected host."""
    registry = HostRegistry(max_ended=8)
    registry.connect_host(host(), targets or [watched()])
    return registry


def watched(state: str = "attached") -> Target:
    """The target of the story, with its fields."""
    return target().model_copy(update={"fields": list(FIELDS), "state": state})


def fed(
    ring: Path, frames: Sequence[bytes], wall: float = 0.0, most: int = 10**9, age: float = HOUR
) -> Tracks:
    """Tracks of a process that has just begun, and has received frames."""
    ring.mkdir(exist_ok=True)
    registry = known()
    tracks = Tracks(ring, registry, most, age, lambda: wall)
    registry.subscribe(tracks.targets_changed, lambda _: None)
    tracks.recover()
    source = AnnouncedTargets(HOST_ID, registry, [watched()])
    last = tracks.resume_points([TARGET_ID]).get(TARGET_ID, 0)
    for frame in frames:
        header, _ = split(frame)
        if header.seq > last:
            # The name of the story's target is another one.
            tracks.ingest(source, frame)
    return tracks


def seqs(folder: RunFolder) -> list[int]:
    """Numbers of all frames of a track, in order."""
    found: list[int] = RunReader(folder.path).signals(["seq"])["seq"].to_pylist()
    return found


def the_track(ring: Path) -> RunFolder:
    """The only track."""
    (one,) = ring_tracks(ring)
    return RunFolder(ring / one.id)


def test_no_frame_is_lost_or_twice_over_restarts(tmp_path: Path) -> None:
    frames = story(900, 1).frames
    ring = tmp_path / "ring"
    for end in (130, 131, 700, 900):
        tracks = fed(ring, frames[:end])
        for place in sorted(tracks.to_seal):
            seal_part(*place)
            tracks.sealed(place)
        assert (tracks.status.lost, tracks.status.gaps) == (0, 0)
        # The process is killed: nothing is closed but what the kernel closes.
        tracks.close()
    folder = the_track(ring)
    assert seqs(folder) == list(range(1, 901))
    assert folder.sealed_parts() and folder.open_parts()


def test_a_truncated_frame_is_counted_and_sent_again(tmp_path: Path) -> None:
    frames = story(60, 2).frames
    ring = tmp_path / "ring"
    fed(ring, frames[:40]).close()
    path = the_track(ring).open_part(1)
    path.write_bytes(path.read_bytes()[:-5])
    tracks = fed(ring, [])
    assert tracks.status.truncated_bytes > 0
    assert tracks.resume_points([TARGET_ID, "t-1-00000000"]) == {TARGET_ID: 39}
    tracks.close()
    fed(ring, frames).close()
    assert seqs(the_track(ring)) == list(range(1, 61))


def test_missing_frames_are_a_gap(tmp_path: Path) -> None:
    frames = story(60, 3).frames
    tracks = fed(tmp_path / "ring", [*frames[:20], *frames[50:]])
    assert (tracks.status.lost, tracks.status.gaps) == (30, 1)
    assert tracks.status.frames == 30
    tracks.close()


def test_the_oldest_parts_go_first(tmp_path: Path) -> None:
    folders = [RunFolder(tmp_path / name) for name in ("a", "b")]
    parts = {
        Place(folders[0], 1): Stored(10, 100.0, sealed=True),
        Place(folders[1], 1): Stored(20, 150.0, sealed=True),
        Place(folders[0], 2): Stored(30, 200.0, sealed=False),
    }
    assert to_evict(parts, 5, 100, 0) == []
    assert to_evict(parts, 5, 60, 0) == [Place(folders[0], 1)]
    assert to_evict(parts, 40, 70, 0) == [Place(folders[0], 1), Place(folders[1], 1)]
    assert to_evict(parts, 5, 100, 160) == [Place(folders[0], 1), Place(folders[1], 1)]


def test_the_bound_holds_and_ended_tracks_vanish(tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    tracks = fed(ring, story(1900, 4).frames, most=60_000)
    tracks.keep_bounds()
    assert tracks.status.evicted > 0
    assert tracks.status.bytes <= 60_000 or tracks.status.parts == 1
    left = seqs(the_track(ring))
    assert left == list(range(left[0], 1901))
    assert left[0] > 1
    last = frame_header(seq=1901, rows=0, time_ns=10**12, events=[TargetExited(exit_code=None)])
    source = AnnouncedTargets(HOST_ID, known(), [watched()])
    tracks.ingest(source, join(last, b""))
    tracks.status.max_bytes = 0
    tracks.keep_bounds()
    assert list(ring.iterdir()) == []
    assert tracks.status.bytes == tracks.status.parts == 0


def test_a_frame_of_an_unknown_target_is_refused(tmp_path: Path) -> None:
    tracks = fed(tmp_path / "ring", [])
    source = AnnouncedTargets(HOST_ID, known(), [])
    with pytest.raises(CloseError):
        tracks.ingest(source, story(1, 1).frames[0])
    with pytest.raises(CloseError):
        tracks.ingest(source, b"no frame")


def ring_of(tmp_path: Path, frames: Sequence[bytes], sealed: int) -> RunFolder:
    """A track of parts of 100 frames, of which some are sealed."""
    parts = [frames[at : at + 100] for at in range(0, len(frames), 100)]
    return run_folder(tmp_path / "ring" / "r-20261129-030000-0000bb", parts, FIELDS, sealed)


def unix_us(frame: bytes) -> int:
    """Time of a frame."""
    return split(frame)[0].unix_us


@pytest.mark.parametrize(("begin", "end"), WINDOWS)
def test_a_cut_run_is_what_a_recording_has(tmp_path: Path, begin: int, end: int) -> None:
    whole = story(450, 5)
    frames = whole.frames
    track = ring_of(tmp_path, frames, 4)
    runs = tmp_path / "runs"
    runs.mkdir()
    manifest = cut_run(track, runs, RUN, (unix_us(frames[begin]), unix_us(frames[end])), "cut")
    cut = RunReader(runs / RUN)

    # A recording that began and ended at these frames.
    stored = [parse_frame(frame, FIELDS) for frame in frames]
    past_ns = stored[end].time_ns - stored[begin].time_ns
    recorded = opening_frames(stored[: end + 1], past_ns)
    places = sorted({0, *range(100 - begin % 100, len(recorded), 100)})
    parts = [recorded[at:after] for at, after in pairwise([*places, len(recorded)])]
    beside = run_folder(tmp_path / "beside" / RUN, parts, FIELDS, len(parts))
    write_summaries(beside)
    reference = RunReader(beside.path)

    assert cut.signals(["seq"])["seq"].to_pylist() == list(range(begin + 1, end + 2))
    assert cut.threads().sort_by([("tid", "ascending"), ("from_ns", "ascending")]) == (
        reference.threads().sort_by([("tid", "ascending"), ("from_ns", "ascending")])
    )
    assert [one.model_dump() for one in cut.events()] == [
        one.model_dump() for one in reference.events()
    ]
    check(whole, list(frames_between(cut, None, None, 10_000)))
    stats = RecordingStats()
    for frame in recorded:
        stats.add_frame(split(frame)[0])
    ignored = {"bytes", "open_bytes", "thread_samples"}
    assert manifest.counts.model_dump(exclude=ignored) == stats.counts.model_dump(exclude=ignored)
    assert manifest.losses == stats.losses
    assert (manifest.from_ns, manifest.to_ns) == (stored[begin].time_ns, stored[end].time_ns)
    assert (manifest.state, manifest.end, manifest.name) == ("complete", "flight-recorder", "cut")
    assert sorted(path.name for path in runs.iterdir()) == [RUN]


def test_whole_parts_are_linked(tmp_path: Path) -> None:
    frames = story(300, 6).frames
    track = ring_of(tmp_path, frames, 3)
    (tmp_path / "runs").mkdir()
    cut_run(track, tmp_path / "runs", RUN, (unix_us(frames[50]), unix_us(frames[299])))
    cut = RunFolder(tmp_path / "runs" / RUN)
    same = [cut.samples(part).samefile(track.samples(part)) for part in (1, 2, 3)]
    assert same == [False, True, True]


def test_nothing_of_a_window(tmp_path: Path) -> None:
    track = ring_of(tmp_path, story(100, 7).frames, 1)
    with pytest.raises(NothingKeptError):
        cut_run(track, tmp_path, RUN, (1, 2))
    assert not (tmp_path / RUN).exists()


def test_tracks_are_found_by_what_people_call_them(tmp_path: Path) -> None:
    track = ring_of(tmp_path, story(100, 8).frames, 1)
    ring = tmp_path / "ring"
    (one,) = ring_tracks(ring)
    process = one.target.process
    for called in (track.path.name, one.target.id, str(process.pid), process.name):
        assert find_track(ring, called).id == track.path.name
    assert one.to_unix_us - one.from_unix_us == 9_900_000
    with pytest.raises(TrackNotFoundError):
        find_track(ring, "other")


def test_the_status_is_read_as_written() -> None:
    descriptor = open_status()
    assert read_status(descriptor) is None
    assert read_status(None) is None
    write_status(descriptor, RingStatus(pid=7, lost=10**12))
    write_status(descriptor, RingStatus(pid=7, lost=3))
    assert read_status(descriptor) == RingStatus(pid=7, lost=3)


def test_the_process_loads_no_library_of_tables() -> None:
    code = "import sys, tidscope_backend.ring.keeper; print({'numpy', 'pyarrow'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_frames_of_a_part_are_those_that_were_received(tmp_path: Path) -> None:
    frames = story(50, 9).frames
    fed(tmp_path / "ring", frames).close()
    part = the_track(tmp_path / "ring").open_part(1)
    assert list(whole_frames(part.read_bytes())) == list(frames)


CONFINED = """
import subprocess, sys
from pathlib import Path
from tidscope_backend.ring.keeper import confine
confine(Path(sys.argv[1]))
Path(sys.argv[1], "made").touch()
sealer = [sys.executable, "-c", "import tidscope_backend.recording.sealing"]
print(subprocess.run(sealer).returncode)
for refused in (lambda: subprocess.run(["/bin/ls"]), lambda: open("/etc/passwd")):
    try:
        refused()
    except PermissionError as error:
        print(error.filename)
"""


def test_the_process_may_fill_its_folder_and_start_the_sealer_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CONFINED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0", "/bin/ls", "/etc/passwd"]
