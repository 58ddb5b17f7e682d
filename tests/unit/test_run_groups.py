"""Runs of groups: processes are recorded and come back."""

import io
import itertools
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from group_story import (
    COMPILERS,
    FIELDS,
    ROOT,
    SECRET,
    alive,
    counts,
    group_story,
    make_ns,
    processes,
)
from run_archives import archive_of, files_of, rewrite
from run_folders import run_folder
from tidscope_backend.exchange.chrome_trace import as_trace
from tidscope_backend.exchange.formats import as_csv
from tidscope_backend.exchange.packing import pack_run
from tidscope_backend.hidden_arguments import frame_without
from tidscope_backend.recording.sealing import write_summaries
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader, table_growth
from tidscope_backend.store.table_parts import rows_of
from tidscope_wire.frame import FrameDecoder, split
from tidscope_wire.frame_tables import Table, latest_rows
from tidscope_wire.generated.models import GroupCounts, ThreadBorn, ThreadExited
from tidscope_wire.table_streams import decode_tables

INSTANTS = 450
CUTS = (200, 300)


@pytest.fixture(scope="module")
def story() -> list[bytes]:
    return group_story(INSTANTS)


def write(path: Path, frames: list[bytes], closed: int, *, ended: bool) -> RunFolder:
    edges = [0, *CUTS, len(frames)]
    parts = [frames[begin:end] for begin, end in itertools.pairwise(edges)]
    folder = run_folder(path, parts, FIELDS, closed)
    if ended:
        write_summaries(folder)
    return folder


