"""Trend of a series with gaps: slope with interval, and whether the order of values is by chance.

Sources: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of the
American Statistical Association 63, 1968; M. G. Kendall, "Rank correlation methods", 1975.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MIN_VALUES = 5
"""Minimum values of a trend: four in order are so by chance in one of twelve series."""
Z_95 = 1.959964
"""Two-sided 95 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Change of a series from one place to the next.

    Attributes:
        slope: median of the slopes between any two values (Theil and Sen).
        low, high: 95 % confidence interval of the slope (Sen).
        p: probability of values in such an order if there is no trend (Mann and Kendall).
    """

    slope: float
    low: float
    high: float
    p: float


def trend_of(values: Sequence[float | None]) -> Trend | None:
    """Return the trend of values that are equally far apart; None for fewer than MIN_VALUES.

    A single outlier hardly changes it, unlike a line by least squares.

    Args:
        values: the series; None for a gap.
    """
    places = [place for place, value in enumerate(values) if value is not None]
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    count = len(known)
    if count < MIN_VALUES:
        return None
    first, second = np.triu_indices(count, 1)
    rises = known[second] - known[first]
    slopes = np.sort(rises / np.subtract.outer(places, places)[second, first])
    ties = sum(tie * (tie - 1) * (2 * tie + 5) for tie in Counter(known.tolist()).values())
    deviation = math.sqrt((count * (count - 1) * (2 * count + 5) - ties) / 18)
    score = abs(int(np.sign(rises).sum()))
    z = (score - 1) / deviation if score else 0.0
    rank = max(0, math.floor((len(slopes) - Z_95 * deviation) / 2) - 1)
    return Trend(
        slope=float(np.median(slopes)),
        low=float(slopes[rank]),
        high=float(slopes[len(slopes) - 1 - rank]),
        p=math.erfc(z / math.sqrt(2)),
    )
