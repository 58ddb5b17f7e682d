"""Arrow IPC messages of record batches of ids and counters, read and written without pyarrow.

pyarrow takes about ten microseconds a column. Reading is one look at the message's metadata and a
view of each column; every length is checked against what holds it, so a broken message is a
BatchError and never a wrong number. Writing patches the lengths in a message that pyarrow made once
for this number of columns, and copies the columns: byte for byte what pyarrow writes.

Source: Arrow columnar format, "IPC" and `Message.fbs`; FlatBuffers, "Internals".
"""

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_CONTINUATION = 0xFFFFFFFF
_RECORD_BATCH = 3

_MESSAGE_KIND, _MESSAGE_HEADER, _MESSAGE_BODY_LENGTH = 1, 2, 3
_BATCH_LENGTH, _BATCH_NODES, _BATCH_BUFFERS, _BATCH_COMPRESSION = 0, 1, 2, 3
"""Ids of the fields of the tables Message and RecordBatch."""

_PREFIX = struct.Struct("<II")
"""A continuation marker and the length of the metadata."""

_SHORT, _SIGNED, _OFFSET, _LONG = (struct.Struct(form) for form in ("<H", "<i", "<I", "<q"))

Counters = Sequence[npt.NDArray[np.uint64]] | npt.NDArray[np.uint64]


class BatchError(ValueError):
    """Bytes are not a record batch message; the text says why."""


class Column(NamedTuple):
    """A column of n rows.

    Attributes:
        values: a view of the message; undefined where `absent` is true.
        absent: bool[n], or None if every row has a value.
    """

    values: npt.NDArray[Any]
    absent: npt.NDArray[np.bool_] | None


def read_batch(message: bytes | memoryview, types: Sequence[np.dtype[Any]]) -> list[Column]:
    """Read a record batch.

    Args:
        message: the complete message, without trailing bytes.
        types: column types, in order.

    Raises:
        BatchError: the bytes are not such a message.
    """
    data = memoryview(message)
    try:
        return _read(data, types)
    except struct.error as error:
        raise BatchError(f"it is cut off: {error}") from None


def has_compression(metadata: memoryview) -> bool:
    """True if a record batch's metadata declare compressed buffers.

    Raises:
        BatchError: the metadata are malformed.
    """
    try:
        batch = _Table.root(metadata).table(_MESSAGE_HEADER)
        return bool(batch and batch.place(_BATCH_COMPRESSION))
    except struct.error as error:
        raise BatchError(f"it is cut off: {error}") from None


def _read(data: memoryview, types: Sequence[np.dtype[Any]]) -> list[Column]:
    mark, length = _PREFIX.unpack_from(data)
    start = _PREFIX.size + length
    if mark != _CONTINUATION or length % 8 or start > len(data):
        raise BatchError("it does not start with a message")
    message = _Table.root(data[_PREFIX.size : start])
    batch = message.table(_MESSAGE_HEADER)
    if message.byte(_MESSAGE_KIND) != _RECORD_BATCH or batch is None:
        raise BatchError("it is not a record batch")
    body = data[start:]
    if message.long(_MESSAGE_BODY_LENGTH) != len(body):
        raise BatchError(
            f"a body of {message.long(_MESSAGE_BODY_LENGTH)} bytes, {len(body)} are there"
        )
    if batch.place(_BATCH_COMPRESSION):
        raise BatchError("its buffers are compressed")
    rows, nodes, buffers = (
        batch.long(_BATCH_LENGTH),
        batch.pairs(_BATCH_NODES),
        batch.pairs(_BATCH_BUFFERS),
    )
    if len(nodes) != len(types) or len(buffers) != 2 * len(types):
        raise BatchError(f"{len(nodes)} nodes and {len(buffers)} buffers for {len(types)} columns")
    if not 0 <= rows <= len(body) or (nodes[:, 0] != rows).any():
        raise BatchError("its columns have not all as many rows as it says")
    offsets, sizes = buffers[:, 0], buffers[:, 1]
    if (
        (offsets % 8).any()
        or (buffers < 0).any()
        or (buffers > len(body)).any()
        or (offsets + sizes > len(body)).any()
    ):
        raise BatchError("a buffer lies outside the body")
    bitmap_bytes = (rows + 7) // 8
    found = list[Column]()
    for index, ((_, missing), kind) in enumerate(zip(nodes.tolist(), types, strict=True)):
        (bits_at, bits), (at, size) = buffers[2 * index : 2 * index + 2].tolist()
        if size < rows * kind.itemsize:
            raise BatchError(f"column {index} has {size} bytes for {rows} rows")
        absent = None
        if missing:
            if bits < bitmap_bytes:
                raise BatchError(f"column {index} has {bits} bytes of a bitmap for {rows} rows")
            bitmap = np.frombuffer(body, np.uint8, bitmap_bytes, bits_at)
            absent = np.unpackbits(bitmap, count=rows, bitorder="little") == 0
            if np.count_nonzero(absent) != missing:
                raise BatchError(f"column {index} has not {missing} rows without a value")
        found.append(Column(np.frombuffer(body, kind, rows, at), absent))
    return found


