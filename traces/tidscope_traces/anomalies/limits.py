"""How improbable a measure of a trace is, by what it is in usual traces."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

P_VALUE = 0.0005
"""Of usual traces so many are improbable by a measure; the source's."""
TAIL = 0.2
"""The greatest values of usual traces, which say how values beyond them are distributed."""
FAR = 30.0
"""Standard deviations; probabilities of less are none of floating-point numbers."""
CLOSE = 1e-6
"""The same."""
Values = Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Limit:
    """From which value on a measure is abnormal.

    Attributes:
        value: usual traces have more with P_VALUE.
        excess: mean of what is above, where the values become exponentially rarer.
    """

    value: float
    excess: float

    def surprise(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Negative logarithm of how probable it is that a usual trace has more."""
        return np.asarray(np.maximum(0.0, (values - self.value) / self.excess - log(P_VALUE)))


def tailed(values: Values, least: float) -> Limit:
    """The limit of a measure whose great values become exponentially rarer.

    Their mean excess over the least of them is estimated by the median excess, so that half of the
    tail may be abnormal. Source: peaks over a threshold (J. Pickands, 1975), with the shape that
    sums and maxima of squares of normal deviations, and logarithms of probabilities, have.

    Args:
        values: of usual traces, at least one.
        least: the mean excess is not less: values may all be the same.
    """
    high = float(np.quantile(values, 1 - TAIL))
    above = np.asarray(values)[np.asarray(values) > high] - high
    excess = max(least, float(np.median(above)) / log(2) if len(above) else 0.0)
    return Limit(high + excess * log(TAIL / P_VALUE), excess)


def in_deviations(surprise: float) -> float:
    """How far in the upper tail of a normal distribution is as improbable; 0 in its lower half."""
    low, high = 0.0, sqrt(2 * surprise)
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if _upper(middle) < surprise else (low, middle)
    return low


def _upper(deviations: float) -> float:
    """Negative logarithm of a normal distribution's upper tail."""
    if deviations > FAR:
        return deviations * deviations / 2 + log(deviations * sqrt(2 * pi))
    return -log(erfc(deviations / sqrt(2)) / 2)
