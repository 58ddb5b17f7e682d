"""The binary frame: one instant of one target.

Layout: a 4-byte little-endian length, that many bytes of JSON (`frame_header.schema.json`, padded
with blanks so that what follows stands at a multiple of 8), then an Arrow IPC stream with one
record batch. Readers need no more than JSON and Arrow.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidscope_wire.batch_template import BatchTemplate
from tidscope_wire.generated.limits import MAX_HEADER_BYTES
from tidscope_wire.generated.models import FrameHeader

LENGTH = struct.Struct("<I")
_OFFSET, _SIGNED, _SHORT = struct.Struct("<I"), struct.Struct("<i"), struct.Struct("<H")
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
"""The end of an Arrow IPC stream: a continuation marker and a message of length 0."""


class FrameError(ValueError):
    """A binary message is not a frame; the text says in what way."""


@dataclass(frozen=True)
class Rows:
    """The Arrow part of a frame, as numpy arrays of n rows.

    Attributes:
        tid: uint32, thread ids.
        columns: field name to uint64 values; where `absent` says so they mean nothing.
        absent: field name to a bool array, true where the kernel gave no value. A field that is
            not named has all its values.
        start_ns: int64 nanoseconds since attach; key frames only.
        name: comms; key frames only.
    """

    tid: npt.NDArray[np.uint32]
    columns: Mapping[str, npt.NDArray[np.uint64]]
    absent: Mapping[str, npt.NDArray[np.bool_]]
    start_ns: npt.NDArray[np.int64] | None = None
    name: Sequence[str] | None = None


class RowEncoder:
    """Writes rows as Arrow IPC streams; keeps what is the same from frame to frame.

    Args:
        fields: names of the counter columns, in column order.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        counters = [pa.field(name, pa.uint64()) for name in fields]
        identity = [pa.field("start_ns", pa.int64()), pa.field("name", pa.utf8())]
        delta = pa.schema([pa.field("tid", pa.uint32()), *counters])
        self._fields = tuple(fields)
        self._key = pa.schema([pa.field("tid", pa.uint32()), *identity, *counters])
        self._key_start = self._key.serialize().to_pybytes()
        self._delta = BatchTemplate(delta)
        self._delta_start = delta.serialize().to_pybytes()

    def encode(self, rows: Rows) -> bytes:
        """Encode rows; they make a key frame if they carry start times and names."""
        columns = [rows.columns[field] for field in self._fields]
        absent = [rows.absent.get(field) for field in self._fields]
        if rows.start_ns is None or rows.name is None:
            batch = self._delta.encode([rows.tid, *columns], [None, *absent])
            return b"".join((self._delta_start, *batch, END_OF_STREAM))
        arrays = [pa.array(rows.tid), pa.array(rows.start_ns), pa.array(rows.name, pa.utf8())]
        for column, mask in zip(columns, absent, strict=True):
            arrays.append(pa.array(column, mask=mask))
        # What an IPC writer would write, without making the schema's message again for each frame.
        key = pa.record_batch(arrays, schema=self._key)
        return b"".join((self._key_start, key.serialize(), END_OF_STREAM))


def join(header: FrameHeader, body: bytes) -> bytes:
    """Make a frame of its header and its Arrow stream."""
    text = header.model_dump_json().encode()
    padding = -(LENGTH.size + len(text)) % 8
    return b"".join((LENGTH.pack(len(text) + padding), text, b" " * padding, body))


def split(frame: bytes) -> tuple[FrameHeader, memoryview]:
    """Take a frame apart.

    Returns:
        The header, checked against its schema, and the Arrow stream, still encoded.

    Raises:
        FrameError: it is not a frame.
    """
    if len(frame) < LENGTH.size:
        raise FrameError(f"a frame has at least {LENGTH.size} bytes, this one {len(frame)}")
    (length,) = LENGTH.unpack_from(frame)
    end = LENGTH.size + length
    if length > MAX_HEADER_BYTES or end > len(frame):
        raise FrameError(f"header of {length} bytes in a frame of {len(frame)}")
    if end % 8:
        raise FrameError(f"the Arrow part starts at {end}, which is not a multiple of 8")
    try:
        header = FrameHeader.model_validate_json(frame[LENGTH.size : end])
    except ValueError as error:
        raise FrameError(f"bad header: {error}") from error
    return header, memoryview(frame)[end:]


