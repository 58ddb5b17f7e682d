"""Means, standard deviations and confidence intervals of groups of repeats.

Student's t for a mean: mean ± t(n-1) · s/√n. Welch's t for a difference of means whose variances
need not be equal: B. L. Welch, "The generalization of 'Student's' problem when several different
population variances are involved", Biometrika 34 (1947), with his degrees of freedom. Where values
of two groups belong together, Student's t for the mean of their differences: Student, "The probable
error of a mean", Biometrika 6 (1908), section IX.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from tidscope_wire.generated.models import GroupFigure, IntervalMethod

from tidscope_backend.comparison.student import t_quantile

CONFIDENCE = (
    "Intervals are 95 % confidence intervals: of a mean (±) by Student's t, of a difference by "
    "Welch's t, assuming independent, normally distributed repeats. A single run has none."
)


class Difference(NamedTuple):
    """Of the means of two groups, and its 95 % interval; see FigureDifference."""

    absolute: float | None
    percent: float | None
    low: float | None
    high: float | None
    method: IntervalMethod


def group_figure(values: Sequence[float | None]) -> GroupFigure:
    """The figure of a group; runs that lack it do not count."""
    known = [value for value in values if value is not None]
    n = len(known)
    mean, std_dev, half = None, None, None
    if n:
        mean = math.fsum(known) / n
    if mean is not None and n > 1:
        std_dev = _std_dev(known, mean)
        half = t_quantile(n - 1) * std_dev / math.sqrt(n)
    return GroupFigure(
        values=list(values),
        n=n,
        mean=mean,
        std_dev=std_dev,
        low=None if mean is None or half is None else mean - half,
        high=None if mean is None or half is None else mean + half,
    )


def difference(first: GroupFigure, other: GroupFigure) -> Difference:
    """The difference of a group from the baseline."""
    if first.mean is None or other.mean is None:
        return Difference(None, None, None, None, "none")
    absolute = other.mean - first.mean
    percent = 100 * absolute / abs(first.mean) if first.mean else None
    half = _welch(first, other)
    return Difference(
        absolute=absolute,
        percent=percent,
        low=None if half is None else absolute - half,
        high=None if half is None else absolute + half,
        method="none" if half is None else "welch",
    )


def paired_difference(pairs: Sequence[tuple[float, float]]) -> Difference:
    """The difference of values that belong together, such as those of one round.

    What makes both of a pair higher or lower is in neither the difference nor its interval.

    Args:
        pairs: of the baseline and of the other group.
    """
    found = group_figure([other - first for first, other in pairs])
    baseline = group_figure([first for first, _ in pairs]).mean
    return Difference(
        absolute=found.mean,
        percent=100 * found.mean / abs(baseline) if baseline and found.mean is not None else None,
        low=found.low,
        high=found.high,
        method="none" if found.low is None else "paired",
    )


def _welch(first: GroupFigure, other: GroupFigure) -> float | None:
    """Half the width of the interval of a difference; None without repeats in both groups."""
    if first.std_dev is None or other.std_dev is None:
        return None
    a, b = first.std_dev**2 / first.n, other.std_dev**2 / other.n
    if a + b == 0:
        return 0.0
    share = a / (a + b)
    freedom = 1 / (share**2 / (first.n - 1) + (1 - share) ** 2 / (other.n - 1))
    return t_quantile(freedom) * math.sqrt(a + b)


def _std_dev(values: Sequence[float], mean: float) -> float:
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
