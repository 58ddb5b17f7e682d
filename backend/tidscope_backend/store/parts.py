"""The parts of a run, open or sealed, read in the same way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tidscope_wire.generated.models import RunEvent, TableName

from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.frame_files import whole_frames
from tidscope_backend.store.part_tables import Part, part_of
from tidscope_backend.store.table_parts import (
    CHANGE_LEVEL,
    STACK_TABLES,
    TABLE_LEVELS,
    table_schema,
)

Ints = npt.NDArray[np.int64]
_TIME_COLUMNS = ("seq", "first_seq", "time_ns", "level")


@dataclass(frozen=True)
class FrameTimes:
    """Numbers, times and levels of the frames of a part: arrays in order.

    Attributes:
        seq: numbers of the frames.
        first_seq: first frame that each covers.
        time_ns: nanoseconds since attach.
        level: level, as in docs/runs.md.
    """

    seq: Ints
    first_seq: Ints
    time_ns: Ints
    level: npt.NDArray[np.uint8]

    def between(self, begin: int, end: int) -> "FrameTimes":
        """Return the frames from one index up to, excluding, another."""
        here = slice(begin, end)
        return FrameTimes(
            self.seq[here], self.first_seq[here], self.time_ns[here], self.level[here]
        )


class Gap(NamedTuple):
    """Frames missing before another frame."""

    seq: int
    time_ns: int
    from_seq: int
    to_seq: int


class PartRows(Protocol):
    """Threads and tables of a part, with the columns of docs/runs.md."""

    @property
    def times(self) -> FrameTimes:
        """The frames of the part; read once."""
        ...

    @property
    def last_seq(self) -> int:
        """Number of the last frame."""
        ...

    def samples(self, level: int = 0, columns: Sequence[str] | None = None) -> pa.Table:
        """Return counters of threads in frames of a level or above; None for all columns."""
        ...

    def tables(self, level: int = CHANGE_LEVEL) -> dict[TableName, pa.Table]:
        """Return frame tables in frames of a level or above, without `STACK_TABLES`.

        Tables without rows are omitted.
        """
        ...

    def events(self) -> list[RunEvent]:
        """Return events, by frame."""
        ...


class PartReader(PartRows, Protocol):
    """Reads a part."""

    @property
    def number(self) -> int:
        """The number of the part in the run."""
        ...

    def gaps(self, seen_seq: int) -> list[Gap]:
        """Return frames missing in the part, and after `seen_seq` unless that is 0."""
        ...

    def rows(self, level: int) -> int:
        """Return the number of rows of samples in frames of a level or above."""
        ...

    def signals(self, columns: Sequence[str] | None = None) -> pa.Table:
        """One row per frame; None for all columns. Columns that an older run lacks are omitted."""
        ...

    def tables_until(self, seq: int) -> dict[TableName, pa.Table]:
        """Return all rows of frame tables from the start of the part to this frame."""
        ...

    def table_rows(self) -> tuple[int, ...]:
        """Return numbers of rows of frame tables in frames of each of `TABLE_LEVELS` or above."""
        ...


class StoredPart(PartReader, Protocol):
    """Reads a part from its own files."""

    def table(self, name: TableName, level: int = CHANGE_LEVEL) -> pa.Table:
        """Return the rows of one frame table of a level or above; none if the part lacks it."""
        ...

    def has_table(self, name: TableName) -> bool:
        """Return whether the part has rows of a frame table."""
        ...


class SealedPart:
    """A part in Parquet."""

    def __init__(self, folder: RunFolder, number: int) -> None:
        self._folder = folder
        self.number = number

    @cached_property
    def times(self) -> FrameTimes:
        """See PartReader."""
        return frame_times_of(self.signals(_TIME_COLUMNS))

    @property
    def last_seq(self) -> int:
        """See PartReader."""
        return int(self.times.seq[-1])

    def gaps(self, seen_seq: int) -> list[Gap]:
        """See PartReader."""
        return gaps_in(self.times, seen_seq)

    @cached_property
    def _samples_footer(self) -> pq.FileMetaData:
        return pq.read_metadata(self._folder.samples(self.number))

    @cached_property
    def _signals_footer(self) -> pq.FileMetaData:
        return pq.read_metadata(self._folder.signals(self.number))

    @cached_property
    def _groups(self) -> list[tuple[int, int]]:
        """Level and rows of each row group of the samples."""
        return row_groups(self._samples_footer)

    def rows(self, level: int) -> int:
        """See PartReader."""
        return sum(rows for one, rows in self._groups if one >= level)

    def samples(self, level: int = 0, columns: Sequence[str] | None = None) -> pa.Table:
        """See PartReader."""
        wanted = [number for number, (one, _) in enumerate(self._groups) if one >= level]
        path = self._folder.samples(self.number)
        with pq.ParquetFile(path, metadata=self._samples_footer) as file:
            return file.read_row_groups(wanted, columns=None if columns is None else list(columns))

    def signals(self, columns: Sequence[str] | None = None) -> pa.Table:
        """See PartReader."""
        path = self._folder.signals(self.number)
        with pq.ParquetFile(path, metadata=self._signals_footer) as file:
            return file.read(columns=None if columns is None else list(columns))

    def tables(self, level: int = CHANGE_LEVEL) -> dict[TableName, pa.Table]:
        """See PartReader."""
        found = {name: self.table(name, level) for name in self._tables()}
        return {name: table for name, table in found.items() if len(table)}

    def table(self, name: TableName, level: int = CHANGE_LEVEL) -> pa.Table:
        """See StoredPart."""
        if not self.has_table(name):
            return table_schema(name).empty_table()
        with pq.ParquetFile(self._folder.table(name, self.number)) as file:
            groups = row_groups(file.metadata)
            wanted = [number for number, (one, _) in enumerate(groups) if one >= level]
            return file.read_row_groups(wanted)

    def has_table(self, name: TableName) -> bool:
        """See StoredPart."""
        return self._folder.table(name, self.number).exists()

    def _tables(self) -> dict[TableName, Path]:
        paths = self._folder.tables(self.number)
        return {name: path for name, path in paths.items() if name not in STACK_TABLES}

    def tables_until(self, seq: int) -> dict[TableName, pa.Table]:
        """See PartReader."""
        return until(self.tables(), seq)

    def table_rows(self) -> tuple[int, ...]:
        """See PartReader."""
        groups = [
            group
            for path in self._tables().values()
            for group in row_groups(pq.read_metadata(path))
        ]
        return tuple(sum(rows for one, rows in groups if one >= level) for level in TABLE_LEVELS)

    def events(self) -> list[RunEvent]:
        """See PartReader."""
        with self._folder.events(self.number).open("rb") as lines:
            return [RunEvent.model_validate_json(line) for line in lines]


class OpenPart:
    """A part that is still stored as frames, decoded on demand."""

    def __init__(self, folder: RunFolder, number: int, fields: Sequence[str], data: bytes) -> None:
        self.number = number
        self._folder = folder
        self._fields = fields
        self._data = data

    @cached_property
    def times(self) -> FrameTimes:
        """See PartReader."""
        return frame_times_of(self._part.signals)

    @property
    def last_seq(self) -> int:
        """See PartReader."""
        return int(self.times.seq[-1])

    def gaps(self, seen_seq: int) -> list[Gap]:
        """See PartReader."""
        return gaps_in(self.times, seen_seq)

    @cached_property
    def _part(self) -> Part:
        return part_of(whole_frames(self._data), self._fields)

    def rows(self, level: int) -> int:
        """See PartReader."""
        return len(self.samples(level, ["level"]))

    def samples(self, level: int = 0, columns: Sequence[str] | None = None) -> pa.Table:
        """See PartReader."""
        table = self._part.samples.filter(pc.field("level") >= level)
        return table if columns is None else table.select(list(columns))

    def signals(self, columns: Sequence[str] | None = None) -> pa.Table:
        """See PartReader."""
        return those_of(self._part.signals, columns)

    def tables(self, level: int = CHANGE_LEVEL) -> dict[TableName, pa.Table]:
        """See PartReader."""
        names = [name for name in self._part.tables if name not in STACK_TABLES]
        found = {name: self.table(name, level) for name in names}
        return {name: table for name, table in found.items() if len(table)}

    def table(self, name: TableName, level: int = CHANGE_LEVEL) -> pa.Table:
        """See StoredPart."""
        table = self._part.tables.get(name, table_schema(name).empty_table())
        return table.filter(pc.field("level") >= level)

    def has_table(self, name: TableName) -> bool:
        """See StoredPart."""
        return name in self._part.tables

    def tables_until(self, seq: int) -> dict[TableName, pa.Table]:
        """See PartReader."""
        return until(self.tables(), seq)

    def table_rows(self) -> tuple[int, ...]:
        """See PartReader."""
        counts = [map(len, self.tables(level).values()) for level in TABLE_LEVELS]
        return tuple(map(sum, counts))

    def events(self) -> list[RunEvent]:
        """See PartReader."""
        return self._part.events


def row_groups(footer: pq.FileMetaData) -> list[tuple[int, int]]:
    """Return level and rows of each row group of a file with one level per group."""
    column = footer.schema.names.index("level")
    groups = map(footer.row_group, range(footer.num_row_groups))
    return [(int(one.column(column).statistics.max), one.num_rows) for one in groups]


def those_of(table: pa.Table, columns: Sequence[str] | None) -> pa.Table:
    """Return some columns of a table; None for all. Unknown names are ignored."""
    if columns is None:
        return table
    return table.select([name for name in columns if name in table.column_names])


def until(tables: Mapping[TableName, pa.Table], seq: int) -> dict[TableName, pa.Table]:
    """Return the rows of frame tables up to a frame."""
    return {name: table.filter(pc.field("seq") <= seq) for name, table in tables.items()}


def gaps_in(times: FrameTimes, seen_seq: int) -> list[Gap]:
    """Return frames missing between these, and after `seen_seq` unless that is 0."""
    before = np.concatenate([[seen_seq], times.seq[:-1]])
    places = np.flatnonzero((before > 0) & (times.first_seq > before + 1)).tolist()
    return [
        Gap(
            seq=int(times.seq[place]),
            time_ns=int(times.time_ns[place]),
            from_seq=int(before[place]) + 1,
            to_seq=int(times.first_seq[place]) - 1,
        )
        for place in places
    ]


def frame_times_of(signals: pa.Table) -> FrameTimes:
    """Return the frame times in a table of signals."""
    return FrameTimes(*(signals[name].to_numpy() for name in _TIME_COLUMNS))


def parts_of(folder: RunFolder, fields: Sequence[str]) -> list[StoredPart]:
    """Return the non-empty parts of a run, in order.

    Raises:
        OSError: the folder cannot be read.
    """
    parts: dict[int, StoredPart] = {}
    for number in folder.open_parts():
        try:
            data = folder.open_part(number).read_bytes()
        except FileNotFoundError:
            continue  # The part was sealed meanwhile.
        if next(whole_frames(data), None) is not None:
            parts[number] = OpenPart(folder, number, fields, data)
    for number in folder.sealed_parts():
        parts.setdefault(number, SealedPart(folder, number))
    return [parts[number] for number in sorted(parts)]
