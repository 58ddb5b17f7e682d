"""Tables that frames carry behind their rows: facts whose keys are not threads.

Each is a whole Arrow IPC stream of one batch (`tidscope_wire.table_streams`);
`shared/schemas/frame_tables.json` has its columns.
In Python a table is a structured array of n rows with these columns; texts are objects of str.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tidscope_wire.generated.frame_tables import COLUMNS, KEYS, ROWS
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import TableName

Table = npt.NDArray[np.void]
"""Rows of a table, of `dtype_of(name)`."""
Tables = Mapping[TableName, Table]

Words = npt.NDArray[np.uint64]
"""Key of several columns, packed into one number per row."""

LATER: Mapping[TableName, frozenset[str]] = {
    "processes": frozenset({"gomaxprocs", "namespace_pid"}),
    "takers": frozenset({"party"}),
    "wakes": frozenset({"party"}),
}
"""Number columns that tables of older frames and runs lack; they are 0 there."""

_NUMPY: Mapping[str, str] = {"uint32": "<u4", "uint64": "<u8", "utf8": "O"}
_BITS = 64
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@lru_cache
def dtype_of(name: TableName) -> np.dtype[np.void]:
    """The columns of a table, in order."""
    return np.dtype([(column, _NUMPY[kind]) for column, kind in COLUMNS[name].items()])


def empty_table(name: TableName) -> Table:
    """Make a table without rows."""
    return np.empty(0, dtype_of(name))


def make_table(name: TableName, columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]]) -> Table:
    """Make a table from columns of n values each, in any order.

    Raises:
        ValueError: the columns are not the table's, or differ in length.
    """
    made = dtype_of(name)
    if columns.keys() != set(made.names or ()):
        raise ValueError(f"{name} has the columns {made.names}, not {tuple(columns)}")
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise ValueError(f"columns of {sorted(lengths)} rows")
    table = np.empty(lengths.pop(), made)
    for column, values in columns.items():
        table[column] = values
    return table


def number_rows(name: TableName, tables: Sequence[Table]) -> list[npt.NDArray[np.intp]]:
    """Number rows of several tables of one name by their keys, from 0 in the order of keys.

    Returns:
        intp[rows] for each table; rows with equal keys have equal numbers.
    """
    none = np.empty(0, np.uint32)
    columns = [
        np.concatenate([none, *(table[column] for table in tables)]) for column in KEYS[name]
    ]
    codes = packed(columns)
    if codes is None:
        codes = np.zeros(len(columns[0]), np.uint64)
        for place, values in enumerate(columns):
            if place > 1:  # Two columns fill 64 bits.
                codes = np.unique(codes, return_inverse=True)[1].astype(np.uint64)
            codes = codes << np.uint64(32) | values
    numbers = np.unique(codes, return_inverse=True)[1]
    ends = np.cumsum([len(table) for table in tables])
    return np.split(numbers, ends[:-1]) if len(tables) else []


def has_figures(name: TableName, table: Table) -> npt.NDArray[np.bool_]:
    """Mask of rows that are not deleted. Only rows of figures can be: all their figures are 0."""
    if ROWS[name] != "figures":
        return np.ones(len(table), np.bool_)
    figures = [column for column, kind in COLUMNS[name].items() if kind == "uint64"]
    given: npt.NDArray[np.bool_] = np.any([table[column] != 0 for column in figures], axis=0)
    return given


def joined_rows(name: TableName, tables: Sequence[Table], *, keep_gone: bool = False) -> Table:
    """Join tables of one name in their order; the last row with a key wins.

    Args:
        name: of the tables.
        tables: the first ones of them, or changes to others.
        keep_gone: keep deleted rows, for readers that have earlier rows with these keys.

    Returns:
        Rows ordered by key, without bound.
    """
    rows = np.concatenate([empty_table(name), *tables])
    (numbers,) = number_rows(name, [rows])
    # The last of several rows with equal numbers wins, because numpy assigns in order.
    last = np.zeros(int(numbers.max()) + 1 if len(numbers) else 0, np.intp)
    last[numbers] = np.arange(len(rows))
    joined = rows[last]
    return joined if keep_gone else joined[has_figures(name, joined)]


def latest_rows(name: TableName, tables: Sequence[Table]) -> Table:
    """Return the first MAX_TABLE_ROWS of `joined_rows`, without deleted ones."""
    return joined_rows(name, tables)[:MAX_TABLE_ROWS]


def packed(columns: Sequence[npt.NDArray[np.unsignedinteger]]) -> Words | None:
    """Numbers that compare like the rows' keys.

    Args:
        columns: one or more, of n rows each; the first is the most significant.

    Returns:
        uint64[n], or None if a key needs more than 64 bits.
    """
    if not len(columns[0]):
        return np.empty(0, np.uint64)
    parts = list[tuple[Words, int]]()
    for column in columns:
        words = column.astype(np.uint64, copy=False)
        # Halves with few bits each, as of two ids, need less room than all bits between them.
        if int(words.max()).bit_length() > int(_HALF):
            parts += [_part(words >> _HALF), _part(words & _LOW)]
        else:
            parts.append(_part(words))
    if sum(bits for _, bits in parts) > _BITS:
        return None
    made = np.zeros(len(columns[0]), np.uint64)
    for words, bits in parts:
        if bits:  # a shift by 64 is not defined, and one by all of them moves nothing
            made = made << np.uint64(bits % _BITS) | words
    return made


def _part(words: Words) -> tuple[Words, int]:
    return words, int(words.max()).bit_length()


def are_ascending(numbers: Words) -> bool:
    """True if each number is greater than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())
