"""The overview of a run: what it is opened from says what its parts say, extremes included."""

import asyncio
import shutil
import threading
from collections.abc import Sequence
from itertools import pairwise
from math import isnan, nan
from pathlib import Path

import pyarrow as pa
import pytest
from backend_server import running_backend
from builders import frame_header
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from recorded import FIELDS, Reader, Story, check, story
from run_builders import RUN_ID
from run_folders import run_folder
from tidscope_backend.exchange.packing import pack_run
from tidscope_backend.exchange.rewriting import rewrite_run
from tidscope_backend.exchange.unpacking import unpack
from tidscope_backend.recording.recording import DEFAULT_LIMITS
from tidscope_backend.recording.sealing import recover_run, write_summaries
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import RunFolder, RunLock
from tidscope_backend.store.frame_files import whole_frames
from tidscope_backend.store.overview import ALWAYS, Overview
from tidscope_backend.store.overview_maker import PROCESS_TID
from tidscope_backend.store.reader import RunReader
from tidscope_wire.frame import join, split
from tidscope_wire.generated.models import Gap, ThreadExited

SECOND_NS = 1_000_000_000
INSTANTS = 650
Reading = tuple[int, float]
"""Nanoseconds, counter units."""
Pair = tuple[float, float]


def ended(path: Path, reported: Story, cuts: Sequence[int], closed: int | None = None) -> RunFolder:
    """A run that has ended, with its summaries; cuts are before key frames."""
    edges = [0, *cuts, len(reported.frames)]
    parts = [reported.frames[begin:end] for begin, end in pairwise(edges)]
    folder = run_folder(path, parts, FIELDS, len(parts) if closed is None else closed)
    write_summaries(folder)
    return folder


@pytest.fixture(scope="module", params=range(2))
def reported(request: pytest.FixtureRequest) -> Story:
    """Several stories of a minute."""
    return story(INSTANTS, request.param)


