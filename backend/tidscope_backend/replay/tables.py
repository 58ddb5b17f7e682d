"""Samples and tables of a replay: the last row of each live thread, if changed.

`STACK_TABLES` are left out, the log `stack_samples` among them: the backend computes flame graphs
of runs from the parts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.frame import Rows
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.limits import MAX_TABLE_ROWS
from tidscope_wire.generated.models import (
    FrameTable,
    RunEvent,
    TableName,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)
from tidscope_wire.table_streams import encode_tables

from tidscope_backend.store.overview import PartFacts
from tidscope_backend.store.part_tables import TABLES
from tidscope_backend.store.parts import PartReader
from tidscope_backend.store.table_parts import (
    FIRST_LEVEL,
    TABLE_LEVELS,
    TableFollowers,
    rows_of,
)

Ints = npt.NDArray[np.int64]


def table_level(parts: Sequence[PartFacts], from_ns: int, to_ns: int, most: int) -> int:
    """Return the finest level of frame tables with at most this many rows in a span."""
    known = [(part.table_rows, part.share(from_ns, to_ns)) for part in parts if part.table_rows]
    for place, level in enumerate(TABLE_LEVELS):
        if sum(rows[place] * share for rows, share in known) <= most:
            return level
    return FIRST_LEVEL


class Said(NamedTuple):
    """Facts about a table, from a recorded frame.

    Attributes:
        omitted: number of omitted rows.
        read_ns: time of reading, since attach; None in runs of older versions.
    """

    omitted: int
    read_ns: int | None


TableFacts = Mapping[TableName, Said]


class ReplayedTables:
    """Selects the table rows of each frame of a replay, part by part.

    Args:
        level: level of the rows read between the first frame and the last part.
    """

    def __init__(self, level: int) -> None:
        self._level = level
        self._followers = TableFollowers()
        self._began = False

    def of_part(
        self, part: PartReader, ends: Ints, keys: Mapping[int, int], *, last: bool
    ) -> Iterator[dict[TableName, Table]]:
        """Yield the tables of the frames made of the next part.

        Args:
            part: next part.
            ends: numbers of the recorded frames that become frames, ascending; at least one.
            keys: indices of the key frames, which have complete tables.
            last: whether the part is the last; the last frame then includes all changes.
        """
        tables = part.tables(TABLE_LEVELS[0] if last else self._level)
        if not self._began:
            # The state at the first frame is exact at any level.
            self._began = True
            tables = joined(part.tables_until(int(ends[0])), tables)
        at = 0
        for key in [*sorted(keys), len(ends)]:
            if key > at:
                yield from map(_rows, self._followers.advance(tables, ends[at:key]))
            if key < len(ends):
                self._followers.advance(tables, ends[key : key + 1])
                yield self._followers.whole()
            at = key + 1


def joined(
    first: Mapping[TableName, pa.Table], then: Mapping[TableName, pa.Table]
) -> dict[TableName, pa.Table]:
    """Return rows of the same tables from two places."""
    return {
        name: pa.concat_tables([one[name] for one in (first, then) if name in one])
        for name in {**first, **then}
    }


def encode_bounded(
    tables: Mapping[TableName, Table], said: TableFacts
) -> tuple[list[FrameTable], bytes]:
    """Encode tables for a frame within its limits; omitted rows are counted.

    Args:
        tables: tables by name.
        said: facts about the tables in the recorded frames.
    """
    described, data = encode_tables(
        {name: table[:MAX_TABLE_ROWS] for name, table in tables.items()}
    )
    for one in described:
        recorded = said.get(one.name, Said(0, None))
        one.omitted = recorded.omitted + len(tables[one.name]) - one.rows
        one.read_ns = recorded.read_ns
    return described, data


class SaidOfTables:
    """Follows the facts about a run's tables, part by part."""

    def __init__(self) -> None:
        self._said: dict[TableName, Said] = {}

    def of_part(self, signals: pa.Table, ends: Ints) -> Iterator[TableFacts]:
        """Return the newest facts up to each given frame of the next part.

        Args:
            signals: signals of the part, one row per frame.
            ends: indices of the frames, ascending.
        """
        rows = signals[TABLES] if TABLES in signals.column_names else None
        at = 0
        for end in ends.tolist():
            for described in () if rows is None else rows.slice(at, end + 1 - at).to_pylist():
                for one in described or ():
                    self._said[one["name"]] = Said(one["omitted"], one["read_ns"])
            at = end + 1
            yield dict(self._said)


def _rows(tables: Mapping[TableName, pa.Table]) -> dict[TableName, Table]:
    return {name: rows_of(name, table) for name, table in tables.items()}


