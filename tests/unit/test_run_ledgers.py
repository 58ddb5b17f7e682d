"""Ledgers in runs: states of threads and frame tables are recorded and come back."""

import io
import itertools
import json
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ledger_story import FIELDS, Known, LedgerStory, TableReader, full, ledger_story, states_of
from run_archives import NOT_A_RUN, archive_of, files_of, rewrite
from run_folders import DEEP, run_folder
from tidscope_backend.cli.run_report import report
from tidscope_backend.cli.run_text import details, summary
from tidscope_backend.exchange.formats import as_parquet
from tidscope_backend.recording.sealing import seal_part, write_summaries
from tidscope_backend.replay.frames import frames_between
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_parts import FIRST_LEVEL, KEY_LEVEL, rows_of
from tidscope_wire.frame import FrameDecoder, RowEncoder, Rows, join, row_bytes, split
from tidscope_wire.generated.frame_tables import KEYS
from tidscope_wire.states import STATE_FIELDS

INSTANTS = 850
CUTS = (300, 550)
SECOND_NS = 1_000_000_000


@pytest.fixture(scope="module")
def reported() -> LedgerStory:
    """Nearly a minute and a half."""
    return ledger_story(INSTANTS)


def write(path: Path, reported: LedgerStory, closed: int, *, ended: bool) -> RunFolder:
    edges = [0, *CUTS, len(reported.frames)]
    parts = [reported.frames[begin:end] for begin, end in itertools.pairwise(edges)]
    folder = run_folder(path, parts, FIELDS, closed)
    if ended:
        write_summaries(folder)
    return folder


# "half open" has open and sealed parts, "ended" the overview as well.
FOLDERS = {"half open": (2, False), "ended": (3, True)}
if DEEP:
    FOLDERS |= {"open": (0, False), "sealed": (3, False)}


@pytest.fixture(scope="module", params=FOLDERS.values(), ids=list(FOLDERS))
def folder(
    request: pytest.FixtureRequest, reported: LedgerStory, tmp_path_factory: pytest.TempPathFactory
) -> RunFolder:
    """A run of three parts."""
    closed, ended = request.param
    return write(tmp_path_factory.mktemp("runs") / "run", reported, closed, ended=ended)


def rows_in(known: Known) -> Known:
    """Tables that have rows."""
    return {name: rows for name, rows in known.items() if rows}


@pytest.mark.parametrize("span_s", [(None, None), (20.05, 58.0), (31.0, 31.0), (70.0, 900.0)])
def test_a_fine_replay_has_what_was_recorded(
    reported: LedgerStory, folder: RunFolder, span_s: tuple[float | None, float | None]
) -> None:
    from_ns, to_ns = (None if edge is None else int(edge * SECOND_NS) for edge in span_s)
    frames = list(frames_between(RunReader(folder.path), from_ns, to_ns, 5000))
    reader = TableReader()
    for frame in frames:
        reader.read(frame)
        assert rows_in(reader.known) == rows_in(reported.tables[split(frame)[0].time_ns])
    for time_ns, threads in states_of(frames).items():
        for tid, states in threads.items():
            assert states == reported.lives[tid].states(time_ns)


