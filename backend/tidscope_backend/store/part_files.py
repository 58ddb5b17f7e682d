"""Files of a part: frames with length prefixes while open, Parquet when sealed."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tidscope_wire.frame import LENGTH
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.limits import MAX_FRAME_BYTES

from tidscope_backend.store.table_parts import PLACE


def pack_frame(frame: bytes) -> bytes:
    """Prefix a frame with its length (4 bytes, little-endian)."""
    return LENGTH.pack(len(frame)) + frame


def whole_frames(data: bytes) -> Iterator[bytes]:
    """Yield the frames of a part; a truncated last frame is omitted."""
    at = 0
    while (end := _end(data, at)) is not None:
        yield data[at + LENGTH.size : end]
        at = end


def whole_bytes(path: Path) -> int:
    """Return the number of bytes in whole frames; the rest is a truncated frame.

    Raises:
        OSError: the part cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        at = 0
        while at + LENGTH.size <= size:
            file.seek(at)
            (length,) = LENGTH.unpack(file.read(LENGTH.size))
            if length > MAX_FRAME_BYTES or at + LENGTH.size + length > size:
                break
            at += LENGTH.size + length
        return at


def _end(data: bytes, at: int) -> int | None:
    if at + LENGTH.size > len(data):
        return None
    (length,) = LENGTH.unpack_from(data, at)
    end = at + LENGTH.size + int(length)
    return end if length <= MAX_FRAME_BYTES and end <= len(data) else None


class PartFile:
    """The file of an open part. Unbuffered, so a killed process loses no received frame.

    Args:
        path: path of the file, created if needed; existing content is kept.

    Attributes:
        bytes: length of the file.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        self.bytes = os.fstat(self._descriptor).st_size

    def append(self, frame: bytes) -> None:
        """Append a frame, or leave the file unchanged on failure.

        Raises:
            OSError: the frame cannot be written.
        """
        data = pack_frame(frame)
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                # After a short write, this one raises the cause, such as a full disk.
                written += os.write(self._descriptor, data[written:])
        except OSError:
            os.ftruncate(self._descriptor, self.bytes)
            raise
        self.bytes += len(data)

    def sync(self) -> None:
        """Flush the data to disk. Raises OSError."""
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


COMPRESSION_LEVEL = 9
REPEATED = ("start_ns", "level")
"""Columns with long runs of one value; a dictionary is smaller than deltas.

Texts and keys (uint32) are handled separately.
"""
PLACES = ("seq", "to_ns")
"""Columns by which row groups are selected."""
_NUMBERED = {(*PLACE, *COLUMNS[name]): keys[0] for name, keys in KEYS.items() if len(keys) == 1}
"""Key of the frame tables with one key column, by all columns. It ascends: deltas are smaller."""


def write_levels(path: Path, rows: pa.Table) -> None:
    """Write samples or a frame table, one row group per level. Raises OSError.

    Sorted by key, cumulative counters differ little from row to row, so differences are stored.
    """
    levels = rows["level"].to_numpy()
    cuts = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
    with path.open("wb") as file, sorted_writer(file, rows.schema) as writer:
        for start, end in itertools.pairwise(cuts):
            if end > start:
                writer.write_table(rows.slice(start, end - start), row_group_size=end - start)
    sync_file(path)


def sorted_writer(file: BinaryIO, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a writer of rows sorted by key, with one row group per table."""
    ascending = _NUMBERED.get(tuple(schema.names))
    repeated = [
        column.name
        for column in schema
        if column.name in REPEATED
        or (column.type in (pa.uint32(), pa.utf8()) and column.name != ascending)
    ]
    deltas = [
        column.name
        for column in schema
        if pa.types.is_integer(column.type) and column.name not in repeated
    ]
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=repeated,
        column_encoding=dict.fromkeys(deltas, "DELTA_BINARY_PACKED"),
        write_statistics=[*repeated, *(name for name in PLACES if name in schema.names)],
        store_schema=False,
    )


def write_again(path: Path, into: BinaryIO, change: Callable[[pa.Table], pa.Table]) -> None:
    """Write a file of `write_levels` with changed rows, in the same row groups. Raises OSError."""
    with pq.ParquetFile(path) as file:
        groups = map(file.read_row_group, range(file.num_row_groups))
        with sorted_writer(into, file.schema_arrow) as writer:
            for group in groups:
                writer.write_table(change(group), row_group_size=max(1, len(group)))


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table of another kind. Raises OSError."""
    with path.open("wb") as file:
        pq.write_table(
            table,
            file,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            write_statistics=["seq", "time_ns"],
        )
    sync_file(path)


def sync_file(path: Path) -> None:
    """Flush a file's bytes to disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
