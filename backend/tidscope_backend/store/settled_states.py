"""Counters of threads at an instant, with the stay under way in the state that it is in. Pure."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at

Counters = dict[str, int | None]
Ints = npt.NDArray[np.int64]


def has_states(fields: Sequence[str]) -> bool:
    """Whether rows with these fields tell the states of threads."""
    return {STATE, SINCE, *STATE_FIELDS} <= set(fields)


def settle(rows: Sequence[Counters], times_ns: Sequence[int]) -> None:
    """Add to each row the stay under way up to a time, where it has one.

    The rows are then of these times: the stay goes on from there. So who adds the stay under way
    at a later instant gets what is true at that instant.

    Args:
        rows: changed in place; fields by name.
        times_ns: of each row its time, since attach.
    """
    known = [
        (row, time_ns)
        for row, time_ns in zip(rows, times_ns, strict=True)
        if row.get(STATE) and row.get(SINCE) is not None
    ]
    if not known:
        return

    def column(name: str) -> npt.NDArray[np.uint64]:
        return np.array([row.get(name) or 0 for row, _ in known], np.uint64)

    finished = np.stack([column(name) for name in STATE_FIELDS], axis=1)
    until = np.array([time_ns for _, time_ns in known], np.uint64)
    values = states_at(finished, column(STATE), column(SINCE), until).tolist()
    for (row, time_ns), states in zip(known, values, strict=True):
        row.update(zip(STATE_FIELDS, states, strict=True))
        row[SINCE] = max(time_ns, row[SINCE] or 0)


def with_states_at(table: pa.Table, times_ns: Ints) -> pa.Table:
    """Samples whose columns of states have the stay under way at a time of each row.

    Args:
        table: with all columns of states; without any it stays as it is.
        times_ns: of each row.
    """
    if not has_states(table.column_names):
        return table
    columns = {name: _values(table[name]) for name in (STATE, SINCE, *STATE_FIELDS)}
    finished = np.stack([columns[name] for name in STATE_FIELDS], axis=1)
    values = states_at(finished, columns[STATE], columns[SINCE], times_ns.astype(np.uint64))
    for place, name in enumerate(STATE_FIELDS):
        absent = table[name].is_null().combine_chunks().to_numpy(zero_copy_only=False)
        full = pa.array(values[:, place], mask=absent if absent.any() else None)
        table = table.set_column(table.column_names.index(name), name, full)
    return table


def _values(column: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    values: npt.NDArray[np.uint64] = pc.fill_null(column, 0).to_numpy()
    return values
