"""Trials of other sizes by the clock while a search rests: one larger, one smaller, and back.

A trial's beginning, sizes and end depend on the time alone, so a missing interval (a dip) shifts
nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

ROTA = (0.35, 0.35, 0.7)
"""Distances of consecutive trials from the current size, in doublings to either side."""
LENGTHS = ((0.06, 2), (0.12, 4), (0.24, 8), (float("inf"), 16))
"""Intervals of a trial at a size, by the maximum standard deviation of the noise."""
AFTER = 2
"""Intervals back at the resting size before a trial is judged."""
BEARABLE = 0.06
"""Maximum loss of a tried size. Where a neighbour loses more, only the neighbour is tried."""
SPENT = 0.004
"""Maximum cost of trials at one size, as a share of progress; costlier sizes get fewer trials."""
LONGEST = 8
"""Maximum turns without a trial."""
PAUSES = ((2, 1), (5, 4), (float("inf"), LONGEST))
"""Turns between trials at a size, by the maximum cost as a multiple of SPENT."""


@dataclass(frozen=True, slots=True)
class _Leg:
    """A leg of a trial: its size and its end."""

    size: int
    until_s: float


class Trials:
    """The trials of one rest.

    Args:
        losses: minimum relative loss of each size against the base.
        base: resting size.
        slot_s: time from one trial to the next.
        interval_s: length of an interval.

    Attributes:
        base: resting size.
    """

    def __init__(
        self, losses: Mapping[int, float], base: int, slot_s: float, interval_s: float
    ) -> None:
        self._losses, self.base = losses, base
        self._slot_s, self._interval_s = slot_s, interval_s
        self._legs: list[_Leg] = []
        self._last_s: float | None = None

    @property
    def is_away(self) -> bool:
        """True while a trial is at another size."""
        return self.size != self.base

    @property
    def size(self) -> int:
        """Next size."""
        return self._legs[0].size if self._legs else self.base

    def abandon(self) -> None:
        """Abandon the trial, because the size was not changed."""
        self._legs.clear()

    def passed(self, at_s: float, noise: float, *, may: bool) -> bool:
        """Process an interval; `size` is then the next interval's.

        Args:
            at_s: end of the interval.
            noise: variance of a measurement.
            may: True if the next trial may begin.

        Returns:
            True if a trial can be judged now.
        """
        late_s = at_s + 0.5 * self._interval_s
        judged = False
        while self._legs and late_s > self._legs[0].until_s:
            self._legs.pop(0)
            judged = True
        last_s = at_s - self._interval_s if self._last_s is None else self._last_s
        if may and not self._legs and at_s // self._slot_s != last_s // self._slot_s:
            self._begin(at_s, noise)
        self._last_s = at_s
        return judged

    def _begin(self, at_s: float, noise: float) -> None:
        """Begin the next trial."""
        turn = int(at_s // self._slot_s)
        turns, place = divmod(turn, len(ROTA))
        length = next(length for sd, length in LENGTHS if noise <= sd * sd)
        until_s = at_s
        for sign in (1, -1):
            size = self._size(sign * ROTA[place])
            cost = max(0.0, self._losses[size]) * length * self._interval_s / self._slot_s
            pause = next((turns for most, turns in PAUSES if cost <= most * SPENT))
            if size == self.base or turns % pause:
                continue
            until_s += length * self._interval_s
            self._legs.append(_Leg(size, until_s))
        if self._legs:
            self._legs.append(_Leg(self.base, until_s + AFTER * self._interval_s))

    def _size(self, doublings: float) -> int:
        """Size at a distance, or the neighbour if that size loses much."""
        wanted = self.base * 2.0**doublings
        far = min(self._losses, key=lambda each: (abs(each - wanted), each))
        if far == self.base or self._losses[far] <= BEARABLE:
            return far
        side = [each for each in self._losses if (each - self.base) * doublings > 0]
        return min(side, key=lambda each: abs(each - self.base))