@pytest.mark.parametrize("instants", [3, 12, 150])
@pytest.mark.parametrize("max_rows", [3000, 500])
def test_a_coarse_replay_has_right_totals(
    reported: LedgerStory,
    folder: RunFolder,
    instants: int,
    max_rows: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tidscope_backend.replay.frames.MAX_ROWS", max_rows)
    monkeypatch.setattr("tidscope_backend.replay.frames.MAX_TABLE_ROWS", max_rows // 5)
    frames = list(frames_between(RunReader(folder.path), None, None, instants))
    reader = TableReader()
    rows = [reader.read(frame) for frame in frames]
    last_ns = split(frames[-1])[0].time_ns
    assert last_ns == reported.times[-1]
    assert rows_in(reader.known) == rows_in(reported.tables[last_ns])
    reader = TableReader()
    reader.read(frames[0])
    assert rows_in(reader.known) == rows_in(reported.tables[split(frames[0])[0].time_ns])
    assert sum(1 for count in rows if count) >= 2
    # Each cell between two frames has the time that threads spent in each state.
    found = states_of(frames)
    for time_ns, threads in found.items():
        for tid, states in threads.items():
            assert states == reported.lives[tid].states(time_ns)


def test_a_span_that_begins_and_ends_within_the_run_has_right_tables(
    reported: LedgerStory, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidscope_backend.replay.frames.MAX_ROWS", 100)
    monkeypatch.setattr("tidscope_backend.replay.frames.MAX_TABLE_ROWS", 50)
    span = (20 * SECOND_NS, 72 * SECOND_NS)
    frames = list(frames_between(RunReader(folder.path), *span, 20))
    reader = TableReader()
    reader.read(frames[0])
    assert rows_in(reader.known) == rows_in(reported.tables[split(frames[0])[0].time_ns])
    for frame in frames[1:]:
        reader.read(frame)
    assert split(frames[-1])[0].time_ns == 72 * SECOND_NS
    assert rows_in(reader.known) == rows_in(reported.tables[72 * SECOND_NS])


@pytest.mark.parametrize(("span_s", "instants"), [((None, None), 5000), ((31.0, 60.0), 12)])
def test_when_tables_were_read_and_what_they_left_out_is_replayed(
    reported: LedgerStory,
    folder: RunFolder,
    span_s: tuple[float | None, float | None],
    instants: int,
) -> None:
    from_ns, to_ns = (None if edge is None else int(edge * SECOND_NS) for edge in span_s)
    described = 0
    for frame in frames_between(RunReader(folder.path), from_ns, to_ns, instants):
        header, _ = split(frame)
        said = reported.said[header.time_ns]
        for table in header.tables or ():
            described += 1
            assert (table.omitted, table.read_ns) == said[table.name]
    assert described > 10


def test_a_run_that_does_not_say_how_tables_were_read_is_replayed(
    reported: LedgerStory, tmp_path: Path
) -> None:
    folder = write(tmp_path / "source", reported, 3, ended=True)
    for number in (1, 2, 3):
        path = folder.signals(number)
        pq.write_table(pq.read_table(path).drop_columns(["tables"]), path)
    (tmp_path / "import").mkdir()
    _, written = rewrite(tmp_path / "import", archive_of(files_of(folder.path)))
    assert "tables" in pq.read_schema(io.BytesIO(written["signals/000001.parquet"])).names
    for frame in frames_between(RunReader(folder.path), 31 * SECOND_NS, 60 * SECOND_NS, 50):
        for table in split(frame)[0].tables or ():
            assert (table.omitted, table.read_ns) == (0, None)


def test_rows_are_stored_as_they_change(reported: LedgerStory, folder: RunFolder) -> None:
    parts = RunReader(folder.path).parts
    for number, part in enumerate(parts):
        begin_ns = reported.times[[0, *CUTS][number]]
        for name, table in part.tables().items():
            rows = table.to_pylist()
            levels = [row["level"] for row in rows]
            assert levels == sorted(levels, reverse=True)
            first = {tuple(row[one] for one in KEYS[name]) for row in rows if row["level"] == 3}
            assert first == set(reported.tables[begin_ns].get(name, {}))
            places = [(row["level"], *(row[one] for one in KEYS[name]), row["seq"]) for row in rows]
            assert len(set(places)) == len(places)
        whole = part.tables(FIRST_LEVEL)
        assert sum(map(len, whole.values())) == part.table_rows()[2]
        assert part.table_rows()[1] == sum(map(len, part.tables(KEY_LEVEL).values()))


def test_a_gap_is_followed_by_whole_tables(reported: LedgerStory, tmp_path: Path) -> None:
    frames = [frame for place, frame in enumerate(reported.frames) if not 320 <= place < 340]
    folder = run_folder(tmp_path / "run", [frames[:300], frames[300:]], FIELDS, 2)
    replayed = list(frames_between(RunReader(folder.path), None, None, 5000))
    keys = [frame for frame in replayed if split(frame)[0].kind == "key"]
    assert len(keys) == 2
    reader = TableReader()
    reader.read(keys[1])
    assert rows_in(reader.known) == rows_in(reported.tables[split(keys[1])[0].time_ns])


def test_a_run_of_before_parties_is_replayed(folder: RunFolder) -> None:
    table = RunReader(folder.path).parts[0].tables()["wakes"]
    older = table.drop_columns(["party"])
    rows = rows_of("wakes", older)
    assert rows["party"].tolist() == [0] * len(table)
    assert rows["waker_name"].tolist() == table["waker_name"].to_pylist()


def test_a_run_without_a_ledger_has_no_tables(tmp_path: Path) -> None:
    bare = LedgerStory(frames=[_without_tables(frame) for frame in ledger_story(120).frames])
    folder = run_folder(tmp_path / "run", [bare.frames], FIELDS, 1)
    write_summaries(folder)
    names = {path.name for path in folder.path.rglob("*")}
    assert not names & {f"{name}.parquet" for name in KEYS}
    assert not (folder.path / "tables").exists()
    frames = frames_between(RunReader(folder.path), None, None, 200)
    assert all(split(frame)[0].tables is None for frame in frames)


def _without_tables(frame: bytes) -> bytes:
    header, body = split(frame)
    rows = bytes(body[: row_bytes(header, body)])
    return join(header.model_copy(update={"tables": None}), rows)


def test_sealing_again_writes_the_same(reported: LedgerStory, tmp_path: Path) -> None:
    folder = write(tmp_path / "run", reported, 0, ended=False)
    frames = folder.open_part(2).read_bytes()
    seal_part(folder, 2)
    once = {path: path.read_bytes() for path in folder.tables(2).values()}
    assert set(folder.tables(2)) == {"stays", "wakes", "locks", "lock_names"}
    folder.open_part(2).write_bytes(frames)
    seal_part(folder, 2)
    assert {path: path.read_bytes() for path in folder.tables(2).values()} == once


def test_an_import_writes_the_same(reported: LedgerStory, tmp_path: Path) -> None:
    folder = write(tmp_path / "source", reported, 3, ended=True)
    files = files_of(folder.path)
    _, written = rewrite(tmp_path, archive_of(files))
    assert set(written) == set(files)
    assert {name for name in files if files[name] != written[name]} == {"manifest.json"}
    assert {name for name in files if name.startswith("tables/stays/")} == {
        f"tables/stays/00000{number}.parquet" for number in (1, 2, 3)
    }


WRONG: dict[str, tuple[str, list[int | None], str]] = {
    "a row of no frame": ("seq", [10**9], "of no frame"),
    "a level that there is not": ("level", [9], "levels of stays"),
    "a whole table in the middle": ("seq", [60], "levels of stays"),
    "a count above int64": ("count", [2**63], "column count of stays"),
    "no key": ("tid", [None], "has no tid"),
}


@pytest.mark.parametrize("what", WRONG)
def test_tables_that_deceive_are_refused(reported: LedgerStory, tmp_path: Path, what: str) -> None:
    column, values, why = WRONG[what]
    folder = write(tmp_path / "source", reported, 3, ended=True)
    path = folder.table("stays", 1)
    table = pq.read_table(path)
    changed = pa.array([*values, *table[column].to_pylist()[1:]], table[column].type)
    pq.write_table(table.set_column(table.column_names.index(column), column, changed), path)
    with pytest.raises(NOT_A_RUN, match=why):
        rewrite(tmp_path, archive_of(files_of(folder.path)))


def test_an_overview_that_is_written_again_has_no_old_tables(
    reported: LedgerStory, tmp_path: Path
) -> None:
    folder = write(tmp_path / "run", reported, 3, ended=True)
    assert (folder.overview / "stays.parquet").exists()
    shutil.rmtree(folder.path / "tables")
    write_summaries(folder)
    assert not (folder.overview / "stays.parquet").exists()
    assert RunReader(folder.path).overview is not None


def test_threads_have_their_states_at_both_ends(reported: LedgerStory, folder: RunFolder) -> None:
    rows = {row["tid"]: row for row in RunReader(folder.path).threads().to_pylist()}
    assert set(rows) == set(reported.lives)
    first_ns, last_ns = reported.times[0], reported.times[-1]
    for tid, row in rows.items():
        life = reported.lives[tid]
        begin = {} if life.begin_ns else life.states(first_ns)
        assert states_in(row["first"]) == begin
        assert states_in(row["last"]) == life.states(last_ns)
    # The stay goes on from there.
    later = full(rows[203]["last"], last_ns + SECOND_NS)
    assert later == {"state_sleep_ns": last_ns + SECOND_NS}


def states_in(counters: dict[str, int | None]) -> dict[str, int]:
    return {name: value for name in STATE_FIELDS if (value := counters[name])}


def test_a_thread_whose_exit_was_lost_is_not_asleep_to_the_end(tmp_path: Path) -> None:
    story = ledger_story(200)
    quiet = story.lives[203]
    frames = [without_thread(frame, 203) for frame in story.frames[100:]]
    folder = run_folder(tmp_path / "run", [story.frames[:100], frames], FIELDS, 2)
    rows = {row["tid"]: row for row in RunReader(folder.path).threads().to_pylist()}
    assert states_in(rows[203]["last"]) == quiet.states(story.times[99])


def without_thread(frame: bytes, tid: int) -> bytes:
    header, rows = FrameDecoder(FIELDS).decode(frame)
    kept = rows.tid != tid
    columns = {name: values[kept] for name, values in rows.columns.items()}
    starts = None if rows.start_ns is None else rows.start_ns[kept]
    names = rows.name and [name for name, keep in zip(rows.name, kept, strict=True) if keep]
    less = Rows(rows.tid[kept], columns, {}, starts, names)
    header = header.model_copy(update={"rows": len(less.tid), "tables": None})
    return join(header, RowEncoder(FIELDS).encode(less))


def test_exported_samples_have_the_stay_under_way(reported: LedgerStory, folder: RunFolder) -> None:
    rows = pq.read_table(io.BytesIO(b"".join(as_parquet(folder.path)))).to_pylist()
    assert rows
    for row in rows:
        assert states_in(row) == reported.lives[row["tid"]].states(row["time_ns"])


def test_a_run_of_a_collector_that_knew_fewer_states_has_those(tmp_path: Path) -> None:
    story = ledger_story(200)
    fields = tuple(field for field in FIELDS if field != STATE_FIELDS[-1])
    frames = [with_fields(frame, fields) for frame in story.frames]
    folder = run_folder(tmp_path / "run", [frames[:100], frames[100:]], fields, 2)
    rows = pq.read_table(io.BytesIO(b"".join(as_parquet(folder.path)))).to_pylist()
    for row in rows:
        assert STATE_FIELDS[-1] not in row
        states = {name: row[name] for name in STATE_FIELDS[:-1] if row[name]}
        assert states == story.lives[row["tid"]].states(row["time_ns"])
    shares = report(folder).totals
    assert shares["state_futex_ns"] and STATE_FIELDS[-1] not in shares


def with_fields(frame: bytes, fields: tuple[str, ...]) -> bytes:
    header, rows = FrameDecoder(FIELDS).decode(frame)
    columns = {name: values for name, values in rows.columns.items() if name in fields}
    less = Rows(rows.tid, columns, {}, rows.start_ns, rows.name)
    header = header.model_copy(update={"tables": None})
    return join(header, RowEncoder(fields).encode(less))


def test_a_report_says_where_the_time_went(reported: LedgerStory, folder: RunFolder) -> None:
    found = report(folder)
    lines = summary(found.manifest, found, "127.0.0.1:1")
    (time,) = [line for line in lines if line.startswith("  time ")]
    # Three to four workers at a lock, one thread asleep and one that polls.
    assert re.search(r"locks \d\d %, (sleeping|polling) \d\d %, (sleeping|polling) \d\d %", time)
    (lock,) = [line for line in lines if line.startswith("  locks ")]
    assert re.search(r" s  pool_mu \(\d+ waits, [34] threads\)", lock)
    assert [lock.name for lock in found.locks] == ["pool_mu"]
    waited = sum(role.fields["state_futex_ns"] for role in found.roles)
    assert 0.9 * waited < found.locks[0].wait_ns <= waited
    assert details(found, "folder")[-1]
    assert json.dumps(found.json_object()["locks"])


def test_a_report_without_a_ledger_says_nothing_of_it(tmp_path: Path) -> None:
    story = [_without_tables(frame) for frame in ledger_story(60).frames]
    folder = run_folder(tmp_path / "run", [story], ("cpu_run_ns",), 1)
    found = report(folder)
    assert found.locks == []
    assert not [
        one
        for one in summary(found.manifest, found, "127.0.0.1:1")
        if one[:7] in ("  time ", "  locks")
    ]
