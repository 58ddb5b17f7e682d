"""Pools of workers of a run over time: a row each time that one was read."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from tidscope_wire.pools import known_figures

from tidscope_backend.exchange.joined import without_formulas
from tidscope_backend.exchange.opening import open_run
from tidscope_backend.exchange.stream_buffer import StreamBuffer
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_parts import table_schema

ORDER = [("read_ns", "ascending"), ("pool", "ascending")]


def pool_readings(reader: RunReader) -> pa.Table:
    """All readings of all pools, by time.

    Columns: those of the table `pools` without `known`; null is what the program does not say.
    Counters count since attach, `read_ns` is when they were read, since attach.
    """
    found = [part.tables().get("pools") for part in reader.parts]
    schema = pa.schema([field for field in table_schema("pools") if field.name not in _PLACE])
    rows = pa.concat_tables(
        [table.select(schema.names).cast(schema) for table in found if table is not None]
        or [schema.empty_table()]
    )
    # A key frame repeats the last reading; a row that was never read says that a pool is gone.
    rows = rows.filter(pc.greater(rows["read_ns"], 0))
    unique = rows.append_column("place", pa.array(range(len(rows)), pa.int64()))
    first = unique.group_by(["pool", "read_ns"]).aggregate([("place", "min")])
    kept = rows.take(first["place_min"].combine_chunks()) if len(rows) else rows
    return known_figures(kept.sort_by(ORDER))


def as_pools_parquet(path: Path, hide: bool = False) -> Iterator[bytes]:
    """One Parquet file. Raises OSError."""
    reader = open_run(path, hide)
    buffer = StreamBuffer()
    facts = {"tidscope.manifest": reader.manifest.model_dump_json()}
    table = pool_readings(reader).replace_schema_metadata(facts)
    pq.write_table(table, pa.PythonFile(buffer, "w"), compression="zstd")
    yield buffer.drain()


def as_pools_csv(path: Path, hide: bool = False) -> Iterator[bytes]:
    """The same as CSV; an empty cell is an absent value, no text is a formula. Raises OSError."""
    buffer = StreamBuffer()
    table = without_formulas(pool_readings(open_run(path, hide)))
    with pacsv.CSVWriter(pa.PythonFile(buffer, "w"), table.schema) as writer:
        writer.write_table(table)
    yield buffer.drain()


_PLACE = ("seq", "level")
