"""The binary frame: one instant of one target.

Layout: a 4-byte little-endian length, that many bytes of JSON (`frames.schema.json`, padded
with blanks so that what follows stands at a multiple of 8), then the rows. Of a key frame they are
an Arrow IPC stream of one record batch; of a delta frame the message of a record batch alone, with
`tid` and columns of uint64; of a delta frame without rows nothing. A column that is 0 in all rows
is left out: the header of a key frame names all `fields`, that of any frame says which of them are
its `columns`. Behind the rows stand the tables that the header names (`frame_tables`). Readers need
no more than JSON and Arrow, and to start at a key frame.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidscope_wire.frame_head import LENGTH as LENGTH  # noqa: PLC0414
from tidscope_wire.frame_head import FrameError as FrameError  # noqa: PLC0414
from tidscope_wire.frame_head import split_text as split_text  # noqa: PLC0414
from tidscope_wire.generated.models import FrameHeader
from tidscope_wire.record_batches import (
    BatchError,
    BatchWriter,
    Counters,
    has_compression,
    read_batch,
)

END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
"""The end of an Arrow IPC stream: a continuation marker and a message of length 0."""
Fields = tuple[str, ...]
"""Names of the counter columns of a stream of frames, in column order."""
_IDENTITY = {"tid": pa.uint32(), "start_ns": pa.int64(), "name": pa.utf8()}
"""Columns of a key frame besides the counters."""
_GROUP_IDENTITY = {
    "tid": pa.uint32(),
    "pid": pa.uint32(),
    "start_ns": pa.int64(),
    "name": pa.utf8(),
}
"""Additional columns of a group's key frame."""


@dataclass(frozen=True)
class Rows:
    """The Arrow part of a frame, as numpy arrays of n rows.

    Attributes:
        tid: uint32, thread ids.
        columns: field name to uint64 values; undefined where `absent` is true.
        absent: field name to a bool array, true where the kernel gave no value. A field without
            an entry has all its values.
        start_ns: int64 nanoseconds since attach; key frames only.
        name: comms; key frames only.
        pid: uint32, the process of each thread; key frames of groups only.
    """

    tid: npt.NDArray[np.uint32]
    columns: Mapping[str, npt.NDArray[np.uint64]]
    absent: Mapping[str, npt.NDArray[np.bool_]]
    start_ns: npt.NDArray[np.int64] | None = None
    name: Sequence[str] | None = None
    pid: npt.NDArray[np.uint32] | None = None


class CounterMatrix(Mapping[str, npt.NDArray[np.uint64]]):
    """Counter columns in one matrix, as they are read: one row per thread.

    Args:
        fields: names of the columns.
        values: uint64[n, columns].
    """

    def __init__(self, fields: Fields, values: npt.NDArray[np.uint64]) -> None:
        self.fields = fields
        self.values_by_row = values

    def __getitem__(self, field: str) -> npt.NDArray[np.uint64]:
        try:
            return self.values_by_row[:, self.fields.index(field)]
        except ValueError:
            raise KeyError(field) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)


class EncodedRows(NamedTuple):
    """The Arrow part of a frame, and the header's description of its columns.

    Attributes:
        data: the Arrow part, until the encoder's next call.
        fields: all counter columns, in order; key frames only.
        columns: positions of the batch's columns in `fields`; None for all.
    """

    data: bytes | memoryview
    fields: Fields | None
    columns: Sequence[int] | None


NO_ROWS = EncodedRows(b"", None, None)
"""The Arrow part of a delta frame without rows."""


