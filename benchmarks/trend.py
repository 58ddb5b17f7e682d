"""The slope of a series over time, and its 95 % interval where neighbouring samples are alike."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

BLOCKS = 12
T_10 = 2.228
"""Student's t, 97.5 %, with BLOCKS - 2 degrees of freedom."""


class Trend(NamedTuple):
    """Units a unit of time; the interval of 95 %."""

    slope: float
    low: float
    high: float

    def flat(self, bound: float) -> bool:
        """Whether it is no growth: the interval contains zero, or the slope is below a bound."""
        return self.low <= 0 <= self.high or abs(self.slope) < bound


def trend(times: Sequence[float], values: Sequence[float]) -> Trend:
    """Fit a line to the means of twelve equal blocks.

    Samples of memory are autocorrelated, and a fit to single ones would be far too sure of itself;
    means of long blocks are nearly independent. What correlation is left between neighbouring ones
    widens the interval as that of a first-order autoregression does: by √((1+r)/(1-r)).

    Args:
        times: rising, evenly spaced or nearly so; at least two samples a block.
        values: one for each time.
    """
    if len(times) < 2 * BLOCKS:
        raise ValueError(f"{len(times)} samples are too few: a trend needs {2 * BLOCKS}")
    at = np.array([block.mean() for block in np.array_split(np.asarray(times, float), BLOCKS)])
    means = np.array([block.mean() for block in np.array_split(np.asarray(values, float), BLOCKS)])
    x = at - at.mean()
    spread = float(x @ x)
    slope = float(x @ means) / spread
    rest = means - means.mean() - slope * x
    power = float(rest @ rest)
    error = math.sqrt(power / (BLOCKS - 2) / spread)
    r = float(rest[1:] @ rest[:-1]) / power if power else 0.0
    r = min(max(r, 0.0), 0.9)
    half = T_10 * error * math.sqrt((1 + r) / (1 - r))
    return Trend(slope, slope - half, slope + half)
