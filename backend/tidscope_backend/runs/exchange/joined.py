"""Samples with their times, names and roles, for one file that stands alone."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from tidscope_backend.runs.exchange.sink import Sink
from tidscope_backend.runs.reader import RunReader

KEYS = ("time_ns", "unix_us", "seq", "level", "tid", "start_ns", "name", "role")
ROWS = 65_536
"""Rows that are written at once."""


def joined_tables(reader: RunReader) -> Iterator[pa.Table]:
    """Part by part: `KEYS` and one column a field; names and roles are a thread's last ones."""
    lives = reader.threads().select(["tid", "start_ns", "name", "role"])
    for part in reader.parts:
        samples = part.samples().select(["tid", "start_ns", "seq", "level", *reader.fields])
        times = part.signals(["seq", "time_ns", "unix_us"])
        table = samples.join(times, "seq", join_type="left outer")
        table = table.join(lives, ["tid", "start_ns"], join_type="left outer")
        yield table.sort_by(
            [("seq", "ascending"), ("tid", "ascending"), ("start_ns", "ascending")]
        ).select([*KEYS, *reader.fields])


def as_parquet(path: Path) -> Iterator[bytes]:
    """One Parquet file, written while it is sent. Raises OSError."""
    reader = RunReader(path)
    sink = Sink()
    facts = {"tidscope.manifest": reader.manifest.model_dump_json()}
    writer: pq.ParquetWriter | None = None
    for table in joined_tables(reader):
        if writer is None:
            schema = table.schema.with_metadata(facts)
            writer = pq.ParquetWriter(pa.PythonFile(sink, "w"), schema, compression="zstd")
        writer.write_table(table.replace_schema_metadata(facts))
        yield sink.take()
    if writer is not None:
        writer.close()
    yield sink.take()


def as_csv(path: Path) -> Iterator[bytes]:
    """The same as text; what is absent is an empty cell. Raises OSError."""
    reader = RunReader(path)
    sink = Sink()
    writer: pacsv.CSVWriter | None = None
    for table in joined_tables(reader):
        if writer is None:
            writer = pacsv.CSVWriter(pa.PythonFile(sink, "w"), table.schema)
        for start in range(0, len(table), ROWS):
            writer.write_table(table.slice(start, ROWS))
            yield sink.take()
    if writer is not None:
        writer.close()
    yield sink.take()