@pytest.fixture(
    scope="module",
    params=[(0, False), (2, False), (3, True)],
    ids=["open", "half open", "ended"],
)
def folder(
    request: pytest.FixtureRequest, story: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> RunFolder:
    closed, ended = request.param
    return write(tmp_path_factory.mktemp("runs") / "run", story, closed, ended=ended)


class Reader:
    """State of a page for a group after some frames."""

    def __init__(self) -> None:
        self.pids: dict[int, int] = {}
        self.group: GroupCounts | None = None
        self.processes: Table | None = None
        self._decoder = FrameDecoder()

    def read(self, frame: bytes) -> None:
        header, rows = self._decoder.decode(frame)
        for event in header.events:
            if isinstance(event, ThreadBorn):
                self.pids[event.tid] = event.pid or 0
            elif isinstance(event, ThreadExited):
                del self.pids[event.tid]
        if header.kind == "key":
            assert rows.pid is not None
            self.pids = dict(zip(rows.tid.tolist(), rows.pid.tolist(), strict=True))
        self.group = header.group
        table = decode_tables(*split(frame)).get("processes")
        if table is not None:
            known = [] if header.kind == "key" or self.processes is None else [self.processes]
            self.processes = latest_rows("processes", [*known, table])


def pids_at(seq: int) -> dict[int, int]:
    found = {ROOT: ROOT}
    for one in alive(seq):
        found |= {one.pid: one.pid, one.pid + 1: one.pid}
    return found


@pytest.mark.parametrize("most", [2000, 300, 20])
def test_a_replay_has_processes_of_threads_and_their_figures(folder: RunFolder, most: int) -> None:
    reader = Reader()
    for frame in frames_between(RunReader(folder.path), None, None, most):
        reader.read(frame)
    assert reader.pids == pids_at(INSTANTS)
    assert reader.group == counts(INSTANTS)
    assert reader.processes is not None
    assert reader.processes.tolist() == processes(INSTANTS).tolist()


def test_a_replay_from_the_middle_knows_the_processes_of_all_threads(folder: RunFolder) -> None:
    begin = 41_700_000_000
    frames = frames_between(RunReader(folder.path), begin, None, 2000)
    reader = Reader()
    reader.read(next(frames))
    assert reader.pids == pids_at(417)
    assert reader.processes is not None
    assert reader.processes.tolist() == processes(410).tolist()


def test_samples_and_threads_have_their_process(folder: RunFolder) -> None:
    reader = RunReader(folder.path)
    samples = reader.samples(["cpu_run_ns"])
    assert all(pid == ROOT + (tid - ROOT) // 10 * 10 for tid, pid in _pairs(samples))
    threads = reader.threads()
    found = _pairs(threads)
    assert len(found) == 1 + 2 * sum(one.begin <= INSTANTS for one in COMPILERS)
    assert all(pid == ROOT + (tid - ROOT) // 10 * 10 for tid, pid in found)


def _pairs(table: pa.Table) -> list[tuple[int, int]]:
    return list(zip(table["tid"].to_pylist(), table["pid"].to_pylist(), strict=True))


def test_an_import_writes_the_same(story: list[bytes], tmp_path: Path) -> None:
    folder = write(tmp_path / "source", story, 3, ended=True)
    files = files_of(folder.path)
    _, written = rewrite(tmp_path, archive_of(files))
    assert {name for name in files if files[name] != written.get(name)} == {"manifest.json"}
    assert any(name.startswith("tables/processes/") for name in files)


@pytest.mark.parametrize("closed", [0, 3])
def test_viewers_export_no_titles(story: list[bytes], tmp_path: Path, closed: int) -> None:
    folder = write(tmp_path / "source", story, closed, ended=closed == 3)
    found = []
    for hide in (False, True):
        into = tmp_path / str(hide)
        into.mkdir()
        rewrite(into, b"".join(pack_run(folder.path, hide)))
        reader = RunReader(into / "run")
        tables = [part.tables()["processes"] for part in reader.parts]
        assert reader.overview is not None
        tables += [reader.overview.tables(level)["processes"] for level in reader.overview.levels]
        found.append({title for table in tables for title in table["title"].to_pylist()})
    assert found == [{"", f"make {SECRET}"}, {""}]
    archived = b"".join(pack_run(folder.path, True))
    with pa.CompressedInputStream(pa.BufferReader(archived), "zstd") as stream:
        assert SECRET.encode() not in stream.read()


def test_a_frame_for_viewers_has_all_but_titles(story: list[bytes]) -> None:
    for frame in (story[0], story[1], story[199]):
        shown = frame_without(frame)
        assert SECRET.encode() not in shown
        header, rows = FrameDecoder(FIELDS).decode(shown)
        assert header.model_copy(update={"tables": None}) == split(frame)[0].model_copy(
            update={"tables": None}
        )
        assert rows.tid.tolist() == FrameDecoder(FIELDS).decode(frame)[1].tid.tolist()
    before, after = (decode_tables(*split(one))["processes"] for one in (story[0], shown))
    assert before["title"][0] != ""
    assert set(after["title"]) == {""}
    assert after["cpu_ns"].tolist() == decode_tables(*split(frame))["processes"]["cpu_ns"].tolist()


def test_exports_have_the_process_of_each_row(story: list[bytes], tmp_path: Path) -> None:
    folder = write(tmp_path / "run", story, 3, ended=True)
    table = pacsv.read_csv(io.BytesIO(b"".join(as_csv(folder.path))))
    assert all(pid == ROOT + (tid - ROOT) // 10 * 10 for tid, pid in _pairs(table))
    trace = json.loads(b"".join(as_trace(folder.path)))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
    lead = RunReader(folder.path).manifest.target.process.pid
    born = {one.pid: "cc1" for one in COMPILERS if one.begin <= INSTANTS}
    assert names == {**born, lead: "work"}
    threads = {(e["pid"], e["tid"]) for e in trace if e.get("cat") == "thread"}
    assert threads == {(pid, tid) for pid in born for tid in (pid, pid + 1)} | {(ROOT, ROOT)}
    executed = [e["pid"] for e in trace if e["name"] == "program executed"]
    assert executed == list(born)


def test_what_processes_used_in_a_run(story: list[bytes], tmp_path: Path) -> None:
    folder = write(tmp_path / "run", story[100:], 0, ended=False)
    rows = table_growth(RunReader(folder.path).parts, "processes").to_pylist()
    used = {row["process"]: row["cpu_ns"] for row in rows}
    expected = {1: make_ns(INSTANTS) - make_ns(101)}
    for one in COMPILERS:
        # Processes that ended long before the run are in the row of their name, without growth.
        if one.end > 101 and one.begin < INSTANTS:
            expected[one.number + 2] = 2 * (one.cpu_ns(INSTANTS) - one.cpu_ns(101))
    assert used == expected


def test_a_table_of_an_older_run_has_no_columns_that_came_later(folder: RunFolder) -> None:
    table = RunReader(folder.path).parts[0].tables()["processes"]
    older = table.drop_columns(["gomaxprocs", "namespace_pid"])
    rows = rows_of("processes", older)
    assert rows["gomaxprocs"].tolist() == [0] * len(table)
    assert rows["title"].tolist() == table["title"].to_pylist()


def test_an_older_run_can_be_imported(story: list[bytes], tmp_path: Path) -> None:
    folder = write(tmp_path / "source", story, 3, ended=True)
    files = files_of(folder.path)
    older = dict(files)
    for name, data in files.items():
        if name.startswith("tables/processes/"):
            table = pq.read_table(pa.BufferReader(data))
            without = pa.BufferOutputStream()
            pq.write_table(table.drop_columns(["gomaxprocs"]), without)
            older[name] = without.getvalue().to_pybytes()
    assert older != files
    _, written = rewrite(tmp_path, archive_of(older))
    assert {name for name in files if files[name] != written.get(name)} == {"manifest.json"}
