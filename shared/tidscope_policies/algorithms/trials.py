"""While a search rests it looks at other sizes by the clock: there, and back again.

Such a trial begins at a fixed time, at a size that only the time decides, and ends at a fixed time.
What was measured there is compared with what was measured before and after. The last few trials are
remembered, and nothing else: so an interval that is missing (a dip) voids a trial, and a few trials
later no decision depends on it any more.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean

from tidscope_policies.algorithms.wandering import Wandering

BASE = 2
"""Measurements before and after that a trial is compared with; or half its length, if more."""
ROTA = (0.35, -0.35, 0.7, -0.7)
"""Doublings from the current size: one trial after the other."""
LENGTHS = ((0.06, 2), (0.12, 4), (0.24, 8), (float("inf"), 16))
"""Intervals that a trial takes, for noise up to a standard deviation."""
REMEMBERED = 16
SPENT = 0.005
"""Share of the progress that trials at one size may cost: what loses more is tried less often."""
LONGEST = 8
"""Turns without a trial, at the most."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a trial showed.

    Attributes:
        at_s: when.
        size: that was tried.
        value: how much more than at the usual size, as a logarithm.
        variance: of that.
    """

    at_s: float
    size: int
    value: float
    variance: float


@dataclass(slots=True)
class _Trial:
    """One that is under way.

    Attributes:
        size: that is tried.
        length: in intervals.
        back_s: when it is over.
        judged_s: when it can be judged.
        base: measured before.
        there: measured at the size.
        after: measured after it.
    """

    size: int
    length: int
    back_s: float
    judged_s: float
    base: list[float]
    there: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)

    def contrast(self, noise: Wandering) -> Contrast | None:
        """What it showed; None where a measurement is missing."""
        there, base, after = self.there, self.base, self.after
        beside = _beside(self.length)
        if len(there) < self.length or len(base) < beside or len(after) < beside:
            return None
        value = fmean(there) - (fmean(base) + fmean(after)) / 2
        variance = noise.noise * (1 / self.length + 1 / (2 * beside))
        variance += noise.walk * self.length / 2
        return Contrast(self.judged_s, self.size, value, variance)


class Trials:
    """The trials of one rest.

    Args:
        losses: what each size there is loses against the base at the least, relative.
        base: the size in which it rests.
        slot_s: time from one trial to the next.
        interval_s: length of an interval.

    Attributes:
        base: the same.
        contrasts: the last ones.
    """

    def __init__(
        self, losses: Mapping[int, float], base: int, slot_s: float, interval_s: float
    ) -> None:
        self._losses, self.base = losses, base
        self._slot_s, self._interval_s = slot_s, interval_s
        self.contrasts: deque[Contrast] = deque(maxlen=REMEMBERED)
        self._before: deque[tuple[float, float]] = deque(maxlen=_beside(LENGTHS[-1][1]))
        self._trial: _Trial | None = None
        self._is_away = False
        self._last_s: float | None = None

    @property
    def usual(self) -> float | None:
        """What is usual at the size of the rest; None: not known."""
        if not self._before:
            return None
        return fmean(value for _, value in list(self._before)[-BASE:])

    @property
    def is_away(self) -> bool:
        """Whether it is at another size."""
        return self._is_away

    @property
    def size(self) -> int:
        """The one that it wants next."""
        return self._trial.size if self._trial and self._is_away else self.base

    def abandon(self) -> None:
        """The level moved, or the size was not changed: the trial is none."""
        self._before.clear()
        self._trial, self._is_away = None, False

    def passed(self, at_s: float, value: float | None, noise: Wandering, *, may: bool) -> bool:
        """An interval passed; `size` is the next one's.

        Args:
            at_s: its end.
            value: measured in it; None: it says nothing.
            noise: of measurements.
            may: the next trial may begin.

        Returns:
            Whether there is a new contrast.
        """
        late_s = at_s + 0.5 * self._interval_s
        trial, judged = self._trial, False
        if trial is not None:
            if value is not None:
                (trial.there if self._is_away else trial.after).append(value)
            self._is_away = self._is_away and late_s < trial.back_s
            if late_s > trial.judged_s:
                self._trial, contrast = None, trial.contrast(noise)
                if contrast is not None:
                    self.contrasts.append(contrast)
                    judged = True
        if value is not None and (trial is None or at_s > trial.back_s + 0.5 * self._interval_s):
            self._before.append((at_s, value))
        last_s = at_s - self._interval_s if self._last_s is None else self._last_s
        if may and self._trial is None and at_s // self._slot_s != last_s // self._slot_s:
            self._begin(at_s, noise)
        self._last_s = at_s
        return judged

    def _begin(self, at_s: float, noise: Wandering) -> None:
        """Begin the trial whose turn it is: measurements that are missing only void it."""
        turns, turn = divmod(int(at_s // self._slot_s), len(ROTA))
        size = self._nearest(self.base * 2.0 ** ROTA[turn])
        if size == self.base:
            size = self._nearest(self.base * 2.0 ** -ROTA[turn])
        length = next(length for sd, length in LENGTHS if noise.noise <= sd * sd)
        cost = max(0.0, self._losses[size]) * length * self._interval_s / self._slot_s
        if size == self.base or turns % min(max(1, ceil(cost / SPENT)), LONGEST):
            return
        recent = (_beside(length) - 0.5) * self._interval_s
        base = [value for when, value in self._before if at_s - when < recent]
        back_s = at_s + length * self._interval_s
        after_s = _beside(length) * self._interval_s
        self._trial = _Trial(size, length, back_s, back_s + after_s, base)
        self._is_away = True

    def _nearest(self, size: float) -> int:
        return min(self._losses, key=lambda each: (abs(each - size), each))


def _beside(length: int) -> int:
    """Measurements before, and after, that a trial of a length is compared with."""
    return max(BASE, length // 2)
