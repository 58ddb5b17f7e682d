"""Operations a second against size, with intervals, from the rounds of a sweep.

Measurements are compared within their round only: a level that differs from one round to the next
cancels. The logarithm of each is taken less the mean of its round; the mean over the rounds is the
curve, and its spread over the rounds gives an interval that holds after however many rounds the
sweep ends (proving/evidence.py). Intervals are of the shape of the curve, at the mean level.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from statistics import fmean

from tidscope_policies.proving.evidence import Interval, mean_interval

KNEE = 0.03
"""Share of the best that the knee may be below it."""
KNEE_LOSS = -log(1 - KNEE)
"""`KNEE` as a difference of logarithms."""

MAX_EXPONENT = 700.0
"""Maximum argument of `exp`; larger ones would overflow a float."""


class SweepError(ValueError):
    """The rounds give no curve; the text says why."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Throughput at one size.

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
class SizeCurve:
    """Result of a sweep.

    Attributes:
        points: by size, ascending.
        best: the size that did the most.
        as_good: sizes whose difference from the best may be none.
        knee: the smallest size that does as much as the best, but for a few percent.
        knee_from: no smaller size than this can be the knee.
        knee_to: nor can a larger one than this.
        worse: sizes that are surely below the knee's share of the best.
        gain: of the knee over the size at the start; None where that was not measured.
        is_decided: only one size can be the knee, or those that can differ by next to nothing.
    """

    points: tuple[CurvePoint, ...]
    best: int
    as_good: tuple[int, ...]
    knee: int
    knee_from: int
    knee_to: int
    worse: tuple[int, ...]
    gain: Interval | None
    is_decided: bool


def fit(
    rounds: Sequence[Mapping[int, float]],
    start: int | None = None,
    dropped: Collection[int] = (),
) -> SizeCurve:
    """The curve of a sweep.

    Args:
        rounds: operations a second by size; a size that was not measured is absent.
        start: the size before the sweep, if it was measured.
        dropped: sizes that later rounds left out: what a round is compared by are the others.

    Raises:
        SweepError: fewer than two rounds measured all sizes, or two sizes.
    """
    sizes = sorted({size for found in rounds for size in found})
    kept = [size for size in sizes if size not in dropped]
    whole = [
        {size: log(value) for size, value in found.items() if value > 0}
        for found in rounds
        if all(found.get(size, 0.0) > 0 for size in kept)
    ]
    if len(sizes) < 2 or not kept:
        raise SweepError("fewer than two sizes were measured")
    if len(whole) < 2:
        raise SweepError(f"{len(whole)} of {len(rounds)} rounds measured all sizes: want 2")
    levels = [fmean(found[size] for size in kept) for found in whole]
    level = fmean(levels)
    points = []
    for size in sizes:
        around = [
            found[size] - own for found, own in zip(whole, levels, strict=True) if size in found
        ]
        if not around:
            continue
        mean, low, high = mean_interval(around)
        points.append(
            CurvePoint(size, _exp(level + mean), _exp(level + low), _exp(level + high), len(around))
        )
    means = {point.size: point.ops_per_s for point in points}
    best = min(means, key=lambda size: (-means[size], size))
    losses = {size: _loss(whole, size, best) for size in means}
    knee = min(size for size in means if means[size] >= (1 - KNEE) * means[best])
    worse = tuple(size for size in means if losses[size].low > KNEE_LOSS)
    knee_from = min(size for size in means if size not in worse)
    knee_to = min(size for size in means if losses[size].high < KNEE_LOSS)
    possible = [size for size in means if knee_from <= size <= knee_to and size not in worse]
    gain = None
    if start is not None and start in means:
        of_knee = _loss(whole, start, knee)
        gain = Interval(*(_exp(end) - 1 for end in of_knee))
    return SizeCurve(
        tuple(points),
        best,
        tuple(size for size in means if losses[size].low <= 0),
        knee,
        knee_from,
        knee_to,
        worse,
        gain,
        len(possible) == 1
        or all(losses[size].high - losses[size].low < KNEE_LOSS for size in possible),
    )


def _loss(whole: Sequence[Mapping[int, float]], size: int, against: int) -> Interval:
    """How far the logarithm of throughput at a size is below that at another size."""
    if size == against:
        return Interval(0.0, 0.0, 0.0)
    both = [found[against] - found[size] for found in whole if size in found and against in found]
    return mean_interval(both) if both else Interval(0.0, -inf, inf)


def _exp(value: float) -> float:
    """Without end where the interval has none."""
    return exp(value) if value < MAX_EXPONENT else inf
