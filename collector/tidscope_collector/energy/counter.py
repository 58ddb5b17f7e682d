"""One energy counter that wraps around, made into a total that only grows."""

from dataclasses import dataclass

MOST_WATTS = 4_000
"""More than any package, and most platforms, can take.

A counter that fell has either wrapped around or started anew (a driver loaded again, a machine that
slept). What would need more power than this has not wrapped around.
"""


def gained_uj(before_uj: int, now_uj: int, range_uj: int, elapsed_s: float) -> int | None:
    """Energy between two readings of a counter.

    The counter is a hardware register of 32 bits, scaled: it starts anew one unit (about 61 µJ)
    above `range_uj`, an error that is left in.

    Args:
        before_uj: the reading before, microjoules.
        now_uj: this reading.
        range_uj: the zone's max_energy_range_uj.
        elapsed_s: time between the two.

    Returns:
        Microjoules; None if it cannot be told: the counter started anew, or the readings lie so
        far apart that it could have wrapped around more than once.
    """
    most_uj = MOST_WATTS * 1e6 * elapsed_s
    if most_uj > range_uj:
        return None
    gained = now_uj - before_uj if now_uj >= before_uj else range_uj - before_uj + now_uj
    return gained if gained <= most_uj else None


@dataclass(slots=True)
class Counter:
    """A total from readings.

    Attributes:
        range_uj: the zone's max_energy_range_uj.
        total_uj: energy since the first reading, as far as it is known.
        gaps: times that it is not known what was added since the reading before.
    """

    range_uj: int
    total_uj: int = 0
    gaps: int = 0
    _last_uj: int | None = None
    _last_ns: int = 0

    def advance(self, value_uj: int, now_ns: int) -> None:
        """Take a reading in, at a moment on a clock that only runs forward."""
        if self._last_uj is not None and now_ns > self._last_ns:
            elapsed_s = (now_ns - self._last_ns) / 1e9
            gained = gained_uj(self._last_uj, value_uj, self.range_uj, elapsed_s)
            if gained is None:
                self.gaps += 1
            else:
                self.total_uj += gained
        self._last_uj, self._last_ns = value_uj, now_ns
