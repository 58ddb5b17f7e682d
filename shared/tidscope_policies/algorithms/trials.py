"""While a search rests it looks at other sizes by the clock: one larger, one smaller, and back.

Such a trial begins at a fixed time, at sizes that only the time decides, and ends at a fixed time:
an interval that is missing (a dip) moves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

ROTA = (0.35, 0.35, 0.7)
"""Doublings from the current size, to either side: one trial after the other."""
LENGTHS = ((0.06, 2), (0.12, 4), (0.24, 8), (float("inf"), 16))
"""Intervals that a trial takes at a size, for noise up to a standard deviation."""
AFTER = 2
"""Intervals back at the usual size before a trial is judged."""
BEARABLE = 0.06
"""Loss up to which a size is tried; where a neighbour loses more, only the neighbour is."""
SPENT = 0.004
"""Share of the progress that trials at one size may cost: what loses more is tried less often."""
LONGEST = 8
"""Turns without a trial, at the most."""
PAUSES = ((2, 1), (5, 4), (float("inf"), LONGEST))
"""Turns from one trial at a size to the next, for costs up to a multiple of that."""


@dataclass(frozen=True, slots=True)
class _Leg:
    """A stretch of a trial: at which size, until when."""

    size: int
    until_s: float


class Trials:
    """The trials of one rest.

    Args:
        losses: what each size there is loses against the base at the least, relative.
        base: the size in which it rests.
        slot_s: time from one trial to the next.
        interval_s: length of an interval.

    Attributes:
        base: the same.
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
        """Whether it is at another size."""
        return self.size != self.base

    @property
    def size(self) -> int:
        """The one that it wants next."""
        return self._legs[0].size if self._legs else self.base

    def abandon(self) -> None:
        """The size was not changed: the trial is none."""
        self._legs.clear()

    def passed(self, at_s: float, noise: float, *, may: bool) -> bool:
        """An interval passed; `size` is the next one's.

        Args:
            at_s: its end.
            noise: variance of a measurement.
            may: the next trial may begin.

        Returns:
            Whether a trial can be judged now.
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
        """Begin the trial whose turn it is."""
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
        """The size so far away, or where that loses much the neighbour."""
        wanted = self.base * 2.0**doublings
        far = min(self._losses, key=lambda each: (abs(each - wanted), each))
        if far == self.base or self._losses[far] <= BEARABLE:
            return far
        side = [each for each in self._losses if (each - self.base) * doublings > 0]
        return min(side, key=lambda each: abs(each - self.base))
