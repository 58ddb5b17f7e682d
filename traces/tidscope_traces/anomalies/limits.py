"""From which value on a measure of a trace is improbable."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NORMAL_MAD = 1.4826
"""A normal distribution's standard deviation, of its median absolute deviation."""
P_VALUE = 0.001
"""Of usual traces so many are improbable; the source's."""
MOST_DEVIATIONS = 3.09
"""So many standard deviations above the mean that is the limit of a normal distribution."""
TAIL = 0.2
"""The greatest values of usual traces, which say how values beyond them are distributed."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What a measure is in usual traces.

    Attributes:
        median: half of them have less.
        deviation: so much that MOST_DEVIATIONS of it above the median is the limit.
    """

    median: float
    deviation: float

    def score(self, value: float) -> float:
        """Above MOST_DEVIATIONS it is improbable."""
        return (value - self.median) / self.deviation


def normal(values: NDArray[np.float64]) -> Usual:
    """Of a measure that is about normal in usual traces; half of the values may be abnormal."""
    median = float(np.median(values))
    return Usual(median, max(1e-3, NORMAL_MAD * float(np.median(np.abs(values - median)))))


def tailed(values: Sequence[float] | NDArray[np.float64], least: float) -> Usual:
    """Of a measure whose great values become exponentially rarer.

    Their mean excess over the least of them is estimated by the median excess, so that half of the
    tail may be abnormal. Source: peaks over a threshold (J. Pickands, 1975), with the shape that
    sums and maxima of squares of normal deviations, and logarithms of probabilities, have.

    Args:
        values: of usual traces.
        least: the mean excess is not less: values may all be the same.
    """
    high, mean = tail(values)
    limit = high + max(least, mean) * np.log(TAIL / P_VALUE)
    median = float(np.median(values))
    return Usual(median, float(limit - median) / MOST_DEVIATIONS)


def tail(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float]:
    """What the greatest values exceed, and by how much in the mean, by their median excess."""
    high = float(np.quantile(values, 1 - TAIL))
    above = np.asarray(values)[np.asarray(values) > high] - high
    return high, float(np.median(above)) / np.log(2) if len(above) else 0.0