def last_rows(
    samples: pa.Table,
    ends: Ints,
    events: Sequence[RunEvent],
    fields: Sequence[str],
    keys: Mapping[int, int],
) -> Iterator[Rows]:
    """Yield rows of frames made at some recorded frames of a part.

    Args:
        samples: samples of the part, from a key frame on; columns as in docs/runs.md.
        ends: their numbers, ascending; each also covers the frames after the previous one.
        events: events of the part.
        fields: fields of the rows.
        keys: indices of the key frames among the frames made, with all threads, starts and names,
            and the number of each one's recorded key frame.
    """
    if samples["start_ns"].null_count:
        samples = samples.filter(pc.field("start_ns").is_valid())
    tid = samples["tid"].to_numpy().astype(np.int64)
    start = samples["start_ns"].to_numpy()
    seq = samples["seq"].to_numpy()
    group = np.searchsorted(ends, seq)
    order = np.lexsort((seq, start, tid, group))
    order = order[_is_last(group[order], tid[order], start[order])]
    order = order[~_gone(tid[order], start[order], ends[group[order]], events)]
    for number, key_seq in keys.items():
        # Threads that a later key frame lacks have ended.
        order = order[(group[order] != number) | (seq[order] >= key_seq)]
    order = order[_changed(samples, order, fields) | np.isin(group[order], list(keys))]
    chosen = samples.take(pa.array(order))
    cuts = np.searchsorted(group[order], np.arange(len(ends) + 1))
    columns = {name: _values(chosen[name]) for name in fields}
    pids = chosen["pid"].fill_null(0).to_numpy() if "pid" in chosen.column_names else None
    for number in range(len(ends)):
        part = slice(int(cuts[number]), int(cuts[number + 1]))
        rows = Rows(
            tid=tid[order][part].astype(np.uint32),
            columns={name: values[part] for name, (values, _) in columns.items()},
            absent={name: null[part] for name, (_, null) in columns.items() if null[part].any()},
        )
        if number in keys:
            starts = start[order][part]
            names = _names(samples, events, int(ends[number]))
            called = [
                names.get(key, "") for key in zip(rows.tid.tolist(), starts.tolist(), strict=True)
            ]
            pid = None if pids is None else pids[part]
            rows = Rows(rows.tid, rows.columns, rows.absent, starts, called, pid)
        yield rows


def _is_last(*keys: Ints) -> npt.NDArray[np.bool_]:
    """Return, for each of sorted rows, whether it is the last one with its keys."""
    edge = np.zeros(max(0, len(keys[0]) - 1), np.bool_)
    for key in keys:
        edge |= np.diff(key) != 0
    return np.concatenate([edge, np.ones(min(1, len(keys[0])), np.bool_)])


def _gone(tid: Ints, start: Ints, end: Ints, events: Sequence[RunEvent]) -> npt.NDArray[np.bool_]:
    """Return, for each row, whether its thread has exited at its frame."""
    exits = {
        (named.event.tid, named.event.start_ns): named.seq
        for named in events
        if isinstance(named.event, ThreadExited)
    }
    if not exits:
        return np.zeros(len(tid), np.bool_)
    keys = zip(tid.tolist(), start.tolist(), end.tolist(), strict=True)
    return np.array([exits.get((one, begun), seq + 1) <= seq for one, begun, seq in keys], np.bool_)


def _changed(samples: pa.Table, order: Ints, fields: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return, for each row, whether it differs from the previous one of its thread."""
    tid, start = samples["tid"].to_numpy()[order], samples["start_ns"].to_numpy()[order]
    place = np.lexsort((np.arange(len(order)), start, tid))
    same = np.zeros(len(order), np.bool_)
    same[1:] = (np.diff(tid[place].astype(np.int64)) == 0) & (np.diff(start[place]) == 0)
    for name in fields:
        if not same.any():
            break
        values, null = _values(samples[name])
        values, null = values[order[place]], null[order[place]]
        same[1:] &= (values[1:] == values[:-1]) & (null[1:] == null[:-1])
    changed = np.ones(len(order), np.bool_)
    changed[place] = ~same
    return changed


def _values(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return values, with 0 for missing ones, and a mask of missing values."""
    null = np.zeros(len(column), np.bool_)
    if column.null_count:
        null = column.is_null().to_numpy()
        column = column.fill_null(0)
    return column.to_numpy(), null


def _names(samples: pa.Table, events: Sequence[RunEvent], seq: int) -> dict[tuple[int, int], str]:
    """Return the name of each thread at a recorded frame."""
    named = samples.filter(pc.field("name").is_valid() & (pc.field("seq") <= seq))
    named = named.sort_by("seq")
    keys = zip(named["tid"].to_pylist(), named["start_ns"].to_pylist(), strict=True)
    seqs = named["seq"].to_pylist()
    names = dict(zip(keys, named["name"].to_pylist(), strict=True))
    newest = seqs[-1] if seqs else 0
    holder = {tid: (tid, start) for tid, start in names}
    for one in events:
        event = one.event
        if not newest < one.seq <= seq:
            continue
        if isinstance(event, ThreadBorn):
            holder[event.tid] = (event.tid, event.start_ns)
            names[event.tid, event.start_ns] = event.name
        elif isinstance(event, ThreadRenamed) and event.tid in holder:
            names[holder[event.tid]] = event.name
    return names
