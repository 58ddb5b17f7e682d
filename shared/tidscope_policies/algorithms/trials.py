"""While a search rests it looks at other sizes by the clock: there, and back again.

Such a trial begins at a fixed time, at a size that only the time decides, and ends at a fixed time.
What was measured there is compared with what was measured before and after. The last few trials are
remembered, and nothing else: so an interval that is missing (a dip) voids a trial, and a few trials
later no decision depends on it any more.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from statistics import fmean

from tidscope_policies.algorithms.wandering import Wandering

BASE = 2
"""Measurements before and after that a trial is compared with."""
ROTA = (0.35, -0.35, 0.7, -0.7)
"""Doublings from the current size: one trial after the other."""
LENGTHS = ((0.06, 2), (0.12, 4), (0.24, 8), (float("inf"), 16))
"""Intervals that a trial takes, for noise up to a standard deviation."""
REMEMBERED = 16
SPENT = 0.005
"""Share of the progress that trials at one size may cost: what loses more is tried less often."""


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


class Trials:
    """The trials of one rest.

    Args:
        losses: what each size there is is thought to lose against the base, relative.
        base: the size in which it rests.
        slot_s: time from one trial to the next.
        interval_s: length of an interval.
    """

    def __init__(self, losses: Mapping[int, float], base: int, slot_s: float, interval_s: float) -> None:
        self._losses, self.base = losses, base
        self._slot_s, self._interval_s = slot_s, interval_s
        self.contrasts: deque[Contrast] = deque(maxlen=REMEMBERED)
        self._before: deque[tuple[float, float]] = deque(maxlen=BASE)
        self._there: list[float] = []
        self._after: list[float] = []
        self._size = self._tried = base
        self._length = 0
        self._until_s = 0.0
        self._judged_s = 0.0
        self._last_s: float | None = None

    @property
    def usual(self) -> float | None:
        """What is usual at the size of the rest; None: not known."""
        return fmean(value for _, value in self._before) if self._before else None

    @property
    def is_away(self) -> bool:
        """Whether it is at another size."""
        return self._size != self.base

    @property
    def size(self) -> int:
        """The one it wants now."""
        return self._size

    def shift(self) -> None:
        """The level moved: what comes now is compared with nothing before."""
        self._before.clear()
        self._there.clear()
        self._after.clear()

    def missed(self, at_s: float) -> int:
        """An interval says nothing; the size of the next one."""
        return self._go_on(at_s)

    def measured(self, at_s: float, value: float, noise: Wandering, *, may: bool) -> tuple[int, bool]:
        """An interval passed; the next trial `may` begin.

        Returns:
            The size of the next one, and whether there is a new contrast.
        """
        if self.is_away:
            self._there.append(value)
            return self._go_on(at_s), False
        judged = False
        if self._judged_s:
            self._after.append(value)
            if at_s > self._judged_s - 0.5 * self._interval_s:
                judged = self._judge(at_s, noise)
        self._before.append((at_s, value))
        if may and self._is_due(at_s) and not self._judged_s:
            self._begin(at_s, noise)
        self._last_s = at_s
        return self._size, judged

    def _is_due(self, at_s: float) -> bool:
        last_s = at_s - self._interval_s if self._last_s is None else self._last_s
        return at_s // self._slot_s != last_s // self._slot_s

    def _begin(self, at_s: float, noise: Wandering) -> None:
        times = [when for when, _ in self._before]
        fresh = len(times) == BASE and at_s - times[0] < (BASE - 0.5) * self._interval_s
        if not fresh:
            return
        turns, turn = divmod(int(at_s // self._slot_s), len(ROTA))
        size = self._nearest(self.base * 2.0 ** ROTA[turn])
        if size == self.base:
            size = self._nearest(self.base * 2.0 ** -ROTA[turn])
        self._length = next(length for sd, length in LENGTHS if noise.noise <= sd * sd)
        cost = max(0.0, self._losses[size]) * self._length * self._interval_s / self._slot_s
        if turns % max(1, ceil(cost / SPENT)):
            return
        self._size = size
        self._there, self._after = [], []
        self._until_s = at_s + self._length * self._interval_s
        self._judged_s = self._until_s + BASE * self._interval_s

    def _nearest(self, size: float) -> int:
        return min(self._losses, key=lambda each: (abs(each - size), each))

    def _go_on(self, at_s: float) -> int:
        if self.is_away and at_s > self._until_s - 0.5 * self._interval_s:
            self._tried, self._size = self._size, self.base
        if self._judged_s and at_s > self._judged_s - 0.5 * self._interval_s:
            self._judged_s = 0.0
        self._last_s = at_s
        return self._size

    def _judge(self, at_s: float, noise: Wandering) -> bool:
        self._judged_s = 0.0
        if len(self._there) < self._length or len(self._after) < BASE:
            return False
        before = [value for _, value in self._before]
        value = fmean(self._there) - (fmean(before) + fmean(self._after)) / 2
        variance = noise.noise * (1 / self._length + 1 / (2 * BASE)) + noise.walk * self._length / 2
        self.contrasts.append(Contrast(at_s, self._tried, value, variance))
        return True
