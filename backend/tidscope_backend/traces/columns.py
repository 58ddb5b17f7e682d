"""Spans as Arrow tables: what is stored, and how it becomes spans again."""

from collections.abc import Sequence

import pyarrow as pa
from tidscope_traces.spans.model import Span

SCHEMA = pa.schema(
    [
        ("trace_id", pa.utf8()),
        ("span_id", pa.utf8()),
        ("parent_id", pa.utf8()),
        ("service", pa.utf8()),
        ("operation", pa.utf8()),
        ("start_ns", pa.int64()),
        ("end_ns", pa.int64()),
        ("kind", pa.utf8()),
        ("error", pa.bool_()),
        ("pid", pa.int64()),
        ("thread_id", pa.int64()),
        ("follows", pa.bool_()),
        ("attributes", pa.map_(pa.utf8(), pa.utf8())),
    ]
)
"""Names are those of `Span`; docs/traces.md describes them."""


def table_of(spans: Sequence[Span]) -> pa.Table:
    """Spans as a table, in their order; text that is not Unicode has ? in its place."""
    columns: list[Sequence[object]] = list(zip(*spans, strict=True)) or [()] * len(SCHEMA)
    columns[-1] = [list(span.attributes.items()) for span in spans]
    arrays = []
    for values, column in zip(columns, SCHEMA, strict=True):
        try:
            arrays.append(pa.array(values, column.type))
        except UnicodeEncodeError:
            arrays.append(pa.array([_encodable(value) for value in values], column.type))
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def spans_of(table: pa.Table) -> list[Span]:
    """Rows of such a table as spans; `table` has its columns, in any order."""
    columns = [table[name].to_pylist() for name in SCHEMA.names]
    columns[-1] = [dict(one) for one in columns[-1]]
    return [Span(*values) for values in zip(*columns, strict=True)]


def encode(table: pa.Table) -> bytes:
    """A table as bytes of its own."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def decode(data: bytes) -> pa.Table:
    """What `encode` made. Raises ValueError: it is something else."""
    try:
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            table = reader.read_all()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"not a batch of spans: {error}") from None
    if table.schema != SCHEMA:
        raise ValueError("a batch of spans with other columns")
    return table


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [tuple(_encodable(part) for part in pair) for pair in value]
    return value
