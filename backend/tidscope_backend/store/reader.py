"""Reads a run, ended or active, as Arrow tables; computes the growth of its frame tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tidscope_wire.frame_tables import Table, empty_table, joined_rows
from tidscope_wire.generated.frame_tables import COLUMNS, ROWS
from tidscope_wire.generated.frame_tables import KEYS as TABLE_KEYS
from tidscope_wire.generated.models import RunEvent, RunManifest, TableName
from tidscope_wire.role import RoleRule

from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.log_parts import CROSSING_LEVEL, INNER_LEVEL, stays_between
from tidscope_backend.store.overview import Overview, PartFacts, facts_of
from tidscope_backend.store.part_tables import GROUP_KEYS, KEYS
from tidscope_backend.store.parts import PartRows, StoredPart, parts_of
from tidscope_backend.store.table_parts import (
    FIRST_LEVEL,
    PLACE,
    TableFollower,
    as_changes,
    rows_of,
    table_schema,
    without_gone,
)
from tidscope_backend.store.threads_table import threads_table

LATE_NS = 10_000_000_000
"""How long rows of a log may come after the stay that they describe, in nanoseconds."""


class RunReader:
    """A run at the time of opening; later data needs a new reader.

    Args:
        path: folder of the run.

    Raises:
        OSError: the run cannot be read.
        ValueError: the run's manifest is invalid.
    """

    def __init__(self, path: Path) -> None:
        self.folder = RunFolder(path)
        self.manifest: RunManifest = self.folder.read_manifest()
        self.fields: list[str] = self.manifest.target.fields
        self.parts: list[StoredPart] = parts_of(self.folder, self.fields)

    @cached_property
    def overview(self) -> Overview | None:
        """Coarse levels of the complete run; None if the run is active or has no overview."""
        if self.manifest.state == "recording":
            return None
        try:
            overview = Overview(self.folder)
        except FileNotFoundError:
            return None
        numbers = [part.number for part in self.parts]
        return overview if [one.number for one in overview.parts] == numbers else None

    @cached_property
    def facts(self) -> list[PartFacts]:
        """Times and rows of each part."""
        if self.overview is not None:
            return self.overview.parts
        return [facts_of(part) for part in self.parts]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Times of the first and last frame of each part, nanoseconds since attach."""
        return [(one.from_ns, one.to_ns) for one in self.facts]

    def parts_between(self, from_ns: int | None, to_ns: int | None) -> list[StoredPart]:
        """Return the parts between two times; None for the end of the run."""
        return [
            part
            for part, (first, last) in zip(self.parts, self.spans, strict=True)
            if (to_ns is None or first <= to_ns) and (from_ns is None or last >= from_ns)
        ]

    def signals(
        self,
        columns: Sequence[str] | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
    ) -> pa.Table:
        """Return one row per frame, in order; None for all columns, or for the end of the run.

        `time_ns` is always among the columns.
        """
        if columns is not None and "time_ns" not in columns:
            columns = [*columns, "time_ns"]
        tables = [part.signals(columns) for part in self.parts_between(from_ns, to_ns)]
        if not tables:
            tables = [part.signals(columns).slice(0, 0) for part in self.parts[:1]]
        return _between(pa.concat_tables(tables, promote_options="default"), from_ns, to_ns)

    def samples(
        self,
        columns: Sequence[str] | None = None,
        from_ns: int | None = None,
        to_ns: int | None = None,
        level: int = 0,
    ) -> pa.Table:
        """Return counters of threads, with `time_ns` of the frame as a column.

        Args:
            columns: fields to return besides the keys of docs/runs.md; None for all.
            from_ns: first time, nanoseconds since attach; None for the start of the run.
            to_ns: last time; None for the end of the run.
            level: minimum level of frames.

        Returns:
            Part by part sorted as docs/runs.md says.
        """
        keys = KEYS if self.manifest.target.group is None else GROUP_KEYS
        wanted = None if columns is None else [*keys, *(c for c in columns if c not in keys)]
        tables = []
        for part in self.parts_between(from_ns, to_ns) or self.parts[:1]:
            table = part.samples(level, wanted)
            place = np.searchsorted(part.times.seq, table["seq"].to_numpy())
            times = pa.array(part.times.time_ns[place])
            table = table.add_column(len(keys), "time_ns", times)
            tables.append(_between(table, from_ns, to_ns))
        return pa.concat_tables(tables)

    def log(self, name: TableName, from_ns: int, to_ns: int) -> Iterator[Table]:
        """Yield the rows of a log whose stays lie in a window, at least in part.

        Args:
            name: a table of `LOGS`, such as `stack_samples`.
            from_ns: start of the window, nanoseconds since attach.
            to_ns: end of the window.

        Yields:
            Structured arrays of `dtype_of(name)`, by part of the run; each key is in one of them
            only, with its last row. Stays that began before the window are included, also those
            that end after it. The length of a stay that ends after the window may be unknown.
        """
        parts = zip(self.parts, self.spans, strict=True)
        read = (
            rows_of(name, part.table(name, INNER_LEVEL if end_ns >= from_ns else CROSSING_LEVEL))
            for part, (begin_ns, end_ns) in parts
            if begin_ns <= to_ns + LATE_NS
        )
        yield from stays_between(name, read, from_ns, to_ns)

    def names(self, name: TableName, from_ns: int, to_ns: int) -> Table:
        """Return a table of names as known at the end of the run, for the log of a window.

        Args:
            name: a table whose rows are names, such as `stack_frames` or `stack_nodes`.
            from_ns: start of the window, nanoseconds since attach.
            to_ns: end of the window.

        Returns:
            A structured array of `dtype_of(name)`, by key.
        """
        having = [part for part in self.parts if part.has_table(name)]
        # The newest part has names that were resolved late.
        chosen = {part.number: part for part in self.parts_between(from_ns, to_ns + LATE_NS)}
        chosen |= {part.number: part for part in having[-1:]}
        tables = [chosen[number].table(name) for number in sorted(chosen)]
        rows = [rows_of(name, table.sort_by("seq")) for table in tables]
        return joined_rows(name, rows)

    def events(self) -> list[RunEvent]:
        """Return all events, by frame."""
        return [event for part in self.parts for event in part.events()]

    def threads(self) -> pa.Table:
        """Return the thread table: as written at the end of the run, else made from its parts."""
        if self.folder.threads.exists():
            with pq.ParquetFile(self.folder.threads) as file:
                return file.read()
        rules = [RoleRule(one.pattern, one.role) for one in self.manifest.target.role_rules or ()]
        return threads_table(self.parts, self.fields, rules)


