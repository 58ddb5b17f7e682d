"""Rows of the logs of a part: tables whose rows are added, and not replaced by key frames. Pure.

A row of a log describes a stay of a thread. It comes once when the stay begins, and again when it
ends.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tidscope_wire.frame_tables import Table, empty_table, joined_rows
from tidscope_wire.generated.frame_tables import COLUMNS, ROWS
from tidscope_wire.generated.models import TableName
from tidscope_wire.states import STATE_FIELDS

from tidscope_backend.store.table_parts import (
    CHANGE_LEVEL,
    KEY_LEVEL,
    FrameTables,
    arrow_table,
    is_last,
    key_order,
    same_key,
)

LOGS: tuple[TableName, ...] = tuple(name for name in COLUMNS if ROWS[name] == "log")
"""Tables whose rows are a log."""
CROSSING_LEVEL, INNER_LEVEL = KEY_LEVEL, CHANGE_LEVEL
"""Levels of rows: stays that began before the part or had not ended at its end; all other stays."""
NOT_ENDED = 2**61
"""End of a stay that has not ended, and the greatest time of others, nanoseconds since attach."""
ON_CPU = 1 + STATE_FIELDS.index("state_on_cpu_ns")
Ints = npt.NDArray[np.int64]


def part_logs(frames: Sequence[FrameTables], first_ns: int) -> dict[TableName, pa.Table]:
    """Make the logs of a part.

    Args:
        frames: frames of the part with tables, in order.
        first_ns: time of the part's first frame, since attach.

    Returns:
        By name, the last row of each key; see `log_table`. Logs without rows are omitted.
    """
    found: dict[TableName, pa.Table] = {}
    for name in LOGS:
        having = [frame for frame in frames if len(frame.tables.get(name, ()))]
        if having:
            tables = [frame.tables[name] for frame in having]
            seqs = np.array([frame.seq for frame in having], np.int64)
            seq = np.repeat(seqs, [len(table) for table in tables])
            found[name] = log_table(name, np.concatenate(tables), seq, first_ns)
    return found


def log_table(name: TableName, rows: Table, seq: Ints, first_ns: int) -> pa.Table:
    """Return rows of a part's log in the order of docs/runs.md; of a key, the last row remains.

    Args:
        name: name of the log.
        rows: rows in any order.
        seq: number of the frame of each.
        first_ns: time of the part's first frame, since attach.
    """
    order = key_order(name, rows, seq)
    order = order[is_last(same_key(name, rows[order]))]
    begin_ns, end_ns = stays_of(rows[order])
    crossing = (begin_ns < first_ns) | (end_ns == NOT_ENDED)
    order = np.concatenate([order[crossing], order[~crossing]])
    level = np.full(len(order), INNER_LEVEL, np.uint8)
    level[: np.count_nonzero(crossing)] = CROSSING_LEVEL
    return arrow_table(name, rows[order], seq[order], level)


def stays_of(rows: Table) -> tuple[Ints, Ints]:
    """Return when the stay of each row of a log begins and ends, nanoseconds since attach.

    A stay includes the run-queue delay after it, and ends at NOT_ENDED if it has not ended. A
    thread that was seen on a CPU has a stay without length.
    """
    begin_ns, wait_ns, delay_ns = (
        np.minimum(rows[column], NOT_ENDED).astype(np.int64)
        for column in ("begin_ns", "wait_ns", "delay_ns")
    )
    ended = (rows["wait_ns"] > 0) | (rows["state"] == ON_CPU)
    end_ns = np.minimum(begin_ns + wait_ns + delay_ns, NOT_ENDED)
    return begin_ns, np.where(ended, end_ns, NOT_ENDED)


def stays_between(
    name: TableName, parts: Iterable[Table], from_ns: int, to_ns: int
) -> Iterator[Table]:
    """Yield the rows of a log whose stays lie in a window, at least in part.

    Args:
        name: name of the log.
        parts: rows of consecutive parts, each key at most once per part.
        from_ns: start of the window, since attach.
        to_ns: end of the window.

    Yields:
        Rows by key, each key in one table only. Rows of stays that have not ended come last.
    """
    pending = empty_table(name)
    for part in parts:
        rows = joined_rows(name, [pending, part])
        begin_ns, end_ns = stays_of(rows)
        inside = (begin_ns <= to_ns) & (end_ns >= from_ns)
        pending = rows[inside & (end_ns == NOT_ENDED)]
        yield rows[inside & (end_ns < NOT_ENDED)]
    yield pending
