"""Tables that frames carry as Arrow IPC streams of one batch each, written and read by pyarrow.

A module of its own, since the collector needs the rows of tables and never pyarrow.
"""

from collections.abc import Container, Mapping
from functools import lru_cache

import numpy as np
import pyarrow as pa

from tidscope_wire.frame import END_OF_STREAM, FrameError, refuse_compressed, row_bytes
from tidscope_wire.frame_tables import LATER, Table, Tables, dtype_of
from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import FrameHeader, FrameTable, TableName

_ARROW = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}


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


def decode_tables(
    header: FrameHeader, body: bytes | memoryview, names: Container[TableName] | None = None
) -> dict[TableName, Table]:
    """Decode the tables of a frame that was split.

    Args:
        header: of the frame.
        body: the data that `tidscope_wire.frame.split` returns with it.
        names: tables to decode; None for all.

    Raises:
        FrameError: a table contradicts the header.
    """
    found: dict[TableName, Table] = {}
    for described, data in table_parts(header, body):
        if names is not None and described.name not in names:
            continue
        table = decode_table(described.name, data)
        if len(table) != described.rows:
            raise FrameError(
                f"the header says {described.rows} rows of {described.name}, {len(table)} are there"
            )
        found[described.name] = table
    return found


def decode_table(name: TableName, data: bytes | memoryview, *, newer: bool = False) -> Table:
    """Decode one table; columns that it lacks, because it is older than they are, are 0.

    Args:
        name: of the table.
        data: the Arrow stream.
        newer: ignore columns that this version does not know.

    Raises:
        FrameError: it is not an Arrow stream of one batch with its columns and at most
            MAX_TABLE_ROWS rows.
    """
    schema, _ = _schema(name)
    try:
        refuse_compressed(data)
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            there = reader.schema
            if newer:
                there = pa.schema([field for field in there if field.name in schema.names])
            if not there.equals(schema) and not _is_older(name, schema, there):
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
    table = np.zeros(batch.num_rows, dtype_of(name))
    for column in there.names:
        values = batch.column(column)
        if values.null_count:
            raise FrameError(f"column {column} of table {name} has rows without a value")
        table[column] = values.to_numpy(zero_copy_only=False)
    return table


def _is_older(name: TableName, schema: pa.Schema, there: pa.Schema) -> bool:
    """True if a table lacks nothing but columns that came later."""
    later = LATER.get(name, frozenset())
    kept = [field for field in schema if field.name not in later or field.name in there.names]
    return bool(there.equals(pa.schema(kept)))