def decode_frame(frame: bytes) -> tuple[FrameHeader, Rows]:
    """Decode a whole frame.

    Raises:
        FrameError: it is not a frame, or its header counts other rows than it has.
    """
    header, body = split(frame)
    rows = decode_rows(body)
    if header.rows != len(rows.tid):
        raise FrameError(f"the header says {header.rows} rows, the batch has {len(rows.tid)}")
    if (header.kind == "key") != (rows.start_ns is not None):
        raise FrameError(f"a {header.kind} frame has the columns of another kind")
    return header, rows


def decode_rows(body: bytes | memoryview) -> Rows:
    """Decode the Arrow part of a frame.

    Raises:
        FrameError: it is not an Arrow stream of one batch with the columns of a frame.
    """
    try:
        _refuse_compressed(body)
        with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
            batch = reader.read_next_batch()
            more = next(iter(reader), None) is not None
        batch.validate(full=True)
        names = list(batch.schema.names)
    except (pa.ArrowException, StopIteration, OSError, ValueError) as error:
        raise FrameError(f"bad Arrow stream: {error}") from error
    if more:
        raise FrameError("bad Arrow stream: more than one record batch")
    found = dict(zip(names, batch.columns, strict=True))
    if len(found) != len(names):
        raise FrameError("two columns have one name")
    tid = _identity(found, "tid", pa.uint32())
    start, name = None, None
    if "start_ns" in found or "name" in found:
        start = _identity(found, "start_ns", pa.int64()).to_numpy()
        name = _identity(found, "name", pa.utf8()).to_pylist()
    columns: dict[str, npt.NDArray[np.uint64]] = {}
    absent: dict[str, npt.NDArray[np.bool_]] = {}
    for field, values in found.items():
        if values.type != pa.uint64():
            raise FrameError(f"column {field} is {values.type}, not uint64")
        column = values
        if column.null_count:
            absent[field] = column.is_null().to_numpy(zero_copy_only=False)
            column = column.fill_null(0)
        columns[field] = column.to_numpy()
    return Rows(tid.to_numpy(), columns, absent, start, name)


def _refuse_compressed(body: bytes | memoryview) -> None:
    """Refuse buffers that unpack to more than their own size, before anything unpacks them.

    A message is a flatbuffer (Arrow's Message.fbs): its header is the third field, and the
    compression of a record batch the fourth field of that.
    """
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(body)):
        if message.type == "dictionary":
            raise FrameError("a column is a dictionary")
        if message.type != "record batch":
            continue
        metadata = memoryview(message.metadata)
        try:
            (root,) = _OFFSET.unpack_from(metadata)
            header = root + _flatbuffer_field(metadata, root, 2)
            (batch,) = _OFFSET.unpack_from(metadata, header)
            compressed = _flatbuffer_field(metadata, header + batch, 3)
        except struct.error as error:
            raise FrameError(str(error)) from None
        if compressed:
            raise FrameError("its buffers are compressed")


def _flatbuffer_field(data: memoryview, table: int, field: int) -> int:
    """Where a field of a table is, from the start of the table; 0: it has none."""
    (back,) = _SIGNED.unpack_from(data, table)
    entry = 4 + 2 * field
    (size,) = _SHORT.unpack_from(data, table - back)
    offset = _SHORT.unpack_from(data, table - back + entry)[0] if entry < size else 0
    return int(offset)


def _identity(found: dict[str, pa.Array], name: str, kind: pa.DataType) -> pa.Array:
    column = found.pop(name, None)
    if column is None or column.type != kind:
        raise FrameError(f"column {name} ({kind}) is missing")
    if column.null_count:
        raise FrameError(f"column {name} has rows without a value")
    return column
