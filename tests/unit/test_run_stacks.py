"""Stacks in runs: logs and tables of names are recorded and read by window."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_folders import run_folder
from stack_story import FIELDS, StackStory, stack_story
from tidscope_backend.recording.sealing import write_summaries
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader
from tidscope_wire.frame import join, row_bytes, split
from tidscope_wire.frame_tables import Table, dtype_of

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
