"""Tables of frames, and batches of records."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from builders import frame_header
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tidscope_collector.waits.wire_tables import sum_by
from tidscope_wire.frame import FrameDecoder, FrameError, RowEncoder, Rows, join, split
from tidscope_wire.frame_tables import (
    Table,
    are_ascending,
    dtype_of,
    empty_table,
    latest_rows,
    make_table,
    number_rows,
    packed,
)
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import TableName
from tidscope_wire.record_batches import BatchWriter
from tidscope_wire.table_streams import decode_table, decode_tables, encode_table, encode_tables

NO_ROWS = Rows(np.empty(0, np.uint32), {}, {})
VALUES = {
    "uint32": st.integers(0, 2**32 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "utf8": st.text(max_size=9),
}
NAMES: list[TableName] = list(COLUMNS)


def stays(*rows: tuple[int, int, int, int]) -> Table:
    return np.array(list(rows), dtype_of("stays"))


@st.composite
def tables(draw: st.DrawFn) -> tuple[TableName, Table]:
    name = draw(st.sampled_from(NAMES))
    row = st.tuples(*(VALUES[kind] for kind in COLUMNS[name].values()))
    return name, np.array(draw(st.lists(row, max_size=9)), dtype_of(name))


@settings(deadline=None)
@given(st.lists(tables(), max_size=4, unique_by=lambda one: one[0]), st.booleans())
def test_any_tables_are_read_as_they_were_written(
    made: list[tuple[TableName, Table]], rows: bool
) -> None:
    described, data = encode_tables(dict(made))
    assert all(one.bytes % 8 == 0 for one in described)
    tids = np.arange(3 if rows else 0, dtype=np.uint32)
    columns = {"cpu_run_ns": np.arange(len(tids), dtype=np.uint64)}
    header = frame_header(rows=len(tids)).model_copy(update={"tables": described or None})
    frame = join(header, RowEncoder(list(columns)).encode(Rows(tids, columns, {})), data)
    found = decode_tables(*split(frame))
    assert {name: table.tolist() for name, table in found.items()} == {
        name: table.tolist() for name, table in made
    }
    assert all(table.dtype == dtype_of(name) for name, table in found.items())
    # Rows are where they were, and are read as if there were no tables.
    _, read = FrameDecoder(("cpu_run_ns",)).decode(frame)
    assert read.tid.tolist() == tids.tolist()


@given(tables())
def test_keys_stand_first_and_have_numbers(made: tuple[TableName, Table]) -> None:
    name, table = made
    assert tuple(COLUMNS[name])[: len(KEYS[name])] == KEYS[name]
    assert {COLUMNS[name][column] for column in KEYS[name]} == {"uint32"}
    keys = [tuple(int(row[column]) for column in KEYS[name]) for row in table]
    (numbers,) = number_rows(name, [table])
    order = {key: place for place, key in enumerate(sorted(set(keys)))}
    assert numbers.tolist() == [order[key] for key in keys]
    apart = number_rows(name, [table[:2], table[2:]])
    assert [*apart[0].tolist(), *apart[1].tolist()] == numbers.tolist()


def test_of_rows_with_one_key_the_last_one_stands() -> None:
    joined = latest_rows(
        "stays",
        [
            stays((7, 4, 0, 1), (8, 4, 0, 1)),
            stays((8, 4, 0, 5), (8, 4, 1, 1)),
            empty_table("stays"),
        ],
    )
    assert joined.tolist() == [(7, 4, 0, 1), (8, 4, 0, 5), (8, 4, 1, 1)]
    assert latest_rows("stays", []).tolist() == []


def test_a_row_without_figures_is_gone() -> None:
    before = stays((7, 4, 0, 1), (8, 4, 0, 1))
    assert latest_rows("stays", [before, stays((7, 4, 0, 0))]).tolist() == [(8, 4, 0, 1)]
    names = np.array([(1, 0, "", "unknown", "futex", "")], dtype_of("lock_names"))
    assert len(latest_rows("lock_names", [names])) == 1


def test_a_joined_table_is_bounded() -> None:
    many = np.zeros(MAX_TABLE_ROWS, dtype_of("stays"))
    many["tid"], many["count"] = np.arange(len(many)), 1
    more = many.copy()
    more["tid"] += 1
    assert len(latest_rows("stays", [many, more])) == MAX_TABLE_ROWS


def stream(columns: dict[str, pa.Array], batches: int = 1, codec: str | None = None) -> bytes:
    batch = pa.record_batch(columns)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        for _ in range(batches):
            writer.write_batch(batch)
    made: bytes = sink.getvalue().to_pybytes()
    return made


def columns(rows: int = 1) -> dict[str, pa.Array]:
    return {
        "tid": pa.array([1] * rows, pa.uint32()),
        "state": pa.array([1] * rows, pa.uint32()),
        "bucket": pa.array([1] * rows, pa.uint32()),
        "count": pa.array([1] * rows, pa.uint64()),
    }


def without(name: str) -> dict[str, pa.Array]:
    return {column: values for column, values in columns().items() if column != name}


WRONG: dict[str, Callable[[], bytes]] = {
    "no stream": lambda: bytes(64),
    "cut off": lambda: stream(columns())[:-120],
    "a column is missing": lambda: stream(without("state")),
    "one column more": lambda: stream({**columns(), "more": pa.array([1], pa.uint64())}),
    "another order": lambda: stream({**without("tid"), "tid": columns()["tid"]}),
    "another type": lambda: stream({**columns(), "count": pa.array([1], pa.int64())}),
    "a null": lambda: stream({**columns(), "count": pa.array([None], pa.uint64())}),
    "two batches": lambda: stream(columns(), batches=2),
    "no batch": lambda: stream(columns(), batches=0),
    "compressed": lambda: stream(columns(1000), codec="zstd"),
    "too many rows": lambda: stream(columns(MAX_TABLE_ROWS + 1)),
}


def test_a_column_that_came_later_is_0_in_an_older_table() -> None:
    kinds = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}
    arrays = {
        column: pa.array(["cc"] if kind == "utf8" else [7], kinds[kind])
        for column, kind in COLUMNS["takers"].items()
    }
    (row,) = decode_table("takers", stream(arrays))
    assert row["party"] == 7
    (row,) = decode_table("takers", stream({k: v for k, v in arrays.items() if k != "party"}))
    assert (row["party"], row["tid"], row["name"]) == (0, 7, "cc")
    with pytest.raises(FrameError):
        decode_table("takers", stream({k: v for k, v in arrays.items() if k != "tid"}))


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_such_table_is_refused(wrong: str) -> None:
    assert decode_table("stays", stream(columns())).tolist() == [(1, 1, 1, 1)]
    with pytest.raises(FrameError):
        decode_table("stays", WRONG[wrong]())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rows": 2}, "says 2 rows of stays, 1 are there"),
        ({"bytes": 8}, "bytes behind its header|bad Arrow"),
        ({"bytes": 2**20}, "tables of"),
        ({"bytes": 12}, "multiple of 8"),
        ({"name": "calls"}, "other columns"),
    ],
)
def test_a_header_that_says_something_else_is_refused(
    changes: dict[str, object], reason: str
) -> None:
    (described,), data = encode_tables({"stays": stays((1, 2, 3, 4))})
    wrong = described.model_copy(update=changes)
    header = frame_header(rows=0).model_copy(update={"tables": [wrong]})
    with pytest.raises(FrameError, match=reason):
        decode_tables(*split(join(header, data)))


def test_two_tables_of_one_name_are_refused() -> None:
    (described,), data = encode_tables({"stays": stays((1, 2, 3, 4))})
    header = frame_header(rows=0).model_copy(update={"tables": [described, described]})
    with pytest.raises(FrameError, match="two tables"):
        split(join(header, data + data))


def test_a_table_is_made_of_its_columns_only() -> None:
    with pytest.raises(ValueError, match="stays has the columns"):
        make_table("stays", {"tid": [1]})
    with pytest.raises(ValueError, match="columns of"):
        make_table("stays", {"tid": [1], "state": [1, 2], "bucket": [1], "count": [1]})
    made = make_table("stays", {"tid": [1], "state": [2], "bucket": [3], "count": [4]})
    assert decode_table("stays", encode_table("stays", made)).tolist() == [(1, 2, 3, 4)]


# Some need more than 64 bits together, some have both halves in use.
WORD = st.one_of(
    st.integers(0, 3),
    st.integers(0, 2**32 - 1),
    st.builds(lambda high, low: high << 32 | low, st.integers(0, 2**16), st.integers(0, 5)),
    st.integers(0, 2**64 - 1),
)
ROWS = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[WORD] * width), min_size=1))


@given(ROWS)
def test_numbers_are_in_the_order_of_keys(rows: list[tuple[int, ...]]) -> None:
    numbers = packed([np.array(column, np.uint64) for column in zip(*rows, strict=True)])
    if numbers is None:
        bits = sum(max(column).bit_length() for column in zip(*rows, strict=True))
        assert bits > 64
        return
    order = sorted(range(len(rows)), key=lambda row: rows[row])
    assert [rows[row] for row in np.argsort(numbers, kind="stable")] == [rows[row] for row in order]
    assert len(set(numbers.tolist())) == len(set(rows))
    assert are_ascending(numbers) == (rows == sorted(set(rows)))


@given(ROWS)
def test_sums_are_those_of_a_dictionary(rows: list[tuple[int, ...]]) -> None:
    expected: dict[tuple[int, ...], int] = {}
    for place, row in enumerate(rows):
        expected[row] = expected.get(row, 0) + place
    columns = tuple(np.array(column, np.uint64) for column in zip(*rows, strict=True))
    keys, (sums,) = sum_by(columns, (np.arange(len(rows), dtype=np.uint64),))
    found = list(zip(*(column.tolist() for column in keys), strict=True))
    assert found == sorted(expected)
    assert sums.tolist() == [expected[row] for row in found]


@given(st.lists(st.tuples(*[st.integers(0, 2**32 - 1) | st.integers(0, 2)] * 3)))
def test_rows_of_tables_have_numbers_by_their_keys(rows: list[tuple[int, int, int]]) -> None:
    table = np.array([(*row, 1) for row in rows], dtype_of("stays"))
    (numbers,) = number_rows("stays", [table])
    places = {row: place for place, row in enumerate(sorted(set(rows)))}
    assert numbers.tolist() == [places[row] for row in rows]


MAX_COLUMNS = 5
WRITER = BatchWriter()
"""One for all examples: what one batch leaves behind must not show in the next."""


def schema_of(columns: int) -> pa.Schema:
    counters = [pa.field(f"f{n}", pa.uint64()) for n in range(columns)]
    return pa.schema([pa.field("tid", pa.uint32()), *counters])


def of_pyarrow(
    tids: npt.NDArray[np.uint32],
    values: npt.NDArray[np.uint64],
    absent: dict[int, npt.NDArray[np.bool_]],
) -> bytes:
    counters = [pa.array(column, mask=absent.get(index)) for index, column in enumerate(values)]
    made = [pa.array(tids), *counters]
    written: bytes = pa.record_batch(made, schema=schema_of(len(values))).serialize().to_pybytes()
    return written


@given(st.data(), st.integers(1, 70), st.integers(0, MAX_COLUMNS))
def test_batches_are_those_of_pyarrow(data: st.DataObject, rows: int, columns: int) -> None:
    tids = data.draw(arrays(np.uint32, rows))
    values = data.draw(arrays(np.uint64, (columns, rows)))
    mask = arrays(np.bool_, rows, elements=st.booleans())
    masks = data.draw(st.dictionaries(st.integers(0, columns - 1), mask)) if columns else {}
    expected = of_pyarrow(tids, values, masks)
    assert WRITER.encode(tids, list(values), masks) == expected
    # A row a thread, as they are read.
    assert WRITER.encode(tids, np.ascontiguousarray(values.T).T, masks) == expected


def test_large_batch_is_read_back_by_arrow() -> None:
    rows = 100_000
    values = np.arange(rows, dtype=np.uint64) * np.arange(MAX_COLUMNS, dtype=np.uint64)[:, None]
    gone = np.arange(rows) % 3 == 0
    message = WRITER.encode(np.arange(rows, dtype=np.uint32), values, {0: gone})
    batch = pa.ipc.read_record_batch(pa.py_buffer(message), schema_of(MAX_COLUMNS))
    batch.validate(full=True)
    assert batch.column(1).null_count == np.count_nonzero(gone)
    assert np.array_equal(batch.column(MAX_COLUMNS).to_numpy(), values[MAX_COLUMNS - 1])
