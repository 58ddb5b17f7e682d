"""Stacks in runs: logs and tables of names are recorded and read by window."""

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_archives import NOT_A_RUN, archive_of, files_of, rewrite
from run_folders import run_folder
from stack_story import FIELDS, StackStory, stack_story
from tidscope_backend.recording.sealing import write_summaries
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.log_parts import CROSSING_LEVEL, LOGS, NOT_ENDED, stays_of
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_parts import STACK_TABLES
from tidscope_wire.frame import join, row_bytes, split
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.frame_tables import COLUMNS

INSTANTS = 850
CUTS = (200, 400, 650)
SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module")
def sampled() -> StackStory:
    return stack_story(INSTANTS)


def write(path: Path, sampled: StackStory, closed: int) -> RunFolder:
    edges = [0, *CUTS, len(sampled.frames)]
    parts = [sampled.frames[begin:end] for begin, end in itertools.pairwise(edges)]
    folder = run_folder(path, parts, FIELDS, closed)
    if closed == len(parts):
        write_summaries(folder)
    return folder


@pytest.fixture(scope="module", params=[2, 4], ids=["half open", "ended"])
def folder(
    request: pytest.FixtureRequest, sampled: StackStory, tmp_path_factory: pytest.TempPathFactory
) -> RunFolder:
    """A run of four parts."""
    return write(tmp_path_factory.mktemp("runs") / "run", sampled, request.param)


def samples_of(reader: RunReader, from_ns: int, to_ns: int) -> list[tuple[int, ...]]:
    rows = list(reader.log("stack_samples", from_ns, to_ns))
    assert {one.dtype for one in rows} == {dtype_of("stack_samples")}
    return [tuple(row) for table in rows for row in table.tolist()]


WINDOWS = [(0, 85), (21, 23), (39.5, 40.5), (60, 85), (79, 79.3), (3, 3)]


