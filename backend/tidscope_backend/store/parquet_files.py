"""Writes the tables of a run as Parquet."""

import itertools
import os
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COMPRESSION_LEVEL = 9
REPEATED = ("tid", "start_ns", "level", "name")
"""Columns with long stretches of one value, which a dictionary stores in less than deltas."""
PLACES = ("seq", "to_ns")
"""Columns by which row groups are chosen."""


def write_samples(path: Path, samples: pa.Table) -> None:
    """Write counters of threads, one row group per level. Raises OSError.

    Sorted by thread, cumulative counters differ little from row to row, so differences are stored.
    """
    levels = samples["level"].to_numpy()
    cuts = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
    with path.open("wb") as file, sorted_writer(file, samples.schema) as writer:
        for start, end in itertools.pairwise(cuts):
            if end > start:
                writer.write_table(samples.slice(start, end - start), row_group_size=end - start)
    sync_file(path)


def sorted_writer(file: BinaryIO, schema: pa.Schema) -> pq.ParquetWriter:
    """A writer of rows that are sorted by thread, for one row group a table."""
    deltas = [
        column.name
        for column in schema
        if pa.types.is_integer(column.type) and column.name not in REPEATED
    ]
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        compression_level=COMPRESSION_LEVEL,
        use_dictionary=[name for name in REPEATED if name in schema.names],
        column_encoding=dict.fromkeys(deltas, "DELTA_BINARY_PACKED"),
        write_statistics=[name for name in (*REPEATED, *PLACES) if name in schema.names],
        store_schema=False,
    )


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
