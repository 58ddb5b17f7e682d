"""Reads Arrow IPC messages of record batches whose columns are unsigned integers of known types.

The counterpart of `batch_template`: what pyarrow does in some ten microseconds a column is one
look at the message's metadata and a view of each column. Every length is checked against what
holds it, so a broken message is a BatchError and never a wrong number.

Source: Arrow columnar format, "IPC" and `Message.fbs`; FlatBuffers, "Internals".
"""

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_CONTINUATION = 0xFFFFFFFF
_RECORD_BATCH = 3
_MESSAGE_KIND, _MESSAGE_HEADER, _MESSAGE_BODY_LENGTH = 1, 2, 3
_BATCH_LENGTH, _BATCH_NODES, _BATCH_BUFFERS, _BATCH_COMPRESSION = 0, 1, 2, 3
_PREFIX = struct.Struct("<II")
_SHORT, _SIGNED, _OFFSET, _LONG = (struct.Struct(form) for form in ("<H", "<i", "<I", "<q"))


class BatchError(ValueError):
    """Bytes are not such a message; the text says in what way."""


class Column(NamedTuple):
    """A column of n rows.

    Attributes:
        values: a view of the message; where `absent` is true they mean nothing.
        absent: bool[n]; None: every row has a value.
    """

    values: npt.NDArray[Any]
    absent: npt.NDArray[np.bool_] | None


def read_batch(message: bytes | memoryview, types: Sequence[np.dtype[Any]]) -> list[Column]:
    """Read a record batch.

    Args:
        message: the whole of it, and nothing behind it.
        types: of the columns, in order.

    Raises:
        BatchError: it is not such a message.
    """
    data = memoryview(message)
    try:
        return _read(data, types)
    except struct.error as error:
        raise BatchError(f"it is cut off: {error}") from None


def has_compression(metadata: memoryview) -> bool:
    """Whether the metadata of a record batch say that its buffers are compressed.

    Raises:
        BatchError: they are broken.
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
        if self._vtable < 0:  # A negative place would be one from the end.
            raise BatchError("a table begins before its buffer")
        (self._size,) = _SHORT.unpack_from(data, self._vtable)

    @classmethod
    def root(cls, data: memoryview) -> "_Table":
        return cls(data, int(_OFFSET.unpack_from(data)[0]))

    def place(self, member: int) -> int:
        """Where a member is; 0: it has its default value."""
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
        """A vector of structs of two int64, as an array of two columns."""
        at = self.place(member)
        if not at:
            return np.empty((0, 2), np.int64)
        at += int(_OFFSET.unpack_from(self._data, at)[0])
        (count,) = _OFFSET.unpack_from(self._data, at)
        if 16 * count > len(self._data) - at - 4:
            raise BatchError(f"a vector of {count} items in {len(self._data)} bytes")
        return np.frombuffer(self._data, np.int64, 2 * count, at + 4).reshape(count, 2)