class _Table:
    """A FlatBuffers table; its members are numbered as in the .fbs file, from 0."""

    def __init__(self, data: memoryview, at: int) -> None:
        (back,) = _SIGNED.unpack_from(data, at)
        self._data, self._at, self._vtable = data, at, at - back
        if self._vtable < 0:  # A negative place would count from the end.
            raise BatchError("a table begins before its buffer")
        (self._size,) = _SHORT.unpack_from(data, self._vtable)

    @classmethod
    def root(cls, data: memoryview) -> "_Table":
        return cls(data, int(_OFFSET.unpack_from(data)[0]))

    def place(self, member: int) -> int:
        """Offset of a member, or 0 if it has its default value."""
        entry = 4 + 2 * member
        if entry + 2 > self._size:
            return 0
        offset = int(_SHORT.unpack_from(self._data, self._vtable + entry)[0])
        return self._at + offset if offset else 0

    def byte(self, member: int) -> int:
        at = self.place(member)
        return int(struct.unpack_from("B", self._data, at)[0]) if at else 0

    def long(self, member: int) -> int:
        at = self.place(member)
        return int(_LONG.unpack_from(self._data, at)[0]) if at else 0

    def table(self, member: int) -> "_Table | None":
        at = self.place(member)
        return _Table(self._data, at + int(_OFFSET.unpack_from(self._data, at)[0])) if at else None

    def pairs(self, member: int) -> npt.NDArray[np.int64]:
        """Read a vector of structs of two int64 as an array of two columns."""
        at = self.place(member)
        if not at:
            return np.empty((0, 2), np.int64)
        at += int(_OFFSET.unpack_from(self._data, at)[0])
        (count,) = _OFFSET.unpack_from(self._data, at)
        if 16 * count > len(self._data) - at - 4:
            raise BatchError(f"a vector of {count} items in {len(self._data)} bytes")
        return np.frombuffer(self._data, np.int64, 2 * count, at + 4).reshape(count, 2)


