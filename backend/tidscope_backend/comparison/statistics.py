"""Means, standard deviations and confidence intervals of groups of repeats.

Mean: Student's t, mean ± t(n-1) · s/√n. Difference of means with unequal variances: Welch's t (B.
L. Welch, "The generalization of 'Student's' problem when several different population variances are
involved", Biometrika 34, 1947), with his degrees of freedom. Paired values: Student's t for the
mean of differences (Student, "The probable error of a mean", Biometrika 6, 1908, section IX). Mean
of one time span: batch means (A. M. Law, "Simulation Modeling and Analysis", section 9.5.3).
Correlation between neighbouring batches increases the variance.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tidscope_wire.generated.models import GroupFigure, IntervalMethod

CONFIDENCE = (
    "Intervals are 95 % confidence intervals: of a mean (±) by Student's t, of a difference by "
    "Welch's t, assuming independent, normally distributed repeats. A single run has none."
)
OF_WINDOWS = (
    "Intervals are 95 % confidence intervals of how much each window varied within itself: by the "
    "means of up to ten equally long slices of it (batch means), compared by Welch's t."
)
MIN_SLICES = 4
"""Minimum slices for an estimate of a window's variation."""
MAX_CORRELATION = 0.9


class Difference(NamedTuple):
    """Difference between the means of two groups, with its 95 % interval; see FigureDifference."""

    absolute: float | None
    percent: float | None
    low: float | None
    high: float | None
    method: IntervalMethod


class Spread(NamedTuple):
    """Uncertainty of a mean.

    Attributes:
        variance: variance of the mean.
        freedom: degrees of freedom of the variance's estimate.
    """

    variance: float
    freedom: float


def spread_of_slices(values: Sequence[float]) -> Spread | None:
    """Estimate the uncertainty of a time span's mean from equally long slices.

    The effective number of slices is n (1 - r) / (1 + r), as in a first-order process, if
    neighbours correlate with r > 0 (lag one).

    Returns:
        None for fewer than MIN_SLICES slices.
    """
    n = len(values)
    if n < MIN_SLICES:
        return None
    mean = math.fsum(values) / n
    off = [value - mean for value in values]
    squares = math.fsum(one**2 for one in off)
    if squares == 0:
        return Spread(0.0, n - 1)
    r = math.fsum(one * other for one, other in pairwise(off)) / squares
    r = min(max(r, 0.0), MAX_CORRELATION)
    resemblance = (1 + r) / (1 - r)
    return Spread(squares / (n - 1) / n * resemblance, max(1.0, (n - 1) / resemblance))


def window_figure(value: float | None, spread: Spread | None) -> GroupFigure:
    """Return the figure of a group that is one window."""
    figure = group_figure([value])
    if value is None or spread is None:
        return figure
    half = t_quantile(spread.freedom) * math.sqrt(spread.variance)
    return figure.model_copy(update={"low": value - half, "high": value + half})


def group_figure(values: Sequence[float | None]) -> GroupFigure:
    """Return the figure of a group; runs that lack the figure do not count."""
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


def difference(
    first: GroupFigure,
    other: GroupFigure,
    slices: tuple[Spread | None, Spread | None] = (None, None),
) -> Difference:
    """Return the difference of a group from the baseline.

    Args:
        first: figures of the baseline.
        other: figures of the group.
        slices: uncertainty of the figures, for groups that are one window each.
    """
    if first.mean is None or other.mean is None:
        return Difference(None, None, None, None, "none")
    absolute = other.mean - first.mean
    percent = 100 * absolute / abs(first.mean) if first.mean else None
    method: IntervalMethod = "welch"
    half = _welch(_of_repeats(first), _of_repeats(other))
    if half is None:
        half = _welch(*slices)
        method = "none" if half is None else "slices"
    return Difference(
        absolute=absolute,
        percent=percent,
        low=None if half is None else absolute - half,
        high=None if half is None else absolute + half,
        method=method,
    )


def paired_difference(pairs: Sequence[tuple[float, float]]) -> Difference:
    """Return the mean difference of paired values, such as values of one round.

    A shift common to both values of a pair affects neither the difference nor its interval.

    Args:
        pairs: pairs of baseline and other group.
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


def paired_p(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the two-sided p-value of paired values by Student's t; None below two pairs."""
    found = group_figure([other - first for first, other in pairs])
    if found.mean is None or found.std_dev is None:
        return None
    if not found.std_dev:
        return 0.0 if found.mean else 1.0
    t = abs(found.mean) * math.sqrt(found.n) / found.std_dev
    return min(1.0, 2 * tail(t, found.n - 1)) if t else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number, in the same order.

    Rejecting those of at most 0.05 rejects any true hypothesis with a probability of at most 0.05
    (S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979).
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = least
    return adjusted


def _of_repeats(figure: GroupFigure) -> Spread | None:
    if figure.std_dev is None:
        return None
    return Spread(figure.std_dev**2 / figure.n, figure.n - 1)


def _welch(first: Spread | None, other: Spread | None) -> float | None:
    """Return half the width of the interval of a difference; None if a mean's spread is unknown."""
    if first is None or other is None:
        return None
    a, b = first.variance, other.variance
    if a + b == 0:
        return 0.0
    share = a / (a + b)
    freedom = 1 / (share**2 / first.freedom + (1 - share) ** 2 / other.freedom)
    return t_quantile(freedom) * math.sqrt(a + b)


def _std_dev(values: Sequence[float], mean: float) -> float:
    return math.hypot(*(value - mean for value in values)) / math.sqrt(len(values) - 1)


UPPER_TAIL = 0.025
"""Both tails of a 95 % interval leave 2.5 % each."""
_TINY = 1e-300
_STEPS = 10_000
"""Maximum iterations; neither method needs as many."""


@lru_cache(maxsize=4096)
def t_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's t distribution.

    Args:
        freedom: degrees of freedom, at least 1; need not be whole.

    Returns:
        Exact to 1e-9 of itself, for less than a thousand degrees to 1e-12.
    """
    t = 1.96 + 2.4 / freedom
    for _ in range(_STEPS):
        above = tail(t, freedom)
        # Newton's method for a power of the tail that is nearly linear.
        step = freedom * above / _density(t, freedom)
        step *= -math.expm1(math.log(above / UPPER_TAIL) / freedom)
        t -= step
        # Each step squares the previous step's error.
        if abs(step) < 1e-7 * t:
            break
    return t


def _density(t: float, freedom: float) -> float:
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale -= math.log(freedom * math.pi) / 2
    return math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))


def tail(t: float, freedom: float) -> float:
    """Return the probability that Student's t exceeds a positive value."""
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function for x between 0 and 1."""
    if x > (a + 1) / (a + b + 2):
        # The fraction converges slowly for these x; symmetry maps to a fast region.
        return 1 - _incomplete_beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log1p(-x)) / a
    return front / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for step in range(1, _STEPS):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + term * d or _TINY)
        c = 1 + term / c or _TINY
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