def _between(table: pa.Table, from_ns: int | None, to_ns: int | None) -> pa.Table:
    if from_ns is not None:
        table = table.filter(pc.field("time_ns") >= from_ns)
    if to_ns is not None:
        table = table.filter(pc.field("time_ns") <= to_ns)
    return table


NOT_CUMULATIVE: Sequence[tuple[TableName, str]] = (
    ("pools", "read_ns"),
    *(("processes", column) for column in ("start_ticks", "count", "threads")),
)
OTHERS = "others"
"""Name of the row that sums ended processes of less common names."""
Key = tuple[int, ...]


def table_growth(parts: Iterable[PartRows], name: TableName) -> pa.Table:
    """Read a table through all parts of a run; those of `STACK_TABLES` have no rows here.

    Returns:
        Columns of the table, by key; cumulative columns count from the start of the run. Rows
        without growth are omitted, unless the table has no cumulative column. An ended thread or
        process keeps its last reported values. The remainder of ended threads is under thread 0,
        that of processes in rows of their names.
    """
    follower, seen = TableFollower(name), TableFollower(name)
    first: Table | None = None
    for part in parts:
        table = part.tables().get(name)
        if first is None:
            begin = part.tables(FIRST_LEVEL).get(name)
            first = empty_table(name) if begin is None else rows_of(name, begin)
        if table is not None:
            end = np.array([part.last_seq])
            follower.advance(table, end)
            seen.advance(as_changes(without_gone(name, table)), end)
    rows = _grown(name, empty_table(name) if first is None else first, seen.rows, follower.rows)
    schema = pa.schema([field for field in table_schema(name) if field.name not in PLACE])
    columns = [pa.array(rows[field.name].tolist(), field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _grown(name: TableName, first: Table, seen: Table, last: Table) -> Table:
    """Return the growth of rows between the start and the end of a run.

    Args:
        name: name of the table.
        first: rows at the start.
        seen: last rows with figures, of all keys.
        last: rows at the end. Rows of ended threads are absent here, and have become part of the
            rows of thread 0.
    """
    cumulative = [
        column
        for column, kind in COLUMNS[name].items()
        if ROWS[name] == "figures" and kind == "uint64" and (name, column) not in NOT_CUMULATIVE
    ]
    if not cumulative:
        return seen
    place = {key: at for at, key in enumerate(_keys(name, seen))}
    grown = seen.copy()

    def subtract(row: Table, keys: Iterable[Key]) -> None:
        """Subtract from the first row with one of these keys that is large enough."""
        for key in keys:
            at = place.get(key)
            if at is not None and all(grown[at][one] >= row[one] for one in cumulative):
                for column in cumulative:
                    grown[at][column] -= row[column]
                return

    there = set(_keys(name, last))
    folded = _folded_processes(seen) if name == "processes" else _folded_threads(name)
    for key, row in zip(_keys(name, seen), seen, strict=True):
        if key not in there:
            subtract(row, folded(key, row))
    for key, row in zip(_keys(name, first), first, strict=True):
        subtract(row, (key, *folded(key, row)))
    found: Table = grown[np.any([grown[column] > 0 for column in cumulative], axis=0)]
    return found


def _keys(name: TableName, table: Table) -> list[Key]:
    return list(zip(*(table[column].tolist() for column in TABLE_KEYS[name]), strict=True))


Folded = Callable[[Key, np.void], Iterable[Key]]
"""Keys that receive a row's figures after its thread or process has ended."""


def _folded_threads(name: TableName) -> Folded:
    def folded(key: Key, _: np.void) -> Iterator[Key]:
        places = [
            place
            for place, column in enumerate(TABLE_KEYS[name])
            if column.endswith("tid") and key[place] != 0
        ]
        for count in range(1, len(places) + 1):
            for gone in combinations(places, count):
                yield tuple(0 if place in gone else part for place, part in enumerate(key))

    return folded


def _folded_processes(rows: Table) -> Folded:
    """Return a function that names the rows which receive an ended process's figures."""
    by_name = {row["name"]: (int(row["process"]),) for row in rows[rows["pid"] == 0]}
    others = [by_name[one] for one in (OTHERS,) if one in by_name]

    def folded(_: Key, row: np.void) -> Iterable[Key]:
        own = by_name.get(row["name"])
        return ([] if own is None else [own]) + others if row["pid"] else []

    return folded
