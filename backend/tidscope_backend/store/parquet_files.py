"""Writes the tables of a run as Parquet."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COMPRESSION_LEVEL = 9
REPEATED = ("start_ns", "level")
"""Columns with long stretches of one value, which a dictionary stores in less than deltas; texts
and keys (uint32) are others."""
PLACES = ("seq", "to_ns")
"""Columns by which row groups are chosen."""


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
    """A writer of rows that are sorted by key, for one row group a table."""
    repeated = [
        column.name
        for column in schema
        if column.name in REPEATED or column.type in (pa.uint32(), pa.utf8())
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
    """Write any other table. Raises OSError."""
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
    """See a file's bytes on the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
