"""The formats in which a run can be exported, and its tables of samples and pool readings."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from tidscope_backend.exchange.chrome_trace import as_trace
from tidscope_backend.exchange.packing import StreamBuffer, open_run, pack_run
from tidscope_backend.pool_figures import known_figures
from tidscope_backend.store.parts import PartReader
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_parts import table_schema
from tidscope_backend.store.threads_table import with_states_at

KEYS = ("time_ns", "unix_us", "seq", "level", "tid", "start_ns", "name", "role")
ROWS = 32_768
"""Rows joined at a time, to bound memory; a part has some hundred thousand."""
UNKNOWN = np.iinfo(np.int64).min
"""Value for an unknown start of a thread."""
FORMULA_START = r"^([=+\-@\t\r\n])"
"""Prefixes of cells that a spreadsheet would evaluate as a formula."""
TEXT_START = r"'\1"
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
        """Return name and role of each row; null for an unknown life."""
        tid, start = rows["tid"].to_numpy().astype(np.int64), _starts(rows)
        keys = self._key(tid, start)
        place = np.minimum(np.searchsorted(self._keys, keys), max(0, len(self._keys) - 1))
        known = np.zeros(len(keys), np.bool_)
        if len(self._keys):
            known = (self._keys[place] == keys) & np.isin(start, self._starts)
        return self._names.take(pa.array(place, mask=~known))

    def _key(self, tid: Ints, start: Ints) -> Ints:
        """Return one number per life: thread IDs are recycled, but never with the same start."""
        keys: Ints = tid * (len(self._starts) + 1) + np.searchsorted(self._starts, start)
        return keys


def joined_tables(reader: RunReader) -> Iterator[pa.Table]:
    """Yield `KEYS` and one column per field, by frame and thread; names and roles are last.

    Tables of groups have `pid` after the keys.

    Yields:
        Tables of at most `ROWS` rows; at least one if the run has a part.
    """
    names = _Names(reader.threads())
    for part in reader.parts:
        of_group = reader.manifest.target.group is not None
        yield from _of_part(part, names, reader.fields, of_group=of_group)


def _of_part(
    part: PartReader, names: _Names, fields: list[str], *, of_group: bool
) -> Iterator[pa.Table]:
    keys = (*KEYS, "pid") if of_group else KEYS
    samples = part.samples(0, ["seq", "level", "tid", "start_ns", *keys[len(KEYS) :], *fields])
    frames = part.signals(["seq", "time_ns", "unix_us"])
    seq = samples["seq"].to_numpy()
    order = np.lexsort((_starts(samples), samples["tid"].to_numpy(), seq))
    place = np.searchsorted(frames["seq"].to_numpy(), seq)
    for start in range(0, max(1, len(order)), ROWS):
        chosen = order[start : start + ROWS]
        rows = samples.take(pa.array(chosen))
        times = frames.take(pa.array(place[chosen]))
        rows = with_states_at(rows, times["time_ns"].to_numpy())
        named = names.of(rows)
        columns = {"time_ns": times["time_ns"], "unix_us": times["unix_us"]}
        columns |= {"name": named["name"], "role": named["role"]}
        yield pa.table(
            {name: columns[name] if name in columns else rows[name] for name in (*keys, *fields)}
        )


def as_parquet(path: Path, hide: bool = False) -> Iterator[bytes]:
    """Yield the run as one Parquet file. Raises OSError."""
    reader = open_run(path, hide)
    buffer = StreamBuffer()
    facts = {"tidscope.manifest": reader.manifest.model_dump_json()}
    writer: pq.ParquetWriter | None = None
    for table in joined_tables(reader):
        if writer is None:
            schema = table.schema.with_metadata(facts)
            writer = pq.ParquetWriter(pa.PythonFile(buffer, "w"), schema, compression="zstd")
        writer.write_table(table.replace_schema_metadata(facts))
        yield buffer.drain()
    if writer is not None:
        writer.close()
    yield buffer.drain()


def as_csv(path: Path, hide: bool = False) -> Iterator[bytes]:
    """Yield CSV; an empty cell is an absent value, no text is a formula. Raises OSError."""
    reader = open_run(path, hide)
    buffer = StreamBuffer()
    writer: pacsv.CSVWriter | None = None
    for table in map(without_formulas, joined_tables(reader)):
        if writer is None:
            writer = pacsv.CSVWriter(pa.PythonFile(buffer, "w"), table.schema)
        writer.write_table(table)
        yield buffer.drain()
    if writer is not None:
        writer.close()
    yield buffer.drain()


def without_formulas(table: pa.Table) -> pa.Table:
    """Prefix texts and headings that a spreadsheet would evaluate with an apostrophe."""
    columns = [
        column
        if pa.types.is_primitive(column.type)
        else pc.replace_substring_regex(column.cast(pa.utf8()), FORMULA_START, TEXT_START)
        for column in table.columns
    ]
    headings = [re.sub(FORMULA_START, TEXT_START, name) for name in table.column_names]
    return pa.table(columns, headings)


def _starts(table: pa.Table) -> Ints:
    starts: Ints = pc.fill_null(table["start_ns"], UNKNOWN).to_numpy()
    return starts


ORDER = [("read_ns", "ascending"), ("pool", "ascending")]


def pool_readings(reader: RunReader) -> pa.Table:
    """Return all readings of all pools, by time.

    Columns: those of the table `pools` without `known`; null for values that the program does not
    report. Counters count since attach; `read_ns` is the time of reading, since attach.
    """
    found = [part.tables().get("pools") for part in reader.parts]
    schema = pa.schema([field for field in table_schema("pools") if field.name not in _PLACE])
    rows = pa.concat_tables(
        [table.select(schema.names).cast(schema) for table in found if table is not None]
        or [schema.empty_table()]
    )
    # A key frame repeats the last reading; a row that was never read marks a removed pool.
    rows = rows.filter(pc.greater(rows["read_ns"], 0))
    unique = rows.append_column("place", pa.array(range(len(rows)), pa.int64()))
    first = unique.group_by(["pool", "read_ns"]).aggregate([("place", "min")])
    kept = rows.take(first["place_min"].combine_chunks()) if len(rows) else rows
    return known_figures(kept.sort_by(ORDER))


def as_pools_parquet(path: Path, hide: bool = False) -> Iterator[bytes]:
    """Yield the pool readings as one Parquet file. Raises OSError."""
    reader = open_run(path, hide)
    buffer = StreamBuffer()
    facts = {"tidscope.manifest": reader.manifest.model_dump_json()}
    table = pool_readings(reader).replace_schema_metadata(facts)
    pq.write_table(table, pa.PythonFile(buffer, "w"), compression="zstd")
    yield buffer.drain()


def as_pools_csv(path: Path, hide: bool = False) -> Iterator[bytes]:
    """Yield CSV; an empty cell is an absent value, no text is a formula. Raises OSError."""
    buffer = StreamBuffer()
    table = without_formulas(pool_readings(open_run(path, hide)))
    with pacsv.CSVWriter(pa.PythonFile(buffer, "w"), table.schema) as writer:
        writer.write_table(table)
    yield buffer.drain()


_PLACE = ("seq", "level")


MAKERS: dict[str, Callable[[Path, bool], Iterator[bytes]]] = {
    "folder": pack_run,
    "parquet": as_parquet,
    "csv": as_csv,
    "trace": as_trace,
    "pools-parquet": as_pools_parquet,
    "pools-csv": as_pools_csv,
}
"""Exporters by format: each yields the bytes of a file from the folder of a run.

The second argument hides arguments and output of programs, as for viewers.
"""
