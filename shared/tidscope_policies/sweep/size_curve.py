"""Operations a second against size, with intervals, from the rounds of a sweep.

Measurements are compared within their round only: a level that differs from one round to the next
cancels. The logarithm of each is taken less the mean of its round; the mean over the rounds is the
curve, and its spread over the rounds gives an interval that holds after however many rounds the
sweep ends (proving/evidence.py). Intervals are of the shape of the curve, at the mean level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from statistics import fmean

from tidscope_policies.proving.evidence import mean_interval

KNEE = 0.03
"""Share of the best that the knee may be below it."""


MOST = 700.0
"""Largest logarithm of a number."""


class SweepError(ValueError):
    """The rounds give no curve; the text says why."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Of one size.

    Attributes:
        size: threads.
        ops_per_s: expected at the mean level of the sweep.
        low: end of its interval.
        high: the other end.
        rounds: measured in so many.
    """

    size: int
    ops_per_s: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True, slots=True)
class Gain:
    """Of the knee over the size at the start, relative.

    Attributes:
        mean: as measured.
        low: end of its interval.
        high: the other end.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SizeCurve:
    """What a sweep showed.

    Attributes:
        points: by size, ascending.
        best: the size that did the most.
        as_good: sizes whose difference from the best may be none.
        knee: the smallest size that does as much as the best, but for a few percent.
        gain: of the knee over the size at the start; None where that was not measured.
    """

    points: tuple[CurvePoint, ...]
    best: int
    as_good: tuple[int, ...]
    knee: int
    gain: Gain | None


def fit(rounds: Sequence[Mapping[int, float]], start: int | None = None) -> SizeCurve:
    """The curve of a sweep.

    Args:
        rounds: operations a second by size; a size that was not measured is absent.
        start: the size before the sweep, if it was measured.

    Raises:
        SweepError: fewer than two rounds measured all sizes, or two sizes.
    """
    sizes = sorted({size for found in rounds for size in found})
    whole = [
        {size: log(found[size]) for size in sizes}
        for found in rounds
        if all(found.get(size, 0.0) > 0 for size in sizes)
    ]
    if len(sizes) < 2:
        raise SweepError("fewer than two sizes were measured")
    if len(whole) < 2:
        raise SweepError(f"{len(whole)} of {len(rounds)} rounds measured all sizes: want 2")
    level = fmean(value for found in whole for value in found.values())
    around = [
        {size: value - fmean(found.values()) for size, value in found.items()} for found in whole
    ]
    points = []
    for size in sizes:
        mean, low, high = mean_interval([found[size] for found in around])
        points.append(
            CurvePoint(size, _exp(level + mean), _exp(level + low), _exp(level + high), len(whole))
        )
    means = {point.size: point.ops_per_s for point in points}
    best = min(sizes, key=lambda size: (-means[size], size))
    as_good = tuple(size for size in sizes if size == best or not _is_less(whole, size, best))
    knee = min(size for size in sizes if means[size] >= (1 - KNEE) * means[best])
    gain = None
    if start is not None and start in means:
        of_knee = mean_interval([found[knee] - found[start] for found in whole])
        gain = Gain(*(_exp(end) - 1 for end in of_knee))
    return SizeCurve(tuple(points), best, as_good, knee, gain)


def _is_less(whole: Sequence[Mapping[int, float]], size: int, best: int) -> bool:
    return mean_interval([found[best] - found[size] for found in whole]).low > 0


def _exp(value: float) -> float:
    """Without end where the interval has none."""
    return exp(value) if value < MOST else inf
