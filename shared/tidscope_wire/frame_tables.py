"""Tables that frames carry behind their rows: facts whose keys are not threads.

Each is a whole Arrow IPC stream of one batch; `shared/schemas/frame_tables.json` has its columns.
In Python a table is a structured array of n rows with these columns; texts are objects of str.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidscope_wire.frame import END_OF_STREAM, FrameError, refuse_compressed, row_bytes
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import FrameHeader, FrameTable, TableName

Table = npt.NDArray[np.void]
"""Rows of a table, of `dtype_of(name)`."""
Tables = Mapping[TableName, Table]

Words = npt.NDArray[np.uint64]
"""Key of several columns, packed into one number per row."""

_NUMPY: Mapping[str, str] = {"uint32": "<u4", "uint64": "<u8", "utf8": "O"}
_ARROW = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}
_BITS = 64
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@lru_cache
def dtype_of(name: TableName) -> np.dtype[np.void]:
    """The columns of a table, in order."""
    return np.dtype([(column, _NUMPY[kind]) for column, kind in COLUMNS[name].items()])


def empty_table(name: TableName) -> Table:
    """Make a table without rows."""
    return np.empty(0, dtype_of(name))


def make_table(name: TableName, columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]) -> Table:
    """Make a table from columns of n values each, in any order.

    Raises:
        ValueError: the columns are not the table's, or differ in length.
    """
    made = dtype_of(name)
    if columns.keys() != set(made.names or ()):
        raise ValueError(f"{name} has the columns {made.names}, not {tuple(columns)}")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns of {sorted(lengths)} rows")
    table = np.empty(lengths.pop(), made)
    for column, values in columns.items():
        table[column] = values
    return table


def encode_tables(
    tables: Tables,
    omitted: Mapping[TableName, int] | None = None,
    read_ns: int | None = None,
) -> tuple[list[FrameTable], bytes]:
    """Encode tables in the order given.

    Args:
        tables: at most MAX_TABLE_ROWS rows each.
        omitted: number of rows left out, by table; tables without omissions are absent.
        read_ns: time of reading, since attach; None if unknown.

    Returns:
        Their descriptions for the header, and their bytes.
    """
    parts, described = list[bytes](), list[FrameTable]()
    for name, table in tables.items():
        data = encode_table(name, table)
        left_out = 0 if omitted is None else omitted.get(name, 0)
        described.append(
            FrameTable(
                name=name, rows=len(table), bytes=len(data), omitted=left_out, read_ns=read_ns
            )
        )
        parts.append(data)
    return described, b"".join(parts)


def encode_table(name: TableName, table: Table) -> bytes:
    """Encode one table as an Arrow IPC stream, a multiple of 8 bytes long."""
    schema, start = _schema(name)
    arrays = [
        pa.array(table[field.name].tolist(), pa.utf8())
        if field.type == pa.utf8()
        else pa.array(np.ascontiguousarray(table[field.name]))
        for field in schema
    ]
    batch = pa.record_batch(arrays, schema=schema)
    return b"".join((start, batch.serialize(), END_OF_STREAM))


@lru_cache
def _schema(name: TableName) -> tuple[pa.Schema, bytes]:
    schema = pa.schema([pa.field(column, _ARROW[kind]) for column, kind in COLUMNS[name].items()])
    return schema, schema.serialize().to_pybytes()


def table_parts(
    header: FrameHeader, body: bytes | memoryview
) -> list[tuple[FrameTable, memoryview]]:
    """The encoded tables of a frame that was split.

    Args:
        header: of the frame.
        body: the data that `tidscope_wire.frame.split` returns with it.
    """
    at, parts = row_bytes(header, body), list[tuple[FrameTable, memoryview]]()
    view = memoryview(body)
    for described in header.tables or ():
        parts.append((described, view[at : at + described.bytes]))
        at += described.bytes
    return parts


def decode_tables(header: FrameHeader, body: bytes | memoryview) -> dict[TableName, Table]:
    """Decode the tables of a frame that was split.

    Args:
        header: of the frame.
        body: the data that `tidscope_wire.frame.split` returns with it.

    Raises:
        FrameError: a table contradicts the header.
    """
    found: dict[TableName, Table] = {}
    for described, data in table_parts(header, body):
        table = decode_table(described.name, data)
        if len(table) != described.rows:
            raise FrameError(
                f"the header says {described.rows} rows of {described.name}, {len(table)} are there"
            )
        found[described.name] = table
    return found


def decode_table(name: TableName, data: bytes | memoryview) -> Table:
    """Decode one table.

    Raises:
        FrameError: it is not an Arrow stream of one batch with its columns and at most
            MAX_TABLE_ROWS rows.
    """
    schema, _ = _schema(name)
    try:
        refuse_compressed(data)
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            if not reader.schema.equals(schema):
                raise FrameError(f"table {name} has other columns than {schema.names}")
            batch = reader.read_next_batch()
            more = next(iter(reader), None) is not None
        batch.validate(full=True)
    except FrameError:
        raise
    except (pa.ArrowException, StopIteration, OSError, ValueError) as error:
        raise FrameError(f"bad Arrow stream of table {name}: {error}") from error
    if more:
        raise FrameError(f"table {name} has more than one record batch")
    if batch.num_rows > MAX_TABLE_ROWS:
        raise FrameError(f"table {name} has {batch.num_rows} rows")
    table = np.empty(batch.num_rows, dtype_of(name))
    for column in schema.names:
        values = batch.column(column)
        if values.null_count:
            raise FrameError(f"column {column} of table {name} has rows without a value")
        table[column] = values.to_numpy(zero_copy_only=False)
    return table


def number_rows(name: TableName, tables: Sequence[Table]) -> list[npt.NDArray[np.intp]]:
    """Number rows of several tables of one name by their keys, from 0 in the order of keys.

    Returns:
        intp[rows] for each table; rows with equal keys have equal numbers.
    """
    none = np.empty(0, np.uint32)
    columns = [
        np.concatenate([none, *(table[column] for table in tables)]) for column in KEYS[name]
    ]
    codes = packed(columns)
    if codes is None:
        codes = np.zeros(len(columns[0]), np.uint64)
        for place, values in enumerate(columns):
            if place > 1:  # Two columns fill 64 bits.
                codes = np.unique(codes, return_inverse=True)[1].astype(np.uint64)
            codes = codes << np.uint64(32) | values
    numbers = np.unique(codes, return_inverse=True)[1]
    ends = np.cumsum([len(table) for table in tables])
    return np.split(numbers, ends[:-1]) if len(tables) else []


def has_figures(name: TableName, table: Table) -> npt.NDArray[np.bool_]:
    """Mask of rows with figures. A row of zeros is deleted; rows of names never are."""
    figures = [column for column, kind in COLUMNS[name].items() if kind == "uint64"]
    if name == "lock_names":
        return np.ones(len(table), np.bool_)
    given: npt.NDArray[np.bool_] = np.any([table[column] != 0 for column in figures], axis=0)
    return given


def latest_rows(name: TableName, tables: Sequence[Table], *, keep_gone: bool = False) -> Table:
    """Join tables of one name in their order; the last row with a key wins.

    Args:
        name: of the tables.
        tables: the first ones of them, or changes to others.
        keep_gone: keep deleted rows, for readers that have earlier rows with these keys.

    Returns:
        Rows ordered by key; only the first MAX_TABLE_ROWS.
    """
    rows = np.concatenate([empty_table(name), *tables])
    (numbers,) = number_rows(name, [rows])
    # The last of several rows with equal numbers wins, because numpy assigns in order.
    last = np.zeros(int(numbers.max()) + 1 if len(numbers) else 0, np.intp)
    last[numbers] = np.arange(len(rows))
    joined = rows[last]
    if not keep_gone:
        joined = joined[has_figures(name, joined)]
    return joined[:MAX_TABLE_ROWS]


def packed(columns: Sequence[npt.NDArray[np.unsignedinteger]]) -> Words | None:
    """Numbers that compare like the rows' keys.

    Args:
        columns: one or more, of n rows each; the first is the most significant.

    Returns:
        uint64[n], or None if a key needs more than 64 bits.
    """
    if not len(columns[0]):
        return np.empty(0, np.uint64)
    parts = list[tuple[Words, int]]()
    for column in columns:
        words = column.astype(np.uint64, copy=False)
        # Halves with few bits each, as of two ids, need less room than all bits between them.
        if int(words.max()).bit_length() > int(_HALF):
            parts += [_part(words >> _HALF), _part(words & _LOW)]
        else:
            parts.append(_part(words))
    if sum(bits for _, bits in parts) > _BITS:
        return None
    made = np.zeros(len(columns[0]), np.uint64)
    for words, bits in parts:
        if bits:  # a shift by 64 is not defined, and one by all of them moves nothing
            made = made << np.uint64(bits % _BITS) | words
    return made


def _part(words: Words) -> tuple[Words, int]:
    return words, int(words.max()).bit_length()


def are_ascending(numbers: Words) -> bool:
    """True if each number is greater than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())
