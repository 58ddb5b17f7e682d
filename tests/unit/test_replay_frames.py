"""Recorded frames are read back exactly, as tables and as frames."""

import itertools
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from recorded import FIELDS, Counters, Reader, Story, check, story
from run_folders import DEEP, run_folder
from tidscope_backend.recording.sealing import seal_part
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.part_tables import levels_of, part_of
from tidscope_backend.store.reader import RunReader
from tidscope_wire.frame import FrameDecoder, split
from tidscope_wire.generated.models import (
    Gap,
    ThreadRenamed,
)

INSTANTS = 330
SECOND_NS = 1_000_000_000


def parts_of(reported: Story, *cuts: int) -> list[list[bytes]]:
    """Cut frames into parts; each cut is before a key frame."""
    edges = [0, *cuts, len(reported.frames)]
    return [reported.frames[start:end] for start, end in itertools.pairwise(edges)]


@pytest.fixture(scope="module", params=range(3 if DEEP else 2))
def reported(request: pytest.FixtureRequest) -> Story:
    """Several stories."""
    return story(INSTANTS, request.param)


FOLDERS = {"half open": 1, "closed": 3} | ({"open": 0} if DEEP else {})


@pytest.fixture(scope="module", params=FOLDERS.values(), ids=list(FOLDERS))
def folder(
    request: pytest.FixtureRequest, reported: Story, tmp_path_factory: pytest.TempPathFactory
) -> RunFolder:
    """A run of three parts."""
    path = tmp_path_factory.mktemp("runs") / "run"
    return run_folder(path, parts_of(reported, 100, 200), FIELDS, request.param)


@pytest.mark.parametrize("instants", [1, 7, 40, INSTANTS, 5000])
def test_frames_of_a_run_tell_the_truth(reported: Story, folder: RunFolder, instants: int) -> None:
    reader = check(reported, list(frames_between(RunReader(folder.path), None, None, instants)))
    assert reader.headers[-1].time_ns == reported.times[-1]
    assert [event for header in reader.headers for event in header.events] == reported.events
    if instants >= INSTANTS + 3:
        assert [header.time_ns for header in reader.headers] == reported.times
    else:
        assert len(reader.headers) <= instants * 1.5 + 7


@pytest.mark.parametrize(
    "stretch", [(3.05, 9.0), (9.95, 10.2), (15.0, 15.0), (0.0, 5.0), (32.0, 99.0), (90.0, 99.0)]
)
def test_a_stretch_of_a_run_tells_the_truth(
    reported: Story, folder: RunFolder, stretch: tuple[float, float]
) -> None:
    from_ns, to_ns = (int(edge * SECOND_NS) for edge in stretch)
    frames = list(frames_between(RunReader(folder.path), from_ns, to_ns, 5000))
    reader = check(reported, frames)
    assert reader.headers[-1].time_ns == max(time for time in reported.times if time <= to_ns)
    inside = [time for time in reported.times if from_ns <= time <= to_ns]
    assert [header.time_ns for header in reader.headers] == (inside or reported.times[-1:])


def test_before_its_start_there_is_nothing(folder: RunFolder) -> None:
    assert not list(frames_between(RunReader(folder.path), 0, 50_000_000, 10))


