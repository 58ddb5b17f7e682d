"""Arrow IPC messages of record batches of ids and counters, written into a buffer that stays.

pyarrow makes the message of so many columns once; of a batch with other lengths only the lengths in
it differ. So a batch costs a few patched numbers and one copy of its columns, where pyarrow takes
about ten microseconds a column. What comes out is byte for byte what pyarrow writes.

Source: Arrow columnar format, "IPC" and `Message.fbs`; FlatBuffers, "Internals".
"""

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_PREFIX = 8
"""A continuation marker and the length of the metadata."""

_MESSAGE_HEADER, _MESSAGE_BODY_LENGTH = 2, 3
_BATCH_LENGTH, _BATCH_NODES, _BATCH_BUFFERS = 0, 1, 2
"""Ids of the fields of the tables Message and RecordBatch."""

Counters = Sequence[npt.NDArray[np.uint64]] | npt.NDArray[np.uint64]


class BatchWriter:
    """Writes record batches of a column of uint32 and any number of columns of uint64."""

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
            ids: n of them.
            counters: columns of n values; as an array, [columns, n] in any order in memory.
            absent: number of a counter to bool[n], true where there is no value; others have all.

        Returns:
            The message, until the next call.
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
    """What stands in front of the columns of a batch, for one row without absent values.

    Attributes:
        message: the bytes.
        length: where the number of rows is, int64.
        body_length: where the bytes of the columns are said, int64.
        nodes: where rows and absent values of each column are, two int64 each.
        buffers: where place and size of each buffer are, two int64 each; two buffers a column.
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
        message: it, as described last.
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
        """Rows that it says now, if all of them have values."""

    def describe(self, rows: int, missing: Mapping[int, int]) -> None:
        """Say how long the columns are, and where they are.

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
        # A column without absent values has no bitmap: its place is that of the values.
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
    """What pyarrow writes in front of a batch of a uint32 and so many columns of uint64."""
    types = [pa.uint32(), *([pa.uint64()] * count)]
    one = pa.record_batch([pa.nulls(1, kind) for kind in types], [str(n) for n in range(count + 1)])
    message = bytearray(one.serialize())
    (length,) = struct.unpack_from("<i", message, 4)
    table = _PREFIX + _u32(message, _PREFIX)
    batch = _follow(message, _field(message, table, _MESSAGE_HEADER))
    # Vectors begin with their length, 4 bytes.
    return Metadata(
        message=bytes(message[: _PREFIX + length]),
        length=_field(message, batch, _BATCH_LENGTH),
        body_length=_field(message, table, _MESSAGE_BODY_LENGTH),
        nodes=_follow(message, _field(message, batch, _BATCH_NODES)) + 4,
        buffers=_follow(message, _field(message, batch, _BATCH_BUFFERS)) + 4,
    )


def _numbers(data: bytearray, at: int, count: int) -> npt.NDArray[np.int64]:
    """Integers of 8 bytes, to be written."""
    return np.frombuffer(data, np.int64, count, at)


def _u32(data: bytearray, at: int) -> int:
    (value,) = struct.unpack_from("<I", data, at)
    return int(value)


def _follow(data: bytearray, at: int) -> int:
    """Where an offset points to."""
    return at + _u32(data, at)


def _field(data: bytearray, table: int, number: int) -> int:
    """Where a field of a table is, which has to be there."""
    (back,) = struct.unpack_from("<i", data, table)
    (at,) = struct.unpack_from("<H", data, table - back + 4 + 2 * number)
    if not at:
        raise ValueError(f"field {number} has its default value, so it is not in the message")
    return table + int(at)
