"""How noisy measurements are, and how far the level wanders between them.

Measurements at one size, k intervals apart, differ by

    variance(k) = 2 noise + k walk

if the level is a random walk: two such variances give both. They are taken from medians of absolute
differences, which a few odd measurements do not move.
"""

from collections import deque
from math import log2
from statistics import median

NEAR, FAR = 1, 4
"""Intervals between the measurements compared."""
NORMAL = 1.4826
"""Standard deviation of a normal distribution over the median of its absolute value."""
REMEMBERED = 60
LEAST = 1e-6
"""Smaller variances are none."""
FIRST = 12
"""Differences before the first estimate counts half."""


class Wandering:
    """Estimates both variances.

    Args:
        noise_sd: what the noise is taken for at first.
        walk_sd: the same of the level's steps.
        floor: least standard deviation of noise believed.
    """

    def __init__(self, noise_sd: float, walk_sd: float, floor: float) -> None:
        self._first = {lag: 2 * noise_sd**2 + lag * walk_sd**2 for lag in (NEAR, FAR)}
        self._floor = floor
        self._row: deque[float] = deque(maxlen=FAR + 1)
        self._apart = {lag: deque[float](maxlen=REMEMBERED) for lag in (NEAR, FAR)}
        self._size = 0
        self.walk = self._noise = 0.0
        self.least = 0.0
        """Variance that a measurement has in any case."""
        self._estimate()

    def move(self) -> None:
        """The size or the level changed: what comes now is compared with nothing before."""
        self._row.clear()

    def update(self, size: int, value: float) -> None:
        """Take in a measurement."""
        if size != self._size:
            self._row.clear()
        self._size = size
        self._row.append(value)
        for lag, found in self._apart.items():
            if len(self._row) > lag:
                found.append(abs(value - self._row[-1 - lag]))
        self._estimate()

    def _estimate(self) -> None:
        near, far = (self._variance(lag) for lag in (NEAR, FAR))
        walk = max(0.0, (far - near) / (FAR - NEAR))
        noise = max((near - walk) / 2, self._floor**2)
        self.walk = _rounded(walk, self.walk)
        self._noise = _rounded(noise, self._noise)

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


def _rounded(variance: float, before: float) -> float:
    """One of few values, and the one before if it fits: one measurement more or less is no news."""
    if variance < LEAST:
        return 0.0
    if before > 0 and abs(log2(variance / before)) < 0.75:
        return before
    return float(2.0 ** round(log2(variance)))
