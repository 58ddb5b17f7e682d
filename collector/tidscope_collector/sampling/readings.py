"""Readings taken apart, put together, and made into what the wire has: names, values, rows."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import CounterMatrix, Rows

from tidscope_collector.threads.reading import Reading

Chosen = npt.NDArray[np.bool_] | npt.NDArray[np.intp] | slice
"""Rows, as a mask, as their numbers, or as a stretch."""


def text(comm: bytes) -> str:
    """A comm as text; bytes that are no UTF-8 are shown as replacement characters."""
    return comm.partition(b"\0")[0].decode("utf-8", "replace")


@cache
def empty(fields: int) -> Reading:
    """A reading of no thread; always the same."""
    return Reading(
        np.empty(0, np.uint32),
        np.empty((0, fields), np.uint64),
        None,
        np.empty(0, np.int64),
        np.empty(0, "S16"),
    )


def pick(reading: Reading, chosen: Chosen) -> Reading:
    """Some rows of a reading."""
    return Reading(
        reading.tid[chosen],
        reading.counters[chosen],
        None if reading.absent is None else reading.absent[chosen],
        reading.start_ns[chosen],
        reading.name[chosen],
        None if reading.age_us is None else reading.age_us[chosen],
        None if reading.seen_ns is None else reading.seen_ns[chosen],
        None if reading.changed is None else reading.changed[chosen],
        None if reading.invalid is None else reading.invalid[chosen],
    )


def join(parts: Sequence[Reading]) -> Reading:
    """The rows of one or more readings, in order."""
    if len(parts) == 1:
        return parts[0]
    absent = None
    if any(part.absent is not None for part in parts):
        absent = np.concatenate([absent_mask(part) for part in parts])
    ages = [part.age_us for part in parts if part.age_us is not None]
    seen = [part.seen_ns for part in parts if part.seen_ns is not None]
    invalid = None
    if any(part.invalid is not None for part in parts):
        invalid = np.concatenate([invalid_mask(part) for part in parts])
    return Reading(
        np.concatenate([part.tid for part in parts]),
        np.concatenate([part.counters for part in parts]),
        absent,
        np.concatenate([part.start_ns for part in parts]),
        np.concatenate([part.name for part in parts]),
        np.concatenate(ages) if len(ages) == len(parts) else None,
        np.concatenate(seen) if len(seen) == len(parts) else None,
        invalid=invalid,
    )


def taken(reading: Reading) -> Reading:
    """A reading that is taken in, so that rows that change later are marked again.

    The ids are a copy: they may stand in the reader's buffer, which the next query overwrites.
    """
    changed = reading.changed
    if changed is None:
        return replace(reading, tid=reading.tid.copy())
    taken = replace(reading, tid=reading.tid.copy(), changed=changed.copy())
    changed[:] = False
    return taken


def absent_mask(reading: Reading) -> npt.NDArray[np.bool_]:
    """bool[n, F], all false where `absent` is None."""
    if reading.absent is None:
        return np.zeros(reading.counters.shape, np.bool_)
    return reading.absent


def invalid_mask(reading: Reading) -> npt.NDArray[np.bool_]:
    """bool[n, F], all false where `invalid` is None."""
    if reading.invalid is None:
        return np.zeros(reading.counters.shape, np.bool_)
    return reading.invalid


def at_least(reading: Reading) -> Reading:
    """For sums: a value that is absent because it is invalid is the last one that was valid."""
    if reading.absent is None or reading.invalid is None:
        return reading
    return replace(reading, absent=reading.absent & ~reading.invalid)


def invalid_fields(reading: Reading, row: int, fields: Sequence[str]) -> list[str]:
    """The fields of a row that are invalid."""
    if reading.invalid is None:
        return []
    return [name for column, name in enumerate(fields) if reading.invalid[row, column]]


def without_lacking(
    totals: dict[str, int], reading: Reading, row: int, fields: Sequence[str]
) -> dict[str, int]:
    """Totals of a row without those for which there is no valid value."""
    if reading.invalid is None or reading.absent is None:
        return totals
    lacking = reading.invalid[row] & reading.absent[row]
    names = {fields[column] for column in np.flatnonzero(lacking).tolist()}
    return {name: value for name, value in totals.items() if name not in names}


def values(reading: Reading, row: int, fields: Sequence[str]) -> dict[str, int]:
    """Field name to counter of one row; absent ones are left out."""
    return {
        name: int(reading.counters[row, column])
        for column, name in enumerate(fields)
        if reading.absent is None or not reading.absent[row, column]
    }


def all_values(reading: Reading, fields: Sequence[str]) -> Iterator[dict[str, int]]:
    """`values` of each row, in order."""
    if reading.absent is None:
        for counters in reading.counters.tolist():
            yield dict(zip(fields, counters, strict=True))
    else:
        for row in range(len(reading.tid)):
            yield values(reading, row, fields)


def sums(reading: Reading, rows: Sequence[int], fields: Sequence[str]) -> dict[str, int]:
    """Field name to the sum of some rows; those that are absent in all of them are left out."""
    chosen = pick(reading, np.array(rows, np.intp))
    if chosen.absent is None:
        return dict(zip(fields, chosen.counters.sum(axis=0).tolist(), strict=True))
    added = np.where(chosen.absent, np.uint64(0), chosen.counters).sum(axis=0).tolist()
    given: list[bool] = np.any(~chosen.absent, axis=0).tolist()
    return {name: total for name, total, one in zip(fields, added, given, strict=True) if one}


def wire_rows(reading: Reading, chosen: npt.NDArray[np.bool_], fields: tuple[str, ...]) -> Rows:
    """Some rows by columns, as a frame has them; without identities."""
    absent: dict[str, npt.NDArray[np.bool_]] = {}
    if reading.absent is not None:
        masks = reading.absent[chosen]
        for column in np.flatnonzero(masks.any(axis=0)).tolist():
            absent[fields[column]] = np.ascontiguousarray(masks[:, column])
    columns = CounterMatrix(fields, reading.counters[chosen])
    return Rows(reading.tid[chosen], columns, absent)
