"""Notices that a program entered another phase: a two-sided CUSUM of surprises.

Source: E. S. Page, Continuous inspection schemes (1954).
"""

from collections import deque
from statistics import median


class ChangeDetector:
    """Sums up surprises above a slack; too large a sum is a change.

    Args:
        slack: what a surprise may be without counting, in standard deviations.
        threshold: the sum that is a change.
    """

    def __init__(self, slack: float, threshold: float) -> None:
        self._slack, self._threshold = slack, threshold
        self._up = self._down = 0.0

    def update(self, surprise: float) -> bool:
        """Take in a surprise in standard deviations; whether there was a change."""
        self._up = max(0.0, self._up + surprise - self._slack)
        self._down = max(0.0, self._down - surprise - self._slack)
        changed = max(self._up, self._down) > self._threshold
        if changed:
            self.reset()
        return changed

    def reset(self) -> None:
        """Start again."""
        self._up = self._down = 0.0


class NoiseMeter:
    """Variance of measurements, from the median of absolute surprises.

    Args:
        sd: what it is taken for at first.
        low: least standard deviation believed.
        high: largest standard deviation believed.
    """

    FIRST = 10
    NORMAL = 1.4826
    """Standard deviation of a normal distribution over the median of its absolute value."""

    def __init__(self, sd: float, low: float, high: float) -> None:
        self._sd, self._low, self._high = sd, low, high
        self._recent: deque[float] = deque(maxlen=60)

    def update(self, surprise: float) -> None:
        """Take in the difference of a measurement from what was expected."""
        self._recent.append(abs(surprise))

    @property
    def variance(self) -> float:
        """What a measurement's variance is taken for."""
        sd = self._sd
        if len(self._recent) >= self.FIRST:
            sd = min(max(self.NORMAL * median(self._recent), self._low), self._high)
        return sd * sd
