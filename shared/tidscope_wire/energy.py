"""Energy between two instants, from the counters of the machine that frames carry. Pure."""

from bisect import bisect_left
from collections.abc import Sequence

from tidscope_wire.generated.models import MachineCounters


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
    """Index of the first reading at an instant or after it; None if readings do not cover it."""
    place = bisect_left(times, instant_ns)
    if place == len(times) or (place == 0 and times[0] > instant_ns):
        return None
    return place


def _at(readings: Sequence[MachineCounters], place: int, instant_ns: int) -> float | None:
    """The counter at an instant, between the reading at a place and the one before."""
    after = readings[place]
    if after.time_ns == instant_ns:
        return after.package_uj
    before = readings[place - 1]
    if before.package_uj is None or after.package_uj is None:
        return None
    share = (instant_ns - before.time_ns) / (after.time_ns - before.time_ns)
    return before.package_uj + share * (after.package_uj - before.package_uj)
