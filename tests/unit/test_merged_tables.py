"""Tables of merged frames: who reads them knows what a reader of all frames knows."""

from collections.abc import Mapping

import numpy as np
from backend_builders import FIELDS, frame_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from tidscope_backend.stream.frames import merge
from tidscope_wire.frame import join, split
from tidscope_wire.frame_tables import Table, dtype_of, joined_rows, latest_rows
from tidscope_wire.generated.frame_tables import ROWS
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import TableName
from tidscope_wire.table_streams import decode_tables, encode_tables

TableState = dict[TableName, Table]
STAYS = st.lists(
    st.tuples(st.integers(1, 3), st.integers(1, 2), st.just(0), st.integers(0, 3)), max_size=4
)
PROCESSES = st.dictionaries(
    st.integers(1, 4), st.tuples(st.integers(0, 2), st.sampled_from(["", "cc1"])), max_size=4
)
LOCKS = st.lists(
    st.tuples(st.integers(1, 2), st.integers(1, 3), *([st.integers(0, 2)] * 3)), max_size=3
)

SAMPLES = st.dictionaries(st.integers(1, 5), st.integers(0, 2), max_size=4)
NODES = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1), st.just(1)), max_size=3)


def samples(waits: Mapping[int, int]) -> Table:
    """A log of stays: length by number; 0: it has not ended."""
    table = np.zeros(len(waits), dtype_of("stack_samples"))
    table["sample"], table["wait_ns"] = list(waits), list(waits.values())
    return table


def processes(rows: Mapping[int, tuple[int, str]]) -> Table:
    """A table of processes: by number, how many are in each row (0: it is gone), and its name."""
    table = np.zeros(len(rows), dtype_of("processes"))
    for column in ("title", "user", "container", "unit"):
        table[column] = ""
    table["process"] = list(rows)
    table["count"] = [count for count, _ in rows.values()]
    table["name"] = [name for _, name in rows.values()]
    return table


@st.composite
def frames_with_tables(draw: st.DrawFn) -> list[bytes]:
    frames = []
    for seq in range(1, draw(st.integers(1, 6)) + 1):
        tables: TableState = {}
        if draw(st.booleans()):
            tables["stays"] = np.array(draw(STAYS), dtype_of("stays"))
        if draw(st.booleans()):
            tables["locks"] = np.array(draw(LOCKS), dtype_of("locks"))
        if draw(st.booleans()):
            tables["stack_samples"] = samples(draw(SAMPLES))
        if draw(st.booleans()):
            tables["stack_nodes"] = np.array(draw(NODES), dtype_of("stack_nodes"))
        if draw(st.booleans()):
            tables["processes"] = processes(draw(PROCESSES))
        identity = {1: (0, "main")} if draw(st.integers(0, 3)) == 0 else None
        frames.append(frame_bytes(seq, {1: [seq, seq]}, identity=identity, tables=tables))
    return frames


def with_tables(state: TableState, frame: bytes) -> TableState:
    """Tables of a reader after another frame."""
    header, body = split(frame)
    tables = decode_tables(header, body)
    whole = header.kind == "key"
    known = {name: rows for name, rows in state.items() if not whole or ROWS[name] == "log"}
    for name, table in tables.items():
        known[name] = latest_rows(name, [known[name], table] if name in known else [table])
    return {name: table for name, table in known.items() if len(table)}


@settings(deadline=None)
@given(frames_with_tables(), STAYS)
def test_who_reads_the_merged_tables_knows_the_same(
    frames: list[bytes], before: list[tuple[int, int, int, int]]
) -> None:
    start: TableState = {"stays": latest_rows("stays", [np.array(before, dtype_of("stays"))])}
    each = start
    for frame in frames:
        each = with_tables(each, frame)
    merged = with_tables(start, merge(frames, FIELDS))
    assert {name: table.tolist() for name, table in merged.items()} == {
        name: table.tolist() for name, table in each.items()
    }


def test_tables_of_one_frame_are_passed_on_as_they_are() -> None:
    table = np.array([(7, 4, 0, 1)], dtype_of("stays"))
    merged = merge(
        [frame_bytes(1), frame_bytes(2, tables={"stays": table}), frame_bytes(3)], FIELDS
    )
    header, body = split(merged)
    assert [one.rows for one in header.tables or ()] == [1]
    assert decode_tables(header, body)["stays"].tolist() == table.tolist()


def with_omitted(frame: bytes, tables: TableState, omitted: int) -> bytes:
    header, _ = split(frame)
    described, data = encode_tables(tables, dict.fromkeys(tables, omitted))
    return join(header.model_copy(update={"tables": described, "rows": 0, "columns": None}), data)


def test_omitted_rows_of_logs_add_up_and_those_of_other_tables_are_the_last_ones() -> None:
    tables: TableState = {
        "stack_samples": samples({1: 0}),
        "stays": np.array([(7, 4, 0, 1)], dtype_of("stays")),
    }
    frames = [with_omitted(frame_bytes(seq, {}), tables, seq) for seq in (1, 2, 3)]
    header, _ = split(merge(frames, FIELDS))
    assert {one.name: one.omitted for one in header.tables or ()} == {
        "stack_samples": 6,
        "stays": 3,
    }


def test_rows_beyond_the_bound_are_counted() -> None:
    frames = [
        frame_bytes(seq, tables={"stack_samples": samples(dict.fromkeys(range(begin, end), seq))})
        for seq, begin, end in ((1, 0, MAX_TABLE_ROWS), (2, MAX_TABLE_ROWS - 5, MAX_TABLE_ROWS + 7))
    ]
    header, body = split(merge(frames, FIELDS))
    (described,) = header.tables or []
    assert (described.rows, described.omitted) == (MAX_TABLE_ROWS, 7)
    waits = decode_tables(header, body)["stack_samples"]["wait_ns"]
    assert waits[-6:].tolist() == [1, 2, 2, 2, 2, 2]


def test_a_key_frame_keeps_the_log_of_frames_before_it() -> None:
    before: TableState = {
        "stack_samples": samples({1: 0, 2: 5}),
        "stack_nodes": np.array([(1, 0, 1)], dtype_of("stack_nodes")),
    }
    frames = [
        frame_bytes(1, tables=before),
        frame_bytes(2, {1: [1, 1]}, identity={1: (0, "main")}),
        frame_bytes(3, tables={"stack_samples": samples({1: 9})}),
    ]
    header, body = split(merge(frames, FIELDS))
    assert header.kind == "key"
    tables = decode_tables(header, body)
    assert tables.keys() == {"stack_samples"}
    assert tables["stack_samples"][["sample", "wait_ns"]].tolist() == [(1, 9), (2, 5)]


def test_only_rows_of_figures_are_deleted() -> None:
    names: tuple[TableName, ...] = ("stack_samples", "stack_nodes", "stack_frames", "lock_names")
    for name in names:
        rows = np.zeros(1, dtype_of(name))
        assert len(latest_rows(name, [rows])) == 1
    gone = np.zeros(1, dtype_of("stack_counts"))
    assert len(latest_rows("stack_counts", [gone])) == 0
    assert len(joined_rows("stack_counts", [gone], keep_gone=True)) == 1