class BatchWriter:
    """Writer of record batches of one uint32 column and any number of uint64 columns."""

    def __init__(self) -> None:
        self._metadata: dict[int, _Message] = {}
        self._buffer = bytearray()
        self._data = np.frombuffer(self._buffer, np.uint8)

    def encode(
        self,
        ids: npt.NDArray[np.uint32],
        counters: Counters,
        absent: Mapping[int, npt.NDArray[np.bool_]],
    ) -> memoryview:
        """Make the message of a batch of n > 0 rows.

        Args:
            ids: n values of the uint32 column.
            counters: columns of n values; as an array, [columns, n] in any order in memory.
            absent: number of a counter to bool[n], true where there is no value; others have all.

        Returns:
            The message, valid until the next call.
        """
        rows, count = len(ids), len(counters)
        metadata = self._metadata.get(count)
        if metadata is None:
            metadata = self._metadata[count] = _Message(count)
        masks = {index: mask for index, mask in absent.items() if mask.any()}
        metadata.describe(
            rows, {index: int(np.count_nonzero(mask)) for index, mask in masks.items()}
        )
        start = metadata.size
        ids_end = start + 4 * rows
        at = ids_end + -ids_end % 8
        bitmap = (rows + 63) // 64 * 8
        size = at + 8 * rows * count + bitmap * len(masks)
        if size > len(self._buffer):
            self._buffer = bytearray(size + size // 4)
            self._data = np.frombuffer(self._buffer, np.uint8)
        data = self._data
        self._buffer[:start] = metadata.message
        data[start:ids_end].view(np.uint32)[:] = ids
        data[ids_end:at] = 0
        if not masks:
            region = data[at:size].view(np.uint64).reshape(count, rows)
            if isinstance(counters, np.ndarray):
                region[...] = counters
            else:
                for column, values in zip(region, counters, strict=True):
                    column[:] = values
            return memoryview(self._buffer)[:size]
        for index, values in enumerate(counters):
            mask = masks.get(index)
            if mask is not None:
                bits = np.packbits(~mask, bitorder="little")
                data[at : at + len(bits)] = bits
                data[at + len(bits) : at + bitmap] = 0
                at += bitmap
            data[at : at + 8 * rows].view(np.uint64)[:] = values
            at += 8 * rows
        return memoryview(self._buffer)[:size]


class Metadata(NamedTuple):
    """Metadata of a batch, for one row without absent values.

    Attributes:
        message: the bytes.
        length: offset of the number of rows, int64.
        body_length: offset of the columns' total bytes, int64.
        nodes: offset of rows and absent values of each column, two int64 each.
        buffers: offset of place and size of each buffer, two int64 each; two buffers a column.
    """

    message: bytes
    length: int
    body_length: int
    nodes: int
    buffers: int


class _Message:
    """The part of a message in front of its columns.

    Args:
        count: columns of uint64.

    Attributes:
        message: the bytes, as last described.
        size: its length in bytes.
    """

    def __init__(self, count: int) -> None:
        template = metadata_of(count)
        self.message = bytearray(template.message)
        self.size = len(template.message)
        self._count = count
        self._nodes = _numbers(self.message, template.nodes, 2 * count + 2).reshape(-1, 2)
        self._buffers = _numbers(self.message, template.buffers, 4 * count + 4).reshape(-1, 2)
        self._length = _numbers(self.message, template.length, 1)
        self._body_length = _numbers(self.message, template.body_length, 1)
        self._column = np.repeat(np.arange(count), 2)
        self._plain_rows = 0
        """Number of rows in the message now, if all have values."""

    def describe(self, rows: int, missing: Mapping[int, int]) -> None:
        """Write the columns' lengths and places.

        Args:
            rows: of the batch.
            missing: number of a counter to how many rows have no value; others have all.
        """
        if rows == self._plain_rows and not missing:
            return
        self._plain_rows = 0 if missing else rows
        values_at = (4 * rows + 7) // 8 * 8
        self._nodes[:, 0] = rows
        self._nodes[:, 1] = 0
        self._buffers[0] = 0
        self._buffers[1] = 0, 4 * rows
        # A column without absent values has no bitmap; the place is that of the values.
        self._buffers[2:, 0] = values_at + 8 * rows * self._column
        self._buffers[2::2, 1] = 0
        self._buffers[3::2, 1] = 8 * rows
        bitmap = (rows + 63) // 64 * 8
        self._length[0] = rows
        self._body_length[0] = values_at + 8 * rows * self._count + bitmap * len(missing)
        for index, absent in missing.items():
            self._nodes[1 + index, 1] = absent
            self._buffers[2 + 2 * index, 1] = (rows + 7) // 8
            self._buffers[3 + 2 * index :, 0] += bitmap


@lru_cache(maxsize=256)
def metadata_of(count: int) -> Metadata:
    """Metadata that pyarrow writes for a batch of one uint32 and `count` uint64 columns."""
    types = [pa.uint32(), *([pa.uint64()] * count)]
    one = pa.record_batch([pa.nulls(1, kind) for kind in types], [str(n) for n in range(count + 1)])
    message = bytearray(one.serialize())
    (length,) = struct.unpack_from("<i", message, 4)
    table = _PREFIX.size + _u32(message, _PREFIX.size)
    batch = _follow(message, _field(message, table, _MESSAGE_HEADER))
    # Vectors begin with their length, 4 bytes.
    return Metadata(
        message=bytes(message[: _PREFIX.size + length]),
        length=_field(message, batch, _BATCH_LENGTH),
        body_length=_field(message, table, _MESSAGE_BODY_LENGTH),
        nodes=_follow(message, _field(message, batch, _BATCH_NODES)) + 4,
        buffers=_follow(message, _field(message, batch, _BATCH_BUFFERS)) + 4,
    )


def _numbers(data: bytearray, at: int, count: int) -> npt.NDArray[np.int64]:
    """Writable view of 8-byte integers."""
    return np.frombuffer(data, np.int64, count, at)


def _u32(data: bytearray, at: int) -> int:
    (value,) = struct.unpack_from("<I", data, at)
    return int(value)


def _follow(data: bytearray, at: int) -> int:
    """Target of an offset."""
    return at + _u32(data, at)


def _field(data: bytearray, table: int, number: int) -> int:
    """Offset of a table's mandatory field."""
    (back,) = struct.unpack_from("<i", data, table)
    (at,) = struct.unpack_from("<H", data, table - back + 4 + 2 * number)
    if not at:
        raise ValueError(f"field {number} has its default value, so it is not in the message")
    return table + int(at)