class RowEncoder:
    """Encoder of rows as the Arrow part of frames; caches what frames have in common.

    Args:
        fields: names of the counter columns, in column order.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = tuple(fields)
        self._place = {name: place for place, name in enumerate(self._fields)}
        self._deltas = BatchWriter()
        self._key = pa.schema([])
        self._key_start = b""

    def encode(self, rows: Rows) -> EncodedRows:
        """Encode rows, as a key frame if they have start times and names."""
        if rows.start_ns is None or rows.name is None:
            return self._encode_delta(rows)
        places = self._columns(rows)
        fields = self._fields if places is None else [self._fields[place] for place in places]
        arrays = [pa.array(rows.start_ns), pa.array(rows.name, pa.utf8())]
        arrays += [pa.array(rows.columns[name], mask=rows.absent.get(name)) for name in fields]
        processes = [] if rows.pid is None else [pa.array(rows.pid)]
        arrays = [pa.array(rows.tid), *processes, *arrays]
        identity = _IDENTITY if rows.pid is None else _GROUP_IDENTITY
        names = [*identity, *fields]
        if names != self._key.names:
            kinds = [*identity.values(), *([pa.uint64()] * len(fields))]
            self._key = pa.schema(list(zip(names, kinds, strict=True)))
            self._key_start = self._key.serialize().to_pybytes()
        # The output of an IPC writer, without making the schema's message again for each frame.
        key = pa.record_batch(arrays, schema=self._key)
        data = b"".join((self._key_start, key.serialize(), END_OF_STREAM))
        return EncodedRows(data, self._fields, places)

    def _encode_delta(self, rows: Rows) -> EncodedRows:
        if not len(rows.tid):
            return NO_ROWS
        places = self._columns(rows)
        chosen = range(len(self._fields)) if places is None else places
        absent = {
            number: rows.absent[self._fields[place]]
            for number, place in enumerate(chosen)
            if self._fields[place] in rows.absent
        }
        columns = rows.columns
        counters: Counters
        if isinstance(columns, CounterMatrix) and columns.fields == self._fields:
            values = columns.values_by_row.T
            counters = values if places is None else values[places]
        else:
            counters = [columns[self._fields[place]] for place in chosen]
        return EncodedRows(self._deltas.encode(rows.tid, counters, absent), None, places)

    def _columns(self, rows: Rows) -> list[int] | None:
        """Positions of the columns with a value other than 0; None if all columns have one."""
        columns = rows.columns
        if not len(rows.tid):
            return None
        if isinstance(columns, CounterMatrix) and columns.fields == self._fields:
            given = np.logical_or.reduce(columns.values_by_row, axis=0)
        else:
            given = np.fromiter((columns[name].any() for name in self._fields), np.bool_)
        for name, mask in rows.absent.items():
            if mask.any():
                given[self._place[name]] = True
        return None if given.all() else np.flatnonzero(given).tolist()


class FrameDecoder:
    """Decoder of one target's frames in order; remembers the columns of key frames.

    Args:
        fields: counter columns of earlier key frames; None to start at a key frame.

    Attributes:
        fields: counter columns of the last key frame.
    """

    def __init__(self, fields: Fields | None = None) -> None:
        self.fields = fields

    def decode(self, frame: bytes) -> tuple[FrameHeader, Rows]:
        """Decode the next frame.

        Raises:
            FrameError: it is not a frame, its header counts other rows than it has, or it is a
                delta frame with rows and no key frame came before it.
        """
        header, behind = split(frame)
        return header, self.decode_rows(header, behind)

    def decode_rows(self, header: FrameHeader, behind: memoryview) -> Rows:
        """Decode the rows of the next frame, already split.

        Raises:
            FrameError: as `decode`.
        """
        body = behind[: row_bytes(header, behind)]
        if header.kind == "key":
            rows = decode_key(body, header.fields, header.columns)
            self.fields = tuple(rows.columns)
        elif self.fields is not None:
            rows = decode_delta(body, self.fields, header.columns)
        elif header.rows:
            raise FrameError(
                "a delta frame with rows, and no key frame before it names its columns"
            )
        else:
            rows = decode_delta(body, ())
        if header.rows != len(rows.tid):
            raise FrameError(f"the header says {header.rows} rows, the batch has {len(rows.tid)}")
        return rows


def join(header: FrameHeader, rows: EncodedRows | bytes | memoryview, tables: bytes = b"") -> bytes:
    """Make a frame.

    Args:
        header: of the frame; where rows are given as encoded now, its `fields` and `columns` become
            theirs.
        rows: the Arrow part.
        tables: the encoded tables that the header names.
    """
    if isinstance(rows, EncodedRows):
        fields = None if rows.fields is None else list(rows.fields)
        columns = None if rows.columns is None else list(rows.columns)
        header = header.model_copy(update={"fields": fields, "columns": columns})
        rows = rows.data
    text = header.model_dump_json().encode()
    padding = -(LENGTH.size + len(text)) % 8
    return b"".join((LENGTH.pack(len(text) + padding), text, b" " * padding, rows, tables))


def split(frame: bytes) -> tuple[FrameHeader, memoryview]:
    """Take a frame apart.

    Returns:
        The header, checked against its schema, and what is behind it, still encoded: the rows,
        `row_bytes` of it, and the tables.

    Raises:
        FrameError: it is not a frame.
    """
    text, body = split_text(frame)
    try:
        header = FrameHeader.model_validate_json(text)
    except ValueError as error:
        raise FrameError(f"bad header: {error}") from error
    _check_lengths(header, body)
    return header, body


def _check_lengths(header: FrameHeader, body: memoryview) -> None:
    tables = header.tables or ()
    if len({table.name for table in tables}) != len(tables):
        raise FrameError("two tables have one name")
    rows = row_bytes(header, body)
    if rows < 0:
        raise FrameError(f"tables of {len(body) - rows} bytes in {len(body)}")
    if tables and (rows % 8 or any(table.bytes % 8 for table in tables)):
        raise FrameError("a table does not stand at a multiple of 8")
    if bool(rows) != (header.kind == "key" or header.rows > 0):
        raise FrameError(
            f"a {header.kind} frame of {header.rows} rows has {rows} bytes behind its header"
        )


def row_bytes(header: FrameHeader, body: bytes | memoryview) -> int:
    """Length of the rows in the data behind a header, in bytes; the tables follow."""
    return len(body) - sum(table.bytes for table in header.tables or ())


def key_fields(header: FrameHeader, body: bytes | memoryview) -> Fields:
    """The counter columns of a key frame and of the delta frames behind it.

    Raises:
        FrameError: the header names none, and the Arrow part does not start with the schema of a
            key frame.
    """
    if header.fields is not None:
        return tuple(header.fields)
    try:
        with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
            schema = reader.schema
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FrameError(f"bad Arrow stream: {error}") from error
    return _fields_of(schema)


def _identity_of(schema: pa.Schema) -> dict[str, pa.DataType]:
    return _GROUP_IDENTITY if "pid" in schema.names else _IDENTITY


def _fields_of(schema: pa.Schema) -> Fields:
    if len(set(schema.names)) != len(schema):
        raise FrameError("two columns have one name")
    types = dict(zip(schema.names, schema.types, strict=True))
    for name, kind in _identity_of(schema).items():
        if types.pop(name, None) != kind:
            raise FrameError(f"column {name} ({kind}) is missing")
    for name, kind in types.items():
        if kind != pa.uint64():
            raise FrameError(f"column {name} is {kind}, not uint64")
    return tuple(types)


def decode_key(
    body: bytes | memoryview,
    fields: Sequence[str] | None = None,
    columns: Sequence[int] | None = None,
) -> Rows:
    """Decode the Arrow part of a key frame.

    Args:
        body: its bytes.
        fields: all counter columns, from the header; None for the stream's own.
        columns: positions of the stream's columns in `fields`; None for all. The others are 0.

    Raises:
        FrameError: it is not an Arrow stream of one batch with the columns of a key frame.
    """
    try:
        refuse_compressed(body)
        with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
            given = _fields_of(reader.schema)
            batch = reader.read_next_batch()
            more = next(iter(reader), None) is not None
        batch.validate(full=True)
    except FrameError:
        raise
    except (pa.ArrowException, StopIteration, OSError, ValueError) as error:
        raise FrameError(f"bad Arrow stream: {error}") from error
    if more:
        raise FrameError("bad Arrow stream: more than one record batch")
    identity = _identity_of(batch.schema)
    for name in identity:
        if batch.column(name).null_count:
            raise FrameError(f"column {name} has rows without a value")
    names = given if fields is None else tuple(fields)
    if len(set(names)) != len(names) or not _GROUP_IDENTITY.keys().isdisjoint(names):
        raise FrameError("two columns have one name")
    if _chosen(names, columns) != given:
        raise FrameError(f"the stream has the columns {given}, which the header does not say")
    values: dict[str, npt.NDArray[np.uint64]] = {}
    absent: dict[str, npt.NDArray[np.bool_]] = {}
    for field in given:
        column = batch.column(field)
        if column.null_count:
            absent[field] = column.is_null().to_numpy(zero_copy_only=False)
            column = column.fill_null(0)
        values[field] = column.to_numpy()
    tid, start_ns = batch.column("tid").to_numpy(), batch.column("start_ns").to_numpy()
    named = _with_zeros(names, values, len(tid))
    called = batch.column("name").to_pylist()
    pid = batch.column("pid").to_numpy() if "pid" in identity else None
    return Rows(tid, named, absent, start_ns, called, pid)


def _chosen(fields: Fields, columns: Sequence[int] | None) -> Fields:
    """Fields for which a batch has columns."""
    if columns is None:
        return fields
    ascending = all(one < other for one, other in pairwise(columns))
    if not ascending or (columns and not 0 <= columns[0] <= columns[-1] < len(fields)):
        raise FrameError(f"{list(columns)} are not positions of columns among {len(fields)}")
    return tuple(fields[place] for place in columns)


def _with_zeros(
    fields: Fields, given: dict[str, npt.NDArray[np.uint64]], rows: int
) -> dict[str, npt.NDArray[np.uint64]]:
    """All columns in order; missing ones are 0."""
    if len(given) == len(fields):
        return given
    zeros = np.zeros(rows, np.uint64)
    zeros.flags.writeable = False
    return {field: given.get(field, zeros) for field in fields}


def decode_delta(
    body: bytes | memoryview, fields: Fields, columns: Sequence[int] | None = None
) -> Rows:
    """Decode the Arrow part of a delta frame.

    Args:
        body: its bytes; empty if the frame has no rows.
        fields: the counter columns of the key frame before it.
        columns: positions of the batch's columns in `fields`; None for all. The others are 0.

    Raises:
        FrameError: it is not the message of a record batch with these columns.
    """
    if not len(body):
        return Rows(np.empty(0, np.uint32), dict.fromkeys(fields, np.empty(0, np.uint64)), {})
    given = _chosen(fields, columns)
    try:
        tid, *counters = read_batch(body, _delta_types(len(given)))
    except BatchError as error:
        raise FrameError(f"bad Arrow message: {error}") from None
    if tid.absent is not None:
        raise FrameError("column tid has rows without a value")
    if not len(tid.values):
        raise FrameError("bad Arrow message: a batch without rows")
    named = dict(zip(given, counters, strict=True))
    values = {field: column.values for field, column in named.items()}
    return Rows(
        tid.values,
        _with_zeros(fields, values, len(tid.values)),
        {field: column.absent for field, column in named.items() if column.absent is not None},
    )


@lru_cache(maxsize=64)
def _delta_types(fields: int) -> list[np.dtype[np.unsignedinteger]]:
    return [np.dtype("<u4"), *([np.dtype("<u8")] * fields)]


def refuse_compressed(body: bytes | memoryview) -> None:
    """Refuse buffers that unpack to more than their own size, before anything unpacks them."""
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(body)):
        if message.type == "dictionary":
            raise FrameError("a column is a dictionary")
        if message.type != "record batch":
            continue
        if has_compression(memoryview(message.metadata)):
            raise FrameError("its buffers are compressed")