@pytest.mark.parametrize("level", [1, 2])
def test_coarse_levels_tell_the_truth(
    reported: Story, folder: RunFolder, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = RunReader(folder.path)
    rows = sum(part.rows(level) for part in reader.parts)
    monkeypatch.setattr("tidscope_backend.replay.frames.MAX_ROWS", rows if level == 1 else 1)
    read = check(reported, list(frames_between(reader, None, None, 5000)))
    every = {1: 10, 2: 50}[level]
    assert len(read.headers) == -(-INSTANTS // every) + 1
    assert [event for header in read.headers for event in header.events] == reported.events


def test_samples_hold_each_row_that_was_sampled(reported: Story, folder: RunFolder) -> None:
    sampled = 0
    found: dict[tuple[int, int, int], Counters] = {}
    for row in RunReader(folder.path).samples().to_pylist():
        found[row["tid"], row["start_ns"], row["time_ns"]] = {n: row[n] for n in FIELDS}
    states = dict(zip(reported.times, reported.states, strict=True))
    decoder = FrameDecoder()
    for frame in reported.frames:
        header, rows = decoder.decode(frame)
        for tid in rows.tid.tolist():
            sampled += 1
            state = states[header.time_ns]
            (key,) = (key for key in state if key[0] == tid)
            assert found[(*key, header.time_ns)] == state[key][1]
    # Instants of level 1 repeat what stands at those before them.
    assert sampled < len(found) < 1.2 * sampled
    assert all(states[time][tid, start][1] == row for (tid, start, time), row in found.items())


def test_threads_have_their_counters_at_both_ends(reported: Story, folder: RunFolder) -> None:
    first, last = reported.states[0], reported.states[-1]
    lives = {
        (row["tid"], row["start_ns"]): row for row in RunReader(folder.path).threads().to_pylist()
    }
    begun_before = {key for key in reported.exits if key in first or key[1] > reported.times[0]}
    assert set(lives) == set(first) | set(last) | begun_before
    for key, row in lives.items():
        if key in reported.exits:
            assert row["exited"]
            assert row["exact"]
            assert row["last"] == reported.exits[key]
        else:
            assert (row["name"], row["last"]) == last[key]
            assert row["to_ns"] == reported.times[-1]
        if key in first:
            assert row["first"] == first[key][1]
        else:
            assert all(value in (0, None) for value in row["first"].values())


def test_names_of_a_thread_are_kept(tmp_path: Path) -> None:
    reported = story(INSTANTS, 3)
    folder = run_folder(tmp_path / "run", parts_of(reported, 100, 200), FIELDS, 3)
    renames = [event for event in reported.events if isinstance(event, ThreadRenamed)]
    table = RunReader(folder.path).threads()
    names = [name["name"] for names in table["names"].to_pylist() for name in names]
    assert renames
    assert {event.name for event in renames} <= set(names)


def test_a_hole_is_reported_and_the_state_after_the_next_key_frame_is_right(tmp_path: Path) -> None:
    reported = story(INSTANTS, 1, missing=frozenset(range(120, 140)))
    cut = reported.times.index(201 * 100_000_000)
    folder = run_folder(tmp_path / "run", parts_of(reported, 100, cut), FIELDS, 2)
    for instants in (30, 5000):
        frames = list(frames_between(RunReader(folder.path), None, None, instants))
        headers = [split(frame)[0] for frame in frames]
        gaps = [e for header in headers for e in header.events if isinstance(e, Gap)]
        assert [(gap.from_seq, gap.to_seq) for gap in gaps] == [(120, 139)]
    check(reported, list(frames_between(RunReader(folder.path), 202 * 100_000_000, None, 5000)))


@pytest.mark.parametrize("instants", [30, 150, 5000])
@pytest.mark.parametrize("gap", [range(120, 140), range(195, 205), range(161, 190)])
def test_a_thread_that_began_in_a_gap_is_known_from_the_next_key_frame_on(
    tmp_path: Path, instants: int, gap: range
) -> None:
    reported = story(INSTANTS, 4, key_every=10, missing=frozenset(gap))
    end_ns = max(gap) * 100_000_000
    key_ns = next(
        time
        for frame, time in zip(reported.frames, reported.times, strict=True)
        if time > end_ns and split(frame)[0].kind == "key"
    )
    truth = dict(zip(reported.times, reported.states, strict=True))
    before_ns = max(time for time in reported.times if time < end_ns)
    born = {start for _, start in truth[key_ns] if start > before_ns and start < end_ns}
    assert born
    cuts = [reported.times.index(cut * 100_000_000) for cut in (101, 231)]
    folder = run_folder(tmp_path / "run", parts_of(reported, *cuts), FIELDS, 2)
    reader = Reader()
    keys = 0
    for frame in frames_between(RunReader(folder.path), None, None, instants):
        reader.read(frame)
        header = reader.headers[-1]
        keys += header.kind == "key"
        if header.time_ns < end_ns or header.time_ns >= key_ns:
            assert reader.state() == truth[header.time_ns]
    assert keys == 2


def test_closing_again_writes_the_same(reported: Story, tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", parts_of(reported, 100, 200), FIELDS, 0)
    frames = folder.open_part(2).read_bytes()
    seal_part(folder, 2)
    assert folder.open_parts() == [1, 3]
    assert folder.sealed_parts() == [2]
    once = [path.read_bytes() for path in (folder.samples(2), folder.signals(2), folder.events(2))]
    # Killed before the frames were deleted.
    folder.open_part(2).write_bytes(frames)
    assert folder.sealed_parts() == []
    seal_part(folder, 2)
    again = [path.read_bytes() for path in (folder.samples(2), folder.signals(2), folder.events(2))]
    assert again == once


def test_an_unfinished_frame_is_ignored(reported: Story, tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", [reported.frames[:20]], FIELDS, 0)
    whole = folder.open_part(1).read_bytes()
    folder.open_part(1).write_bytes(whole[:-1])
    reader = check(reported, list(frames_between(RunReader(folder.path), None, None, 100)))
    assert [header.time_ns for header in reader.headers] == reported.times[:19]


def test_levels() -> None:
    ms = 1_000_000
    instants = [
        (True, 0),
        (False, 100 * ms),
        (False, 949 * ms),
        (False, 950 * ms),
        (False, 1050 * ms),
    ]
    instants += [(True, 1100 * ms), (False, 2000 * ms), (False, 2050 * ms)]
    assert levels_of(instants).tolist() == [2, 0, 0, 1, 0, 2, 0, 1]


def test_a_row_group_holds_one_level(reported: Story, folder: RunFolder) -> None:
    for part in folder.sealed_parts():
        footer = pq.read_metadata(folder.samples(part))
        groups = [pq.ParquetFile(folder.samples(part)).read_row_group(n) for n in range(3)]
        assert footer.num_row_groups == 3
        assert [set(group["level"].to_pylist()) for group in groups] == [{2}, {1}, {0}]


def test_rows_are_counted_without_repeats(reported: Story) -> None:
    part = part_of(reported.frames, FIELDS)
    assert part.rows == sum(split(frame)[0].rows for frame in reported.frames)
