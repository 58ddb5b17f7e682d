"""Increases, rates and energy from readings of cumulative counters: the one definition in Python.

The page has the same rates in TypeScript; tests/contract/rates.json holds both to the same numbers.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tidscope_wire.generated.models import MachineCounters

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def increases(
    time_ns: Ints,
    values: Floats,
    *,
    gaps: npt.NDArray[np.bool_] | None = None,
    wraps_at: float | None = None,
    max_per_s: float | None = None,
    exit_ns: int | None = None,
) -> Floats:
    """Increase of a counter between each reading and the one before.

    A counter that fell was reset, unless it wraps; what it did in between is unknown then, and
    counting continues from the new value. Readings may be far apart, for instance where frames are
    missing: the increase over that time is still exact.

    Args:
        time_ns: shape (n,), ascending, nanoseconds; a reading repeated at the same time is ignored.
        values: shape (n,), counter units; nan where the counter is absent.
        gaps: shape (n,), True where the source says that it does not know what the counter did
            since the reading before (`MachineCounters.gaps` rose).
        wraps_at: units after which the counter starts again at 0; None: it does not wrap.
        max_per_s: units a second that the source cannot exceed. What would need more is not an
            increase but a reset, and over a time in which it could have wrapped twice nothing is
            known.
        exit_ns: time of the thread's exit. The exit record is a reading at that time, and later
            increases are unknown.

    Returns:
        Shape (n,), counter units; nan where the increase cannot be derived, which includes the
        first reading.
    """
    result: Floats = np.full(len(values), np.nan)
    if len(values) < 2:
        return result
    grown = np.diff(values)
    elapsed_s = np.diff(time_ns) / 1e9
    with np.errstate(invalid="ignore"):
        fell = grown < 0
        if wraps_at is None:
            grown[fell] = np.nan
        else:
            grown[fell] += wraps_at
        if max_per_s is not None:
            grown[grown > max_per_s * elapsed_s] = np.nan
            if wraps_at is not None:
                grown[max_per_s * elapsed_s > wraps_at] = np.nan
    grown[elapsed_s <= 0] = np.nan
    if gaps is not None:
        grown[gaps[1:]] = np.nan
    if exit_ns is not None:
        grown[time_ns[1:] > exit_ns] = np.nan
    result[1:] = grown
    return result


def rates_per_s(
    time_ns: Ints,
    values: Floats,
    *,
    gaps: npt.NDArray[np.bool_] | None = None,
    wraps_at: float | None = None,
    max_per_s: float | None = None,
    exit_ns: int | None = None,
) -> Floats:
    """Mean rate of a counter between each reading and the one before, over the time that passed.

    Arguments are those of `increases`.

    Returns:
        Shape (n,), counter units a second; nan (never 0) where the rate is unknown.
    """
    grown = increases(
        time_ns, values, gaps=gaps, wraps_at=wraps_at, max_per_s=max_per_s, exit_ns=exit_ns
    )
    # Readings at the same time have no increase, so the divisor does not matter there.
    grown[1:] /= np.maximum(np.diff(time_ns), 1) / 1e9
    return grown


def energy_between(readings: Sequence[MachineCounters], from_ns: int, to_ns: int) -> float | None:
    """Energy of all packages from one instant to another.

    The counter is read about once a second; between two readings power is taken as constant.

    Args:
        readings: of one target, by time; the same reading may come several times.
        from_ns: first instant, nanoseconds since attach.
        to_ns: last instant, not before the first.

    Returns:
        Microjoules; None if it is not known: no readings around one of the instants, no energy in
        them, or a hole in between.

    Raises:
        ValueError: the last instant is before the first.
    """
    if to_ns < from_ns:
        raise ValueError(f"{to_ns} is before {from_ns}")
    times = [reading.time_ns for reading in readings]
    start, end = _place(times, from_ns), _place(times, to_ns)
    if start is None or end is None:
        return None
    before = start if readings[start].time_ns == from_ns else start - 1
    if readings[end].gaps != readings[before].gaps:
        return None
    first, last = _at(readings, start, from_ns), _at(readings, end, to_ns)
    return None if first is None or last is None else last - first


def _place(times: Sequence[int], instant_ns: int) -> int | None:
    """Index of the first reading at or after an instant, or None if readings do not cover it."""
    place = bisect_left(times, instant_ns)
    if place == len(times) or (place == 0 and times[0] > instant_ns):
        return None
    return place


def _at(readings: Sequence[MachineCounters], place: int, instant_ns: int) -> float | None:
    """Interpolate the counter at an instant, between a reading and the one before."""
    after = readings[place]
    if after.time_ns == instant_ns:
        return after.package_uj
    before = readings[place - 1]
    if before.package_uj is None or after.package_uj is None:
        return None
    share = (instant_ns - before.time_ns) / (after.time_ns - before.time_ns)
    return before.package_uj + share * (after.package_uj - before.package_uj)
