"""What the frame tables of a run grew by from its first frame to its last."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa
from tidscope_wire.frame_tables import Table, empty_table
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.models import TableName

from tidscope_backend.store.parts import PartRows
from tidscope_backend.store.table_parts import (
    FIRST_LEVEL,
    PLACE,
    TableFollower,
    as_changes,
    rows_of,
    table_schema,
    without_gone,
)

NOT_CUMULATIVE: Sequence[tuple[TableName, str]] = (
    ("lock_names", "address"),
    ("pools", "read_ns"),
    *(("processes", column) for column in ("start_ticks", "count", "threads")),
)
OTHERS = "others"
"""What the row of ended processes of all further names is called."""
Key = tuple[int, ...]


def table_growth(parts: Iterable[PartRows], name: TableName) -> pa.Table:
    """Read a table through all parts of a run.

    Returns:
        Columns of the table, by key; cumulative ones count from the start of the run. Rows that
        did not grow are left out, unless the table has no cumulative column. A thread or process
        that ended has what frames said of it last; the rest of threads that ended stands under
        thread 0, that of processes in rows of their names.
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
    """What rows grew by.

    Args:
        name: of the table.
        first: its rows at the start.
        seen: the last rows with figures of all keys.
        last: its rows at the end; those of threads that ended are not among them, and have become
            a part of the rows of thread 0.
    """
    cumulative = [
        column
        for column, kind in COLUMNS[name].items()
        if kind == "uint64" and (name, column) not in NOT_CUMULATIVE
    ]
    if not cumulative:
        return seen
    place = {key: at for at, key in enumerate(_keys(name, seen))}
    grown = seen.copy()

    def subtract(row: Table, keys: Iterable[Key]) -> None:
        """From the first row with one of these keys that is large enough."""
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
    return list(zip(*(table[column].tolist() for column in KEYS[name]), strict=True))


Folded = Callable[[Key, np.void], Iterable[Key]]
"""Keys under which the figures of a row stand once a thread or process in it has ended."""


def _folded_threads(name: TableName) -> Folded:
    def folded(key: Key, _: np.void) -> Iterator[Key]:
        places = [
            place
            for place, column in enumerate(KEYS[name])
            if column.endswith("tid") and key[place] != 0
        ]
        for count in range(1, len(places) + 1):
            for gone in combinations(places, count):
                yield tuple(0 if place in gone else part for place, part in enumerate(key))

    return folded


def _folded_processes(rows: Table) -> Folded:
    """Ended processes are added up by name; those of further names in one row."""
    by_name = {row["name"]: (int(row["process"]),) for row in rows[rows["pid"] == 0]}
    others = [by_name[one] for one in (OTHERS,) if one in by_name]

    def folded(_: Key, row: np.void) -> Iterable[Key]:
        own = by_name.get(row["name"])
        return ([] if own is None else [own]) + others if row["pid"] else []

    return folded
