"""Any bytes as a frame: the decoder answers with rows that hold together, or refuses."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from fuzz.patches import patched
from golden_cases import golden_frames
from tidscope_wire.frame import (
    Fields,
    FrameError,
    RowEncoder,
    Rows,
    decode_delta,
    decode_key,
    key_fields,
    row_bytes,
    split,
)
from tidscope_wire.frame_tables import dtype_of
from tidscope_wire.generated.models import FrameHeader
from tidscope_wire.table_streams import decode_table, decode_tables, encode_table

GOLDEN = golden_frames()


def bodies() -> list[bytes]:
    """The rows of the golden frames, encoded."""
    return [bytes(body[: row_bytes(header, body)]) for header, body in _split()]


def _split() -> list[tuple[FrameHeader, memoryview]]:
    return [split(frame) for frame in GOLDEN.values()]


BODIES = bodies()
COLUMNS = [header.columns for header, _ in _split()]
FIELDS = key_fields(*split(GOLDEN["key"]))


def arrow(data: bytes) -> tuple[bytes, list[int] | None]:
    """Decode fuzz bytes: a patched Arrow part, or the bytes themselves behind a byte of 255.

    Any other first byte chooses one of the golden frames; then come patches.

    Returns:
        The Arrow part, and which columns its header says it has.
    """
    if not data or data[0] == 255:
        return data[1:], None
    chosen = data[0] % len(BODIES)
    return patched(BODIES[chosen], data[1:]), COLUMNS[chosen]


def check_frame(data: bytes) -> None:
    """Take bytes for a whole frame.

    Raises:
        AssertionError: what was decoded does not hold together.
    """
    try:
        header, body = split(data)
    except FrameError:
        return
    _check_tables(header, body)
    check_rows(bytes(body[: row_bytes(header, body)]), header.columns)


def _check_tables(header: FrameHeader, body: memoryview) -> None:
    try:
        tables = decode_tables(header, body)
    except FrameError:
        return
    for described in header.tables or ():
        table = tables[described.name]
        assert table.dtype == dtype_of(described.name)
        assert len(table) == described.rows
        assert decode_table(described.name, encode_table(described.name, table)).tolist() == (
            table.tolist()
        )


def check_arrow(data: bytes) -> None:
    """Take bytes for a program that patches the Arrow part of a golden frame."""
    check_rows(*arrow(data))


def check_rows(body: bytes, columns: list[int] | None = None) -> None:
    """Take bytes for the Arrow part of a key frame, and for that of a delta frame.

    Args:
        body: the bytes.
        columns: what the header says of its columns; None: it has all.
    """
    for decode in (_key, _delta):
        try:
            rows = decode(body, FIELDS, columns)
        except FrameError:
            continue
        _check(rows)
        names = tuple(rows.columns)
        encoded = RowEncoder(names).encode(rows)
        _check_again(rows, decode(bytes(encoded.data), names, encoded.columns))


def _key(body: bytes, fields: Fields, columns: Sequence[int] | None) -> Rows:
    # Without names in the header, the stream's names count.
    return decode_key(body, None if columns is None else fields, columns)


def _delta(body: bytes, fields: Fields, columns: Sequence[int] | None) -> Rows:
    rows = decode_delta(body, fields, columns)
    if body:
        _check_with_arrow(body, rows, fields if columns is None else [fields[i] for i in columns])
    return rows


def _check_with_arrow(body: bytes, rows: Rows, fields: Sequence[str]) -> None:
    """Inputs that both accept are read alike; Arrow also checks parts that this reader ignores."""
    schema = [("tid", pa.uint32()), *((name, pa.uint64()) for name in fields)]
    try:
        batch = pa.ipc.read_record_batch(pa.py_buffer(body), pa.schema(schema))
        batch.validate(full=True)
    except (pa.ArrowException, OSError):
        return
    assert batch.column(0).to_pylist() == rows.tid.tolist()
    for name in fields:
        values = rows.columns[name]
        gone = rows.absent.get(name, np.zeros(len(values), np.bool_)).tolist()
        found = [None if no else value for value, no in zip(values.tolist(), gone, strict=True)]
        assert batch.column(name).to_pylist() == found


def _check_again(rows: Rows, again: Rows) -> None:
    assert again.tid.tolist() == rows.tid.tolist()
    assert list(again.columns) == list(rows.columns)
    for field, values in rows.columns.items():
        gone = rows.absent.get(field, np.zeros(len(values), np.bool_))
        reported = again.absent.get(field, np.zeros(len(values), np.bool_))
        assert reported.tolist() == gone.tolist()
        assert again.columns[field][~gone].tolist() == values[~gone].tolist()
    assert (rows.start_ns is None) == (again.start_ns is None)
    if rows.start_ns is not None and again.start_ns is not None:
        assert again.start_ns.tolist() == rows.start_ns.tolist()
        assert again.name == rows.name
    assert (rows.pid is None) == (again.pid is None)
    if rows.pid is not None and again.pid is not None:
        assert again.pid.tolist() == rows.pid.tolist()


def _check(rows: Rows) -> None:
    count = len(rows.tid)
    assert rows.tid.dtype == np.uint32
    for values in rows.columns.values():
        assert (values.dtype.name, values.shape) == ("uint64", (count,))
    for field, gone in rows.absent.items():
        assert field in rows.columns
        assert (gone.dtype.name, gone.shape) == ("bool", (count,))
        assert gone.any()
    assert rows.pid is None or (rows.pid.dtype.name, rows.pid.shape) == ("uint32", (count,))
    assert (rows.start_ns is None) == (rows.name is None)
    if rows.start_ns is not None and rows.name is not None:
        assert (rows.start_ns.dtype.name, rows.start_ns.shape) == ("int64", (count,))
        assert len(rows.name) == count
        assert all(isinstance(name, str) for name in rows.name)
