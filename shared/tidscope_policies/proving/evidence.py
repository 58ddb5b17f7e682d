"""An interval that may be looked at after every value, and stays a 95 % interval.

Someone who looks at an ordinary interval again and again, and stops as soon as it leaves out zero,
finds differences where there are none. The intervals here hold at all times together: the
probability that any of them ever leaves out the mean is at most 5 %. They come from the mixture of
t statistics of T. L. Lai, "On confidence sequences", The Annals of Statistics 4 (1976), with a
normal prior of the mean in units of the standard deviation: H. Wang and A. Ramdas, "Anytime-valid
t-tests and confidence sequences for Gaussian means with unknown variance", Sequential Analysis 44
(2025). The values are assumed to be independent and normally distributed.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

ALPHA = 0.05
PRIOR = 4.0
"""Variance of the prior: differences of about two standard deviations are found soonest."""


class Interval(NamedTuple):
    """A mean and its interval, infinite while the values say nothing."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> Interval:
    """The mean of values, and where the mean of their distribution is.

    Raises:
        ValueError: there are no values.
    """
    n = len(values)
    if not n:
        raise ValueError("the mean of no values")
    mean = math.fsum(values) / n
    half = _half_width(values, mean)
    return Interval(mean, mean - half, mean + half)


def _half_width(values: Sequence[float], mean: float) -> float:
    n = len(values)
    freedom = n - 1
    if not freedom:
        return math.inf
    shrink = 1 + n * PRIOR
    most = math.exp((math.log(shrink) / 2 - math.log(ALPHA)) * 2 / n)
    if most >= shrink:
        return math.inf
    variance = math.fsum((value - mean) ** 2 for value in values) / freedom
    t_squared = freedom * (most - 1) / (1 - most / shrink)
    return math.sqrt(t_squared * variance / n)