@pytest.fixture(scope="module")
def folder(reported: Story, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of three parts, one of them no whole number of steps long."""
    return ended(tmp_path_factory.mktemp("runs") / "run", reported, (250, 300))


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs have too many rows to be read in finer levels."""
    monkeypatch.setattr("tidscope_backend.replay.frames.MAX_ROWS", 110)


@pytest.mark.usefixtures("coarse")
def test_frames_of_the_whole_run_tell_the_truth(reported: Story, folder: RunFolder) -> None:
    read = check(reported, list(frames_between(RunReader(folder.path), None, None, 600)))
    seconds = [header.time_ns // SECOND_NS for header in read.headers]
    assert (seconds[0], seconds[-1], len(seconds)) == (0, 65, 8)
    assert [event for header in read.headers for event in header.events] == reported.events


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("instants", [1, 2, 7, 600])
@pytest.mark.parametrize("span", [(3.0, 42.0), (12.0, 64.9), (31.0, 31.5), (0.0, 99.0)])
def test_a_span_tells_the_truth_up_to_its_end(
    reported: Story, folder: RunFolder, span: tuple[float, float], instants: int
) -> None:
    from_ns, to_ns = (int(edge * SECOND_NS) for edge in span)
    frames = list(frames_between(RunReader(folder.path), from_ns, to_ns, instants))
    read = check(reported, frames)
    assert read.headers[-1].time_ns == max(time for time in reported.times if time <= to_ns)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("span", [(None, None), (25 * SECOND_NS, 64 * SECOND_NS)])
def test_a_gap_is_reported_once(tmp_path: Path, span: tuple[int | None, int | None]) -> None:
    reported = story(INSTANTS, 1, missing=frozenset((*range(290, 310), *range(349, 351))))
    cut = reported.times.index(401 * 100_000_000)
    folder = ended(tmp_path / "run", reported, (250, cut))
    frames = frames_between(RunReader(folder.path), *span, 600)
    gaps = [e for frame in frames for e in split(frame)[0].events if isinstance(e, Gap)]
    assert [(gap.from_seq, gap.to_seq) for gap in gaps] == [(290, 309), (349, 350)]


def test_sealed_open_and_again_are_the_same(reported: Story, tmp_path: Path) -> None:
    first = ended(tmp_path / "one", reported, (250, 300))
    other = ended(tmp_path / "other", reported, (250, 300), closed=1)
    files = [[(one.overview / f"{name}.parquet") for name in ALWAYS] for one in (first, other)]
    contents = [[path.read_bytes() for path in paths] for paths in files]
    assert contents[0] == contents[1]
    write_summaries(first)
    assert [path.read_bytes() for path in files[0]] == contents[0]


def test_a_run_whose_threads_all_exited_has_one(tmp_path: Path) -> None:
    """Manifest of a command that was recorded to its end."""
    reported = story(INSTANTS, 0)
    living = reported.states[-1].items()
    exits = [
        ThreadExited(
            tid=tid,
            start_ns=start_ns,
            name=name,
            totals={field: value for field, value in counters.items() if value is not None},
            exact=True,
            seen_alive=True,
        )
        for (tid, start_ns), (name, counters) in living
    ]
    last = frame_header(
        seq=reported.ends[-1] + 1, time_ns=reported.times[-1] + SECOND_NS, events=exits, rows=0
    )
    reported.frames.append(join(last, b""))
    folder = ended(tmp_path / "run", reported, (250,))
    assert RunReader(folder.path).overview is not None


def test_one_of_other_parts_is_not_used(reported: Story, tmp_path: Path) -> None:
    folder = ended(tmp_path / "run", reported, (250, 300))
    assert RunReader(folder.path).overview is not None
    folder.signals(3).unlink()
    assert RunReader(folder.path).overview is None


def rates(readings: Sequence[Reading]) -> list[Pair]:
    """The rule of frontend/src/stream/rate.ts: time in ns, and units a second."""
    found: list[Pair] = []
    start = begin = 0
    for i, (time_ns, value) in enumerate(readings):
        if i == 0 or value < readings[i - 1][1]:
            start = begin = i
            continue
        while begin + 1 < i and time_ns - readings[begin + 1][0] >= 0.5e9 * (1 - 1e-6):
            begin += 1
        begin = max(begin, start)
        elapsed_s = (time_ns - readings[begin][0]) / 1e9
        found.append((time_ns, (value - readings[begin][1]) / elapsed_s))
    return found


def extremes_by_hand(reported: Story, field: str) -> dict[tuple[int, int], list[Pair]]:
    """Rates of the process, and of each thread that a page would know."""
    readings: dict[tuple[int, int], list[Reading]] = {}
    process: list[Reading] = []
    reader = Reader()
    resets = most = 0.0
    for time_ns, frame in zip(reported.times, reported.frames, strict=True):
        reader.read(frame)
        living = 0.0
        for key, (_, counters) in reader.state().items():
            value = counters.get(field)
            if value is None:
                continue
            known = readings.setdefault(key, [])
            resets += max(0, known[-1][1] - value) if known else 0
            known.append((time_ns, value))
            living += value
        gone = reader.headers[-1].exited.totals.get(field, 0)
        most = max(most, living + gone + resets)
        process.append((time_ns, most))
    found = {key: rates(one) for key, one in readings.items()}
    return {**found, (PROCESS_TID, 0): rates(process)}


def check_extremes(reported: Story, overview: Overview) -> int:
    """Hold all extremes against the samples; how many there were."""
    checked = 0
    for field in ("cpu_run_ns", "cpu_delay_ns", "voluntary_switches"):
        truth = extremes_by_hand(reported, field)
        for level in overview.levels:
            rows = overview.read("extremes", level).to_pylist()
            found = {(row["tid"], row["start_ns"], row["to_ns"]): row for row in rows}
            assert len(found) == len(rows)
            ends = overview.times(level).time_ns.tolist()
            for key, known in truth.items():
                for from_ns, to_ns in pairwise(ends):
                    inside = [rate for time_ns, rate in known if from_ns < time_ns <= to_ns]
                    row = found.get((*key, to_ns), {})
                    least, greatest = (
                        nan if row.get(f"{field}_{end}") is None else row[f"{field}_{end}"]
                        for end in ("least", "greatest")
                    )
                    if not inside:
                        assert isnan(least)
                        assert isnan(greatest)
                        continue
                    assert row["from_ns"] == from_ns
                    assert least == pytest.approx(min(inside), rel=2**-11, abs=1e-6)
                    assert greatest == pytest.approx(max(inside), rel=2**-11, abs=1e-6)
                    checked += 1
    return checked


def test_extremes_are_those_of_the_samples(reported: Story, folder: RunFolder) -> None:
    assert check_extremes(reported, Overview(folder)) > 200


@settings(max_examples=8, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    seed=st.integers(0, 10_000),
    key_every=st.sampled_from([3, 20, 50]),
    instants=st.integers(120, 420),
    cuts=st.sets(st.integers(1, 6)),
    missing=st.sets(st.integers(2, 400), max_size=30),
)
# The frame is missing in which a thread exits and another gets its ID.
@example(seed=203, key_every=20, instants=343, cuts={1, 2, 3, 4, 5, 6}, missing={262})
def test_extremes_of_any_run_are_those_of_its_samples(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    key_every: int,
    instants: int,
    cuts: set[int],
    missing: set[int],
) -> None:
    without = frozenset(seq for seq in missing if seq % key_every != 1)
    reported = story(instants, seed, key_every, without)
    keys = [n for n, frame in enumerate(reported.frames) if split(frame)[0].kind == "key"]
    chosen = sorted({keys[-cut] for cut in cuts if cut < len(keys)} - {0})
    folder = ended(tmp_path_factory.mktemp("run") / "run", reported, chosen)
    check_extremes(reported, Overview(folder))


def test_a_span_gets_the_finest_level_that_fits(folder: RunFolder) -> None:
    overview = Overview(folder)
    fine = overview.extremes(5 * SECOND_NS, 15 * SECOND_NS, 100_000)
    assert set(fine["to_ns"].to_pylist()) == {10_100_000_000, 20_100_000_000}
    room = overview.rows("extremes", 3) // 6
    coarse = overview.extremes(5 * SECOND_NS, 15 * SECOND_NS, room)
    assert set(coarse["to_ns"].to_pylist()) == {30_100_000_000}


def test_a_full_disk_leaves_no_part_of_an_overview(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = {path.name: path.read_bytes() for path in folder.overview.iterdir()}
    threads = folder.threads.read_bytes()
    monkeypatch.setattr("tidscope_backend.store.overview.sync_file", full)
    with pytest.raises(OSError, match="No space"):
        write_summaries(folder)
    assert {path.name: path.read_bytes() for path in folder.overview.iterdir()} == before
    assert folder.threads.read_bytes() == threads


@pytest.mark.parametrize("step", ["writing", "extremes", "samples", "signals"])
def test_killed_at_any_step_it_is_read_from_its_parts_and_written_again(
    step: str, reported: Story, folder: RunFolder, tmp_path: Path
) -> None:
    killed = RunFolder(shutil.copytree(folder.path, tmp_path / folder.path.name))
    killed.threads.unlink()
    # In the order in which they are renamed.
    steps = ("writing", "extremes", "samples", "signals")
    for name in steps[steps.index(step) + 1 :]:
        path = killed.overview / f"{name}.parquet"
        path.replace(path.with_suffix(".new"))
        path.with_suffix(".new").write_bytes(b"cut off")
    reader = RunReader(killed.path)
    assert (reader.overview is not None) == (step == "signals")
    check(reported, list(frames_between(reader, None, None, 600)))
    lock = recover_run(killed, DEFAULT_LIMITS)
    assert isinstance(lock, RunLock)
    lock.release()
    write_summaries(killed)
    assert recover_run(killed, DEFAULT_LIMITS) is None
    for path in (*sorted(folder.overview.iterdir()), folder.threads):
        again = killed.path / path.relative_to(folder.path)
        assert again.read_bytes() == path.read_bytes()
    assert len(list(killed.overview.iterdir())) == len(ALWAYS)


def test_an_import_writes_the_same(folder: RunFolder, tmp_path: Path) -> None:
    unpacked, into = RunFolder(tmp_path / "unpacked"), RunFolder(tmp_path / "into")
    archive = tmp_path / "run.tar.zst"
    archive.write_bytes(b"".join(pack_run(folder.path)))
    unpacked.path.mkdir()
    unpack(archive, unpacked.path)
    for name in ALWAYS:
        # Claims of an archive are ignored.
        (unpacked.overview / f"{name}.parquet").write_bytes(b"not this")
    into.make()
    rewrite_run(unpacked, into)
    for name in ALWAYS:
        ours, theirs = (one.overview / f"{name}.parquet" for one in (folder, into))
        assert ours.read_bytes() == theirs.read_bytes()


def test_short_runs_have_none(tmp_path: Path) -> None:
    folder = ended(tmp_path / "run", story(60, 1), ())
    assert list(folder.overview.iterdir()) == []
    assert RunReader(folder.path).overview is None
    assert isinstance(RunReader(folder.path).threads(), pa.Table)


async def test_extremes_are_sent_as_a_table_by_thread(reported: Story, tmp_path: Path) -> None:
    folder = ended(tmp_path / RUN_ID, reported, (250, 300))
    async with running_backend(runs_dir=tmp_path) as backend, backend.program() as client:
        answer = await client.get(f"/api/v1/runs/{RUN_ID}/extremes")
        early = await client.get(f"/api/v1/runs/{RUN_ID}/extremes?to_ns={5 * SECOND_NS}")
        (framed,) = whole_frames(answer.content)
        with pa.ipc.open_stream(framed) as stream:
            sent = stream.read_all()
        with pa.ipc.open_stream(next(whole_frames(early.content))) as stream:
            assert set(stream.read_all()["to_ns"].to_pylist()) == {10_100_000_000}
    rows = Overview(folder).read("extremes", 2)
    assert len(sent) == len(rows)
    keys = [(row["tid"], row["start_ns"], row["to_ns"]) for row in sent.to_pylist()]
    assert keys == sorted(keys)
    # A page reads values, not bitmaps: where there was no rate it is not a number.
    assert all(column.null_count == 0 for column in sent.columns)


async def test_memory_is_returned_once_all_reads_have_ended() -> None:
    disk = Disk()
    returned: list[int] = []

    async def release() -> int:
        await disk.after_reads(lambda: returned.append(1))
        return len(returned)

    assert await release() == 0
    go_on = threading.Event()
    reading = asyncio.create_task(disk.read(go_on.wait))
    await asyncio.sleep(0)
    await disk.read(int)
    assert await release() == 0
    go_on.set()
    await reading
    assert [await release(), await release()] == [1, 1]

    async def while_returning() -> None:
        await disk.read(int)

    await disk.read(int)
    both = asyncio.gather(release(), while_returning())
    await both
    assert await release() == 3
