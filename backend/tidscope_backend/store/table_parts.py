"""Changed rows of the frame tables of a part; `log_parts` has the rows of logs. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tidscope_wire.frame_tables import LATER, Table, dtype_of, empty_table, has_figures
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS, ROWS
from tidscope_wire.generated.models import TableName

FIRST_LEVEL, KEY_LEVEL, CHANGE_LEVEL = 3, 2, 0
"""Levels: complete at the part's first frame, changed since a key frame, changed since any
frame.
"""
TABLE_LEVELS = (CHANGE_LEVEL, KEY_LEVEL, FIRST_LEVEL)
PLACE = ("seq", "level")
"""Columns besides those of the table itself."""
Ints = npt.NDArray[np.int64]
_ARROW = {"uint32": pa.uint32(), "uint64": pa.uint64(), "utf8": pa.utf8()}
STACK_TABLES: frozenset[TableName] = frozenset({"stack_frames", "stack_nodes", "stack_samples"})
"""Tables from which the backend computes flame graphs. Replays and overviews lack them: pages ask
for flame graphs, and these tables have far more rows than all others.
"""


class FrameTables(NamedTuple):
    """Tables of one frame.

    Attributes:
        seq: number of the frame.
        key: whether the tables are complete, and replace all earlier ones; logs are never complete.
        tables: tables by name.
    """

    seq: int
    key: bool
    tables: Mapping[TableName, Table]


def table_schema(name: TableName) -> pa.Schema:
    """Return the columns of docs/runs.md."""
    kinds = {column: _ARROW[kind] for column, kind in COLUMNS[name].items()}
    return pa.schema({"seq": pa.int64(), "level": pa.uint8(), **kinds})


def with_later(name: TableName, table: pa.Table) -> pa.Table:
    """Add the columns that an older table lacks, filled with 0."""
    for column in LATER.get(name, frozenset()) - set(table.column_names):
        kind = _ARROW[COLUMNS[name][column]]
        table = table.append_column(column, pa.repeat(pa.scalar(0, kind), len(table)))
    return table


def part_tables(frames: Sequence[FrameTables]) -> dict[TableName, pa.Table]:
    """Make the tables of a part, without logs.

    Args:
        frames: frames of the part with tables, in order.

    Returns:
        By name, rows by level (highest first), key and frame number. Names without rows are
        omitted.
    """
    found: dict[TableName, pa.Table] = {}
    for name in COLUMNS:
        if ROWS[name] != "log" and any(len(frame.tables.get(name, ())) for frame in frames):
            having = [frame for frame in frames if frame.key or name in frame.tables]
            found[name] = _part_table(name, having, first_seq=frames[0].seq)
    return found


def _part_table(name: TableName, frames: Sequence[FrameTables], first_seq: int) -> pa.Table:
    tables = _with_gone(name, frames)
    rows = np.concatenate(tables)
    counts = [len(table) for table in tables]
    seq = np.repeat(np.array([frame.seq for frame in frames], np.int64), counts)
    key = np.repeat(np.array([frame.key for frame in frames], np.bool_), counts)
    whole = np.flatnonzero(key)
    kept_whole = whole[changed_rows(name, rows[whole], seq[whole])]
    order = changed_rows(name, rows, seq)
    kept = np.concatenate([kept_whole, order[~key[order]]])
    level = np.where(key[kept], np.where(seq[kept] == first_seq, FIRST_LEVEL, KEY_LEVEL), 0)
    kept = kept[np.argsort(-level, kind="stable")]
    level = np.sort(level)[::-1]
    return arrow_table(name, rows[kept], seq[kept], level.astype(np.uint8))


def _with_gone(name: TableName, frames: Sequence[FrameTables]) -> list[Table]:
    """Return the table of each frame; in key frames also rows gone since the previous key frame."""
    found: list[Table] = []
    before = empty_table(name)
    for frame in frames:
        table = frame.tables.get(name, empty_table(name))
        found.append(table)
        if frame.key:
            found[-1] = np.concatenate([table, gone_rows(name, before, table)])
            before = table
    return found


def gone_rows(name: TableName, before: Table, now: Table) -> Table:
    """Return the keys that one complete table has and a later one lacks, without figures."""
    if ROWS[name] != "figures":
        return empty_table(name)
    both = np.concatenate([now, before])
    order = key_order(name, both, np.repeat([0, 1], [len(now), len(before)]))
    alone = order[~same_key(name, both[order])]
    gone: Table = both[np.sort(alone[alone >= len(now)])].copy()
    for column, kind in COLUMNS[name].items():
        if kind == "uint64":
            gone[column] = 0
    return gone


def arrow_table(name: TableName, rows: Table, seq: Ints, level: npt.NDArray[np.uint8]) -> pa.Table:
    """Return rows of frames as Arrow."""
    columns = {"seq": pa.array(seq), "level": pa.array(level)}
    for column, kind in COLUMNS[name].items():
        values = rows[column]
        columns[column] = (
            pa.array(values.tolist(), pa.utf8())
            if kind == "utf8"
            else pa.array(np.ascontiguousarray(values))
        )
    return pa.table(columns, schema=table_schema(name))


def rows_of(name: TableName, table: pa.Table) -> Table:
    """Return the rows of an Arrow table, without seq and level."""
    rows = np.empty(len(table), dtype_of(name))
    table = with_later(name, table)
    for column, kind in COLUMNS[name].items():
        if kind != "utf8":
            rows[column] = table[column].to_numpy()
            continue
        # A few texts occur in many rows: share one object for each.
        for chunk, begin in _chunks(table[column]):
            encoded = chunk.dictionary_encode()
            texts = np.array(encoded.dictionary.to_pylist(), object)
            rows[column][begin : begin + len(chunk)] = texts[encoded.indices.to_numpy()]
    return rows


def _chunks(column: pa.ChunkedArray) -> Iterator[tuple[pa.Array, int]]:
    """Yield each chunk with rows, and its start index."""
    begin = 0
    for chunk in column.chunks:
        if len(chunk):
            yield chunk, begin
        begin += len(chunk)


def changed_rows(name: TableName, rows: Table, seq: Ints) -> Ints:
    """Return indices of rows that differ from their key's previous row, in that order."""
    order = key_order(name, rows, seq)
    same = same_key(name, rows[order])
    for column in COLUMNS[name]:
        if column not in KEYS[name] and same.any():
            values = rows[column][order]
            same[1:] &= (values[1:] == values[:-1]).astype(np.bool_)
    return order[~same]


