"""Samples with their times, names and roles, for one file that stands alone."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from tidscope_backend.exchange.sink import Sink
from tidscope_backend.store.parts import PartReader
from tidscope_backend.store.reader import RunReader

KEYS = ("time_ns", "unix_us", "seq", "level", "tid", "start_ns", "name", "role")
ROWS = 32_768
"""Rows that are put together at once: a part has some hundred thousand, and memory is small."""
UNKNOWN = np.iinfo(np.int64).min
"""The start of a thread that nothing introduced."""
Ints = npt.NDArray[np.int64]


class _Names:
    """Names and roles by life of a thread.

    Args:
        threads: the table of threads.
    """

    def __init__(self, threads: pa.Table) -> None:
        self._starts = np.unique(_starts(threads))
        keys = self._key(threads["tid"].to_numpy().astype(np.int64), _starts(threads))
        order = np.argsort(keys)
        self._keys = keys[order]
        self._names = threads.select(["name", "role"]).take(pa.array(order))

    def of(self, rows: pa.Table) -> pa.Table:
        """Name and role of each row; null for a life that is not known."""
        tid, start = rows["tid"].to_numpy().astype(np.int64), _starts(rows)
        keys = self._key(tid, start)
        place = np.minimum(np.searchsorted(self._keys, keys), max(0, len(self._keys) - 1))
        known = np.zeros(len(keys), np.bool_)
        if len(self._keys):
            known = (self._keys[place] == keys) & np.isin(start, self._starts)
        return self._names.take(pa.array(place, mask=~known))

    def _key(self, tid: Ints, start: Ints) -> Ints:
        """One number a life: thread ids are reused, but never at the same start."""
        keys: Ints = tid * (len(self._starts) + 1) + np.searchsorted(self._starts, start)
        return keys


def joined_tables(reader: RunReader) -> Iterator[pa.Table]:
    """`KEYS` and one column a field, by frame and thread; names and roles are the last ones.

    Yields:
        Tables of at most `ROWS` rows; at least one, if the run has a part.
    """
    names = _Names(reader.threads())
    for part in reader.parts:
        yield from _of_part(part, names, reader.fields)


def _of_part(part: PartReader, names: _Names, fields: list[str]) -> Iterator[pa.Table]:
    samples = part.samples(0, ["seq", "level", "tid", "start_ns", *fields])
    instants = part.signals(["seq", "time_ns", "unix_us"])
    seq = samples["seq"].to_numpy()
    order = np.lexsort((_starts(samples), samples["tid"].to_numpy(), seq))
    place = np.searchsorted(instants["seq"].to_numpy(), seq)
    for start in range(0, max(1, len(order)), ROWS):
        chosen = order[start : start + ROWS]
        rows = samples.take(pa.array(chosen))
        times = instants.take(pa.array(place[chosen]))
        named = names.of(rows)
        columns = {"time_ns": times["time_ns"], "unix_us": times["unix_us"]}
        columns |= {"name": named["name"], "role": named["role"]}
        yield pa.table(
            {name: columns[name] if name in columns else rows[name] for name in (*KEYS, *fields)}
        )


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
        writer.write_table(table)
        yield sink.take()
    if writer is not None:
        writer.close()
    yield sink.take()


def _starts(table: pa.Table) -> Ints:
    starts: Ints = pc.fill_null(table["start_ns"], UNKNOWN).to_numpy()
    return starts
