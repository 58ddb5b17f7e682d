"""Arrow IPC messages of record batches of ids and counters, written into a buffer that stays.

pyarrow makes the message of a schema once; of a batch with other lengths only the lengths in it
differ. So a batch costs a few patched numbers and one copy of its columns, where pyarrow takes
about ten microseconds a column. What comes out is byte for byte what pyarrow writes.

Source: Arrow columnar format, "IPC" and `Message.fbs`; FlatBuffers, "Internals".
"""

import struct
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_PREFIX = 8
"""A continuation marker and the length of the metadata."""

_MESSAGE_HEADER, _MESSAGE_BODY_LENGTH = 2, 3
_BATCH_LENGTH, _BATCH_NODES, _BATCH_BUFFERS = 0, 1, 2
"""Ids of the fields of the tables Message and RecordBatch."""

KNOWN_LENGTHS = 64
"""Lengths of batches whose metadata are kept; they have two kilobytes."""

Counters = Sequence[npt.NDArray[np.uint64]] | npt.NDArray[np.uint64]


class BatchTemplate:
    """Writes record batches of one schema.

    Args:
        schema: a column of uint32, then columns of uint64.
    """

    def __init__(self, schema: pa.Schema) -> None:
        if schema.types != [pa.uint32(), *([pa.uint64()] * (len(schema) - 1))]:
            raise ValueError(f"the columns are {schema.types}, not one uint32 and then uint64")
        self._count = len(schema) - 1
        one = pa.record_batch([pa.nulls(1, field.type) for field in schema], schema=schema)
        message = bytearray(one.serialize())
        (length,) = struct.unpack_from("<i", message, 4)
        self._start = _PREFIX + length
        self._places = _Places(message)
        self._known: dict[int, bytes] = {}
        self._adopt(message[: self._start])

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
        rows = len(ids)
        masks = {index: mask for index, mask in absent.items() if mask.any()}
        ids_end = self._start + 4 * rows
        at = ids_end + -ids_end % 8
        bitmap = (rows + 63) // 64 * 8
        size = at + 8 * rows * self._count + bitmap * len(masks)
        if size > len(self._buffer):
            self._adopt(self._buffer[: self._start].ljust(size + size // 4, b"\0"))
        data = self._data
        data[self._start : ids_end].view(np.uint32)[:] = ids
        data[ids_end:at] = 0
        self._begin(rows)
        if not masks:
            region = data[at:size].view(np.uint64).reshape(self._count, rows)
            if isinstance(counters, np.ndarray):
                region[...] = counters
            else:
                for column, values in zip(region, counters, strict=True):
                    column[:] = values
            return memoryview(self._buffer)[:size]
        self._body_length[0] = size - self._start
        for index, values in enumerate(counters):
            mask = masks.get(index)
            if mask is not None:
                bits = np.packbits(~mask, bitorder="little")
                data[at : at + len(bits)] = bits
                data[at + len(bits) : at + bitmap] = 0
                self._nodes[1 + index, 1] = np.count_nonzero(mask)
                self._buffers[2 + 2 * index] = at - self._start, len(bits)
                at += bitmap
                self._buffers[3 + 2 * index :, 0] += bitmap
            data[at : at + 8 * rows].view(np.uint64)[:] = values
            at += 8 * rows
        return memoryview(self._buffer)[:size]

    def _begin(self, rows: int) -> None:
        """Write the metadata of a batch without absent values."""
        known = self._known.get(rows)
        if known is not None:
            self._buffer[: self._start] = known
            return
        values_at = (4 * rows + 7) // 8 * 8
        self._nodes[:, 0] = rows
        self._nodes[:, 1] = 0
        self._buffers[0] = 0
        self._buffers[1] = 0, 4 * rows
        # A column without absent values has no bitmap: its place is that of the values.
        self._buffers[2:, 0] = values_at + 8 * rows * self._column
        self._buffers[2::2, 1] = 0
        self._buffers[3::2, 1] = 8 * rows
        self._length[0], self._body_length[0] = rows, values_at + 8 * rows * self._count
        if len(self._known) >= KNOWN_LENGTHS:
            self._known.clear()
        self._known[rows] = bytes(self._buffer[: self._start])

    def _adopt(self, buffer: bytearray) -> None:
        """Write into this buffer, which begins with the metadata, from now on."""
        places, columns = self._places, self._count + 1
        self._buffer = buffer
        self._data = np.frombuffer(buffer, np.uint8)
        self._nodes = _numbers(buffer, places.nodes, 2 * columns).reshape(columns, 2)
        self._buffers = _numbers(buffer, places.buffers, 4 * columns).reshape(2 * columns, 2)
        self._length = _numbers(buffer, places.length, 1)
        self._body_length = _numbers(buffer, places.body_length, 1)
        self._column = np.repeat(np.arange(self._count), 2)


class _Places:
    """Where the numbers to be written are in the metadata of a message."""

    def __init__(self, message: bytearray) -> None:
        table = _PREFIX + _u32(message, _PREFIX)
        batch = _follow(message, _field(message, table, _MESSAGE_HEADER))
        self.body_length = _field(message, table, _MESSAGE_BODY_LENGTH)
        self.length = _field(message, batch, _BATCH_LENGTH)
        # Vectors begin with their length, 4 bytes.
        self.nodes = _follow(message, _field(message, batch, _BATCH_NODES)) + 4
        self.buffers = _follow(message, _field(message, batch, _BATCH_BUFFERS)) + 4


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
