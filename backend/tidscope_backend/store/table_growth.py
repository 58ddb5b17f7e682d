"""What the frame tables of a run grew by from its first frame to its last."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from tidscope_wire.frame_tables import Table, empty_table
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.models import TableName

from tidscope_backend.store.parts import PartReader
from tidscope_backend.store.table_parts import (
    FIRST_LEVEL,
    TableFollower,
    as_changes,
    key_order,
    rows_of,
    same_key,
)

NOT_CUMULATIVE = ("address",)


def table_growth(parts: Iterable[PartReader], name: TableName) -> pa.Table:
    """Read a table through all parts of a run, rows of threads that ended included.

    Returns:
        Columns of the table, by key; cumulative ones count from the start of the run. Rows that
        did not grow are left out, unless the table has no cumulative column.
    """
    follower = TableFollower(name)
    first: Table | None = None
    for part in parts:
        table = part.tables().get(name)
        if first is None:
            begin = part.tables(FIRST_LEVEL).get(name)
            first = empty_table(name) if begin is None else rows_of(name, begin)
        if table is not None and len(table):
            follower.advance(as_changes(table), np.array([part.last_seq]))
    rows = _grown(name, empty_table(name) if first is None else first, follower.rows)
    kinds = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}
    schema = pa.schema({column: kinds[kind] for column, kind in COLUMNS[name].items()})
    columns = [pa.array(rows[field.name].tolist(), field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _grown(name: TableName, first: Table, last: Table) -> Table:
    cumulative = [
        column
        for column, kind in COLUMNS[name].items()
        if kind == "uint64" and column not in (*KEYS[name], *NOT_CUMULATIVE)
    ]
    rows = np.concatenate([first, last])
    order = key_order(name, rows, np.repeat([0, 1], [len(first), len(last)]))
    rows = rows[order]
    again = np.flatnonzero(same_key(name, rows))
    # A row that fell is of another thread, whose id was free again: it began at 0.
    fell = np.zeros(len(again), np.bool_)
    for column in cumulative:
        fell |= rows[column][again] < rows[column][again - 1]
    again = again[~fell]
    grown = rows.copy()
    for column in cumulative:
        grown[column][again] -= rows[column][again - 1]
    kept = order >= len(first)
    if cumulative:
        kept &= np.any([grown[column] > 0 for column in cumulative], axis=0)
    found: Table = grown[kept]
    return found
