"""Writes the tables of a run as Parquet."""

import itertools
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

COMPRESSION_LEVEL = 9
REPEATED = ("tid", "start_ns", "level", "name")
"""Columns with long stretches of one value, which a dictionary stores in less than deltas."""


def write_samples(path: Path, samples: pa.Table) -> None:
    """Write counters of threads, one row group per level. Raises OSError.

    Sorted by thread, cumulative counters differ little from row to row, so differences are stored.
    """
    encodings = {
        name: "DELTA_BINARY_PACKED" for name in samples.column_names if name not in REPEATED
    }
    levels = samples["level"].to_numpy()
    cuts = [0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]
    with (
        path.open("wb") as file,
        pq.ParquetWriter(
            file,
            samples.schema,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            use_dictionary=list(REPEATED),
            column_encoding=encodings,
            write_statistics=list(REPEATED),
            store_schema=False,
        ) as writer,
    ):
        for start, end in itertools.pairwise(cuts):
            if end > start:
                writer.write_table(samples.slice(start, end - start), row_group_size=end - start)
    _sync(path)


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
    _sync(path)


def _sync(path: Path) -> None:
    """Sync a file to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
