"""Least and greatest rates of counters within stretches of time. Pure.

A rate is the mean over the last half second or slightly more, back to the newest reading at least
that old. The page draws the same rate where it has every sample (frontend/src/stream/rate.ts). A
rate does not span a counter reset.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

RATE_FIELDS = (
    *("cpu_run_ns", "cpu_delay_ns", "blkio_delay_ns"),
    *("voluntary_switches", "involuntary_switches", "net_read_calls", "net_write_calls"),
)
"""Fields with extremes: the fields that the page draws as rates."""
SMOOTHING_NS = 500_000_000
_ENOUGH_NS = round(SMOOTHING_NS * (1 - 1e-6))


@dataclass(frozen=True)
class Readings:
    """One entry for each thread and instant of its life: thread by thread, by time.

    Attributes:
        life: int64[n], index of the thread.
        instant: int64[n], index of the instant.
        begin: int64[n], the first entry of the thread.
    """

    life: Ints
    instant: Ints
    begin: Ints

    def held(self, entry: Ints, values: Floats) -> Floats:
        """Return a counter at every entry: the last value read.

        Args:
            entry: int64[rows], the entry of each row.
            values: float64[rows]; NaN for a row without a value.

        Returns:
            float64[n]; NaN before a thread's first value.
        """
        given = np.full(len(self.life), np.nan)
        given[entry] = values
        newest = np.where(np.isnan(given), -1, np.arange(len(given)))
        newest = np.maximum.accumulate(newest)
        found: Floats = np.where(newest >= self.begin, given[newest], np.nan)
        return found


def readings_between(first: Ints, last: Ints) -> Readings:
    """Return entries of threads from their first to their last instant, both inclusive."""
    counts = np.maximum(0, last - first + 1)
    begins = np.cumsum(counts) - counts
    begin = np.repeat(begins, counts)
    return Readings(
        life=np.repeat(np.arange(len(first)), counts),
        instant=np.arange(len(begin)) - begin + np.repeat(first, counts),
        begin=begin,
    )


def smoothed_rates(readings: Readings, time_ns: Ints, values: Floats) -> Floats:
    """Return the rate of a counter at each entry.

    Args:
        readings: readings of threads.
        time_ns: times of the instants, ascending.
        values: float64[n], the counter at each entry.

    Returns:
        float64[n], units per second; NaN without a rate, as at the first value.
    """
    here = np.arange(len(values))
    if not len(values):
        return np.empty(0)
    before = np.concatenate([values[:1], values[:-1]])
    # Negated, because a comparison with NaN is false.
    breaks = (here == readings.begin) | ~(values >= before)
    stretch = np.maximum.accumulate(np.where(breaks, here, 0))
    oldest = np.searchsorted(time_ns, time_ns - _ENOUGH_NS, side="right") - 1
    back = np.where(oldest >= 0, np.arange(len(time_ns)) - oldest, len(time_ns))
    against = np.maximum(stretch, here - back[readings.instant])
    elapsed_ns = time_ns[readings.instant] - time_ns[readings.instant - (here - against)]
    with np.errstate(invalid="ignore", divide="ignore"):
        rates: Floats = (values - values[against]) / (elapsed_ns / 1e9)
    rates[against == here] = np.nan
    return rates


@dataclass(frozen=True)
class Extremes:
    """Least and greatest rates, one entry per thread and bucket.

    Attributes:
        life: int64[n], index of the thread.
        bucket: int64[n], index of the bucket.
        least: float64[fields, n]; NaN: there was no rate.
        greatest: float64[fields, n]; NaN: there was no rate.
    """

    life: Ints
    bucket: Ints
    least: Floats
    greatest: Floats


def extremes_of(readings: Readings, bucket: Ints, rates: Floats) -> Extremes:
    """Return extremes of rates.

    Args:
        readings: readings of threads.
        bucket: int64[instants], ascending, bucket of each instant; -1 for none.
        rates: float64[fields, n], rates of each entry.

    Returns:
        Thread by thread; entries without a rate in a bucket are omitted.
    """
    at = bucket[readings.instant]
    counted = np.flatnonzero((at >= 0) & ~np.isnan(rates).all(axis=0))
    at, life = at[counted], readings.life[counted]
    edge = (np.diff(at) != 0) | (np.diff(life) != 0)
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(at)), np.bool_), edge]))
    if not len(starts):
        nothing = np.empty((len(rates), 0))
        return Extremes(at, life, nothing, nothing)
    return Extremes(
        life=life[starts],
        bucket=at[starts],
        least=np.fmin.reduceat(rates[:, counted], starts, axis=1),
        greatest=np.fmax.reduceat(rates[:, counted], starts, axis=1),
    )


def extremes_schema(fields: Sequence[str]) -> pa.Schema:
    """Return the columns of docs/runs.md."""
    keys = {"level": pa.uint8(), "tid": pa.uint32(), "start_ns": pa.int64()}
    bucket = {"from_ns": pa.int64(), "to_ns": pa.int64()}
    ends = {
        f"{name}_{end}": pa.float32()
        for name in fields
        if name in RATE_FIELDS
        for end in ("least", "greatest")
    }
    return pa.schema({**keys, **bucket, **ends})


def rounded(rates: Floats) -> npt.NDArray[np.float32]:
    """Round to 12 binary digits: further digits are noise, which would dominate the file size."""
    bits = rates.astype(np.float32).view(np.uint32)
    return ((bits + np.uint32(0x800)) & np.uint32(0xFFFFF000)).view(np.float32)


def values_of(table: pa.Table, names: Sequence[str]) -> Floats:
    """Return float64[names, rows]; NaN for a missing value."""
    if not names:
        return np.empty((0, len(table)))
    return np.stack([floats_of(table[name]) for name in names])


def floats_of(column: pa.ChunkedArray | pa.Array) -> Floats:
    cast = pc.cast(column, pa.float64(), safe=False)
    floats: Floats = pc.fill_null(cast, np.nan).to_numpy(zero_copy_only=False)
    return floats
