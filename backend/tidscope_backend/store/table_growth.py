"""What the frame tables of a run grew by from its first frame to its last."""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import pyarrow as pa
from tidscope_wire.frame_tables import Table, empty_table
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.models import TableName

from tidscope_backend.store.parts import PartReader
from tidscope_backend.store.table_parts import FIRST_LEVEL, TableFollower, rows_of

NOT_CUMULATIVE = ("address",)


def table_growth(parts: Iterable[PartReader], name: TableName) -> pa.Table:
    """Read a table through all parts of a run.

    Returns:
        Columns of the table, by key; cumulative ones count from the start of the run. Rows that
        did not grow are left out, unless the table has no cumulative column. Thread 0 stands for
        threads that ended within the run.
    """
    follower = TableFollower(name)
    first: Table | None = None
    for part in parts:
        table = part.tables().get(name)
        if first is None:
            begin = part.tables(FIRST_LEVEL).get(name)
            first = empty_table(name) if begin is None else rows_of(name, begin)
        if table is not None:
            follower.advance(table, np.array([part.last_seq]))
    rows = _grown(name, empty_table(name) if first is None else first, follower.rows)
    kinds = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}
    schema = pa.schema({column: kinds[kind] for column, kind in COLUMNS[name].items()})
    columns = [pa.array(rows[field.name].tolist(), field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _grown(name: TableName, first: Table, last: Table) -> Table:
    cumulative = [
        column
        for column, kind in COLUMNS[name].items()
        if kind == "uint64" and column not in NOT_CUMULATIVE
    ]
    if not cumulative:
        return last
    keys = KEYS[name]
    place = {tuple(row): at for at, row in enumerate(last[list(keys)].tolist())}
    grown = last.copy()
    for row in first:
        key = tuple(row[column].item() for column in keys)
        # What a thread had done before the run counts for thread 0 once it has ended.
        for known in (key, *_folded(name, key)):
            at = place.get(known)
            if at is not None and all(grown[at][one] >= row[one] for one in cumulative):
                for column in cumulative:
                    grown[at][column] -= row[column]
                break
    found: Table = grown[np.any([grown[column] > 0 for column in cumulative], axis=0)]
    return found


def _folded(name: TableName, key: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Keys under which a row may stand once a thread in it has ended."""
    places = [place for place, column in enumerate(KEYS[name]) if column.endswith("tid")]
    for count in range(1, len(places) + 1):
        for gone in combinations(places, count):
            yield tuple(0 if place in gone else part for place, part in enumerate(key))
