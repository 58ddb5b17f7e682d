"""How noisy measurements are, and how far and how fast the level wanders between them.

The level is taken for an Ornstein-Uhlenbeck process: it wanders around where it usually is, and
returns. Measurements at one size, k intervals apart, then differ by

    variance(k) = 2 noise + 2 V (1 - keep^k)

with V the variance of the level and `keep` the share of it that is left an interval later. Three
such variances give all three. They are taken from medians of absolute differences, which a few odd
measurements do not move.
"""

from collections import deque
from dataclasses import dataclass
from statistics import median

NEAR, FAR, FURTHEST = 1, 4, 16
"""Intervals between the measurements compared."""
NORMAL = 1.4826
"""Standard deviation of a normal distribution over the median of its absolute value."""
REMEMBERED = 240
LEAST = 1e-6
"""Smaller variances are none."""
FIRST = 12
"""Differences before the first estimate counts half."""
FIRST_KEEP = 0.9
MAX_KEEP = 0.995


@dataclass(frozen=True, slots=True)
class Level:
    """How the level wanders.

    Attributes:
        variance: of it, around where it usually is.
        keep: share of it that is left an interval later.
    """

    variance: float
    keep: float

    @property
    def step(self) -> float:
        """Variance of what comes in an interval."""
        return (1 - self.keep * self.keep) * self.variance


class Wandering:
    """Estimates the noise and the level.

    Args:
        noise_sd: what the noise is taken for at first.
        walk_sd: the same of the level's steps.
        floor: least standard deviation of noise believed.
    """

    def __init__(self, noise_sd: float, walk_sd: float, floor: float) -> None:
        usual = walk_sd**2 / (1 - FIRST_KEEP**2)
        self._first = {
            lag: 2 * noise_sd**2 + 2 * usual * (1 - FIRST_KEEP**lag)
            for lag in (NEAR, FAR, FURTHEST)
        }
        self._floor = floor
        self._row: deque[float | None] = deque(maxlen=FURTHEST + 1)
        self._apart = {lag: deque[float](maxlen=REMEMBERED) for lag in self._first}
        self._size = 0
        self._noise = 0.0
        self.level = Level(0.0, FIRST_KEEP)
        self.least = 0.0
        """Variance that a measurement has in any case."""
        self._estimate()

    def move(self) -> None:
        """The size or the level changed: what comes now is compared with nothing before."""
        self._row.clear()

    def skip(self) -> None:
        """An interval says nothing: those before and after it are as far apart as they were."""
        self._row.append(None)

    def update(self, size: int, value: float) -> None:
        """Take in a measurement."""
        if size != self._size:
            self._row.clear()
        self._size = size
        self._row.append(value)
        for lag, found in self._apart.items():
            before = self._row[-1 - lag] if len(self._row) > lag else None
            if before is not None:
                found.append(abs(value - before))
        self._estimate()

    def _estimate(self) -> None:
        near, far, furthest = (self._variance(lag) / 2 for lag in self._first)
        noise = max(near - max(0.0, far - near) / (FAR - NEAR), self._floor**2)
        moved = max(0.0, far - noise)
        variance = max(furthest - noise, 1.5 * moved)
        self._noise = noise
        if variance < LEAST:
            self.level = Level(0.0, FIRST_KEEP)
            return
        keep = min(max(0.0, 1 - moved / variance) ** (1 / FAR), MAX_KEEP)
        self.level = Level(variance, keep)

    @property
    def noise(self) -> float:
        """Variance of one measurement."""
        return max(self._noise, self.least)

    def _variance(self, lag: int) -> float:
        found, first = self._apart[lag], self._first[lag]
        if not found:
            return first
        measured = (NORMAL * median(found)) ** 2
        share = len(found) / (len(found) + FIRST)
        return share * measured + (1 - share) * first