def key_order(name: TableName, rows: Table, seq: Ints) -> Ints:
    """Return indices of rows ordered by key, then by number."""
    keys = [rows[column] for column in reversed(KEYS[name])]
    order: Ints = np.lexsort((seq, *keys))
    return order


def same_key(name: TableName, ordered: Table) -> npt.NDArray[np.bool_]:
    """Return, for each of some ordered rows, whether its key equals the previous one."""
    same = np.ones(len(ordered), np.bool_)
    same[:1] = False
    for column in KEYS[name]:
        same[1:] &= ordered[column][1:] == ordered[column][:-1]
    return same


class TableFollower:
    """Follows one table through the parts of a run, and reports changes with their times.

    Args:
        name: name of the table.

    Attributes:
        rows: the current table, by key.
    """

    def __init__(self, name: TableName) -> None:
        self._name = name
        self.rows: Table = empty_table(name)

    def advance(self, table: pa.Table, ends: Ints) -> tuple[Table, Ints]:
        """Apply the rows of the next part, for frames up to the last of `ends`.

        Args:
            table: table of the part, in any order; keys missing from rows of the first level are
                gone.
            ends: numbers of frames, ascending.

        Returns:
            Changed rows, by key, and for each the index of the first of `ends` that includes it. Of
            several changes of one row up to one of `ends`, the last remains. Rows without figures
            are gone.
        """
        seq, new = table["seq"].to_numpy(), rows_of(self._name, table)
        first = table["level"].to_numpy() == FIRST_LEVEL
        if first.any():
            gone = gone_rows(self._name, self.rows, new[first])
            new = np.concatenate([new, gone])
            seq = np.concatenate([seq, np.full(len(gone), seq[first].min())])
        group = np.searchsorted(ends, seq)
        inside = group < len(ends)
        rows = np.concatenate([self.rows, new[inside]])
        groups = np.concatenate([np.full(len(self.rows), -1), group[inside]])
        seqs = np.concatenate([np.full(len(self.rows), -1), seq[inside]])
        order = key_order(self._name, rows, seqs)
        rows, groups = rows[order], groups[order]
        last = is_last(same_key(self._name, rows))
        of_group = last.copy()
        of_group[:-1] |= groups[1:] != groups[:-1]
        there = rows[last]
        self.rows = there[has_figures(self._name, there)]
        rows, groups = rows[of_group], groups[of_group]
        changed = changed_rows(self._name, rows, np.arange(len(rows)))
        changed = changed[groups[changed] >= 0]
        return rows[changed], groups[changed]


class TableFollowers:
    """Follows all tables of a run, part by part."""

    def __init__(self) -> None:
        self._followers: dict[TableName, TableFollower] = {}

    def advance(
        self, tables: Mapping[TableName, pa.Table], ends: Ints
    ) -> list[dict[TableName, pa.Table]]:
        """Return the changed rows up to each given frame of the next part; see `TableFollower`."""
        found: list[dict[TableName, pa.Table]] = [{} for _ in ends]
        for name, table in tables.items():
            follower = self._followers.setdefault(name, TableFollower(name))
            rows, groups = follower.advance(table, ends)
            for number, end in enumerate(ends.tolist()):
                changed = rows[groups == number]
                if len(changed):
                    found[number][name] = at_frame(name, changed, end)
        return found

    def whole(self) -> dict[TableName, Table]:
        """Return all current tables; tables without rows are omitted."""
        return {name: one.rows for name, one in self._followers.items() if len(one.rows)}


def latest_of(
    changes: Sequence[Mapping[TableName, pa.Table]], seq: int
) -> dict[TableName, pa.Table]:
    """Join consecutive changes; of several rows with one key, the last remains.

    Args:
        changes: rows of frames by table.
        seq: frame number of the result.
    """
    found: dict[TableName, pa.Table] = {}
    for name in {name: None for one in changes for name in one}:
        table = pa.concat_tables(one[name] for one in changes if name in one)
        rows, _ = TableFollower(name).advance(table, np.array([seq]))
        found[name] = at_frame(name, rows, seq)
    return found


def without_gone(name: TableName, table: pa.Table) -> pa.Table:
    """Return the rows with figures."""
    return table.filter(pa.array(has_figures(name, rows_of(name, table))))


def as_changes(table: pa.Table) -> pa.Table:
    """Return rows of an overview's level as rows of a part that marks no rows as gone."""
    level = pa.array(np.full(len(table), KEY_LEVEL, np.uint8))
    return table.set_column(table.column_names.index("level"), "level", level)


def at_frame(name: TableName, rows: Table, seq: int) -> pa.Table:
    """Return rows of one frame as Arrow."""
    level = np.full(len(rows), KEY_LEVEL, np.uint8)
    return arrow_table(name, rows, np.full(len(rows), seq, np.int64), level)


def is_last(same: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return, for each of some ordered rows, whether it is the last with its key."""
    last = np.ones(len(same), np.bool_)
    last[:-1] = ~same[1:]
    return last
