"""Parquet files of a sealed part."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS

from tidscope_backend.store.frame_files import sync_file
from tidscope_backend.store.table_parts import PLACE

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
