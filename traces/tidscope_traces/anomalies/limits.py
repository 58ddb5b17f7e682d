"""How improbable a measure of a trace is, by what it is in usual traces."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, log, pi, sqrt

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
FAR = 30.0
"""Standard deviations; probabilities of less are none of floating-point numbers."""
CLOSE = 1e-6
"""The same."""
Values = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Usual:
    """What a measure is in usual traces.

    Attributes:
        median: half of them have less.
        deviation: so much that MOST_DEVIATIONS of it above the median is the limit.
    """

    median: float
    deviation: float

    def surprise(self, value: float) -> float:
        """Negative logarithm of how probable it is that a usual trace has as much."""
        away = (value - self.median) / self.deviation
        if away > FAR:
            return away * away / 2 + log(away * sqrt(2 * pi))
        return -log(erfc(away / sqrt(2)) / 2)


@dataclass(frozen=True, slots=True)
class Rare:
    """What a measure is that most usual traces have none of.

    Attributes:
        high: so much has the least of the greatest values.
        excess: these have more than that, by so much in the mean.
        share: of usual traces have they.
    """

    high: float
    excess: float
    share: float

    def surprise(self, value: float) -> float:
        """See `Usual`; 0 for what is not among the greatest."""
        if value <= self.high:
            return 0.0
        return (value - self.high) / self.excess - log(self.share)


def normal(values: NDArray[np.float64]) -> Usual:
    """Of a measure that is about normal in usual traces; half of the values may be abnormal."""
    median = float(np.median(values))
    return Usual(median, max(1e-3, NORMAL_MAD * float(np.median(np.abs(values - median)))))


def tailed(values: Values, least: float) -> Usual:
    """Of a measure whose great values become exponentially rarer.

    Their mean excess over the least of them is estimated by the median excess, so that half of the
    tail may be abnormal. Source: peaks over a threshold (J. Pickands, 1975), with the shape that
    sums and maxima of squares of normal deviations, and logarithms of probabilities, have.

    Args:
        values: of usual traces.
        least: the mean excess is not less: values may all be the same.
    """
    high, mean = tail(values)
    limit = high + max(least, mean) * log(TAIL / P_VALUE)
    median = float(np.median(values))
    return Usual(median, (limit - median) / MOST_DEVIATIONS)


def rare(values: Values, least: float, share: float) -> Rare:
    """Of a measure that most usual traces have none of, and others the more seldom the more it is.

    Args:
        values: of usual traces.
        least: as in `tailed`.
        share: of the values that are taken as the greatest; half of them may be abnormal.
    """
    ordered = np.sort(np.asarray(values))
    greatest = ordered[int((1 - share) * len(ordered)) :]
    excess = float(np.median(greatest) - greatest[0]) / log(2)
    return Rare(float(greatest[0]), max(least, excess), share)


def tail(values: Values) -> tuple[float, float]:
    """What the greatest values exceed, and by how much in the mean, by their median excess."""
    high = float(np.quantile(values, 1 - TAIL))
    above = np.asarray(values)[np.asarray(values) > high] - high
    return high, float(np.median(above)) / log(2) if len(above) else 0.0


def together(surprises: Sequence[float]) -> float:
    """The surprise of several measures as one: each says a little, or one of them says it alone.

    Their sum has a gamma distribution if they are independent (R. Fisher, Statistical Methods for
    Research Workers, 1932, section 21.1); the greatest counts as one of so many. Whichever is the
    less probable counts as one of two.
    """
    total = sum(surprises)
    term = terms = 1.0
    for number in range(1, len(surprises)):
        term *= total / number
        terms += term
    alone = max(surprises) - log(len(surprises))
    return max(0.0, max(total - log(terms), alone) - log(2))


def in_deviations(surprise: float) -> float:
    """How far in the upper tail of a normal distribution is as improbable; 0 in its lower half."""
    standard, low, high = Usual(0.0, 1.0), 0.0, sqrt(2 * surprise)
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if standard.surprise(middle) < surprise else (low, middle)
    return low