@pytest.mark.parametrize("window_s", WINDOWS)
def test_a_window_has_the_stays_that_lie_in_it(
    sampled: StackStory, folder: RunFolder, window_s: tuple[float, float]
) -> None:
    from_ns, to_ns = (int(edge * SECOND_NS) for edge in window_s)
    found = samples_of(RunReader(folder.path), from_ns, to_ns)
    last_ns = sampled.read_ns[-1]
    expected = {stay.sample: stay for stay in sampled.between(from_ns, to_ns)}
    assert sorted(row[0] for row in found) == sorted(expected)
    for row in found:
        stay = expected[row[0]]
        if stay.end_ns is not None and stay.end_ns <= min(to_ns, last_ns):
            assert row == stay.row
        else:
            assert row in (stay.row, stay.row_at(0))


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 2**31),
    st.lists(st.integers(1, 99), max_size=4, unique=True),
    st.integers(0, 11 * SECOND_NS),
    st.integers(0, 3 * SECOND_NS),
)
def test_any_window_of_any_parts_has_its_stays(
    tmp_path_factory: pytest.TempPathFactory, seed: int, cuts: list[int], begin: int, length: int
) -> None:
    story = stack_story(100, seed, key_every=1)
    edges = [0, *sorted(cuts), 100]
    parts = [story.frames[start:end] for start, end in itertools.pairwise(edges)]
    folder = run_folder(tmp_path_factory.mktemp("run") / "run", parts, FIELDS, len(parts) // 2)
    found = [row[0] for row in samples_of(RunReader(folder.path), begin, begin + length)]
    assert sorted(found) == [one.sample for one in story.between(begin, begin + length)]


@pytest.mark.parametrize("window_s", WINDOWS)
def test_names_are_those_known_at_the_end(
    sampled: StackStory, folder: RunFolder, window_s: tuple[float, float]
) -> None:
    from_ns, to_ns = (int(edge * SECOND_NS) for edge in window_s)
    for name, table in sampled.names.items():
        found: Table = RunReader(folder.path).names(name, from_ns, to_ns)
        assert found.tolist() == table.tolist()


def test_a_run_without_stacks_has_none(tmp_path: Path) -> None:
    frames = [without_tables(frame) for frame in stack_story(30).frames]
    reader = RunReader(run_folder(tmp_path / "run", [frames], FIELDS, 1).path)
    assert [len(table) for table in reader.log("stack_samples", 0, SECOND_NS)] == [0, 0]
    assert reader.names("stack_frames", 0, SECOND_NS).tolist() == []


def without_tables(frame: bytes) -> bytes:
    header, body = split(frame)
    rows = bytes(body[: row_bytes(header, body)])
    return join(header.model_copy(update={"tables": None}), rows)


def test_a_part_has_each_sample_once(sampled: StackStory, folder: RunFolder) -> None:
    reader = RunReader(folder.path)
    for part, cut in zip(reader.parts, [0, *CUTS], strict=True):
        table = part.table("stack_samples")
        samples = table["sample"].to_pylist()
        assert len(set(samples)) == len(samples)
        levels = table["level"].to_pylist()
        assert levels == sorted(levels, reverse=True)
        first_ns = sampled.times[cut]
        last_ns = max(one for one in sampled.read_ns if one <= int(part.times.time_ns[-1]))
        inner = part.table("stack_samples").filter(pc.field("level") < CROSSING_LEVEL)
        assert len(inner) + len(part.table("stack_samples", CROSSING_LEVEL)) == len(samples)
        for sample in inner["sample"].to_pylist():
            stay = sampled.stays[sample - 1]
            assert stay.begin_ns >= first_ns
            assert stay.end_ns is not None
            assert stay.end_ns <= last_ns


def test_replays_and_overviews_have_no_stacks(sampled: StackStory, folder: RunFolder) -> None:
    reader = RunReader(folder.path)
    sent = {table.name for frame in sampled.frames for table in split(frame)[0].tables or ()}
    assert sent == STACK_TABLES
    for frame in frames_between(reader, None, None, 5000):
        assert split(frame)[0].tables is None
    if reader.overview is not None:
        assert not reader.overview.tables(min(reader.overview.levels))
    assert all(part.table_rows() == (0, 0, 0) for part in reader.parts)


def test_an_import_writes_the_same(sampled: StackStory, tmp_path: Path) -> None:
    folder = write(tmp_path / "source", sampled, 4)
    files = files_of(folder.path)
    _, written = rewrite(tmp_path, archive_of(files))
    assert set(written) == set(files)
    assert {name for name in files if files[name] != written[name]} == {"manifest.json"}
    assert sum(name.startswith("tables/stack_samples/") for name in files) == 4


WRONG: dict[str, tuple[str, int | None, str]] = {
    "a row of no frame": ("seq", 10**9, "of no frame"),
    "no key": ("sample", None, "has no sample"),
    "a time above int64": ("begin_ns", 2**64 - 1, "column begin_ns of stack_samples"),
    "a length above int64": ("wait_ns", 2**64 - 1, "column wait_ns of stack_samples"),
}


@pytest.mark.parametrize("what", WRONG)
def test_logs_that_deceive_are_refused(sampled: StackStory, tmp_path: Path, what: str) -> None:
    column, value, why = WRONG[what]
    folder = write(tmp_path / "source", sampled, 4)
    path = folder.table("stack_samples", 2)
    table = pq.read_table(path)
    changed = pa.array([value, *table[column].to_pylist()[1:]], table[column].type)
    pq.write_table(table.set_column(table.column_names.index(column), column, changed), path)
    with pytest.raises(NOT_A_RUN, match=why):
        rewrite(tmp_path, archive_of(files_of(folder.path)))


def test_levels_of_an_imported_log_are_its_own(sampled: StackStory, tmp_path: Path) -> None:
    folder = write(tmp_path / "source", sampled, 4)
    path = folder.table("stack_samples", 2)
    once, table = path.read_bytes(), pq.read_table(path)
    place = table.column_names.index("level")
    pq.write_table(table.set_column(place, "level", pa.array([9] * len(table), pa.uint8())), path)
    _, written = rewrite(tmp_path, archive_of(files_of(folder.path)))
    assert written["tables/stack_samples/000002.parquet"] == once


@given(st.lists(st.tuples(*[st.sampled_from((0, 1, 2**61, 2**63, 2**64 - 1))] * 3), min_size=1))
def test_stays_end_after_they_begin(times: list[tuple[int, int, int]]) -> None:
    rows = np.zeros(len(times), dtype_of("stack_samples"))
    for column, values in zip(
        ("begin_ns", "wait_ns", "delay_ns"), zip(*times, strict=True), strict=True
    ):
        rows[column] = values
    begin_ns, end_ns = stays_of(rows)
    assert (begin_ns >= 0).all()
    assert (begin_ns <= end_ns).all()
    assert (end_ns <= NOT_ENDED).all()
    assert ((end_ns == NOT_ENDED) | (rows["wait_ns"] > 0)).all()


def test_every_log_is_of_stays() -> None:
    for name in LOGS:
        assert {"begin_ns", "wait_ns", "delay_ns", "state"} <= set(COLUMNS[name])
        assert name in STACK_TABLES


def test_a_sample_takes_few_bytes(tmp_path: Path) -> None:
    story = stack_story(205, per_s=150)
    folder = run_folder(tmp_path / "run", [story.frames], FIELDS, 1)
    path = folder.table("stack_samples", 1)
    samples = pq.read_metadata(path).num_rows
    assert samples > 5000
    # docs/runs.md says how many a minute of 500 samples a second needs.
    assert path.stat().st_size < 12 * samples
