"""Differences of variants from the first one, and the verdicts that they allow. Pure.

Each round runs every variant once, in random order. The values of one round are a pair, so drift
between rounds affects no difference. Whether to stop is decided after every round, so the intervals
are those of proof mode (tidscope_policies.proving.evidence): they hold at all times together. An
experiment that compares a program with itself calls it better or worse in at most 5 % of cases,
whenever it stops.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tidscope_policies.proving.evidence import ALPHA, Interval, mean_interval, relative_mean

from tidscope_backend.comparison.statistics import Difference

Direction = Literal["less", "more"]
Finding = Literal["better", "worse", "same", "open"]
"""Result of the pairs so far; `open`: none of the other three is shown."""
LEAST_PAIRS = 4
"""Fewest pairs with an interval: of three, the interval of proof mode is infinite."""
WIDE = 4
"""A difference is known well enough if it is this many times half the width of its interval."""


@dataclass(frozen=True)
class DifferenceRules:
    """Rules of a comparison of variants: its figure, and when it may end. Stored in the journal.

    Attributes:
        figure: name of the figure in the journal.
        label: display name of the figure.
        unit: unit of the figure; empty for none.
        better: direction of an improvement.
        margin: greatest difference, in percent, of variants that count as the same.
        precision: greatest half width of the interval, in percentage points; None: until the
            verdict stands and the difference is WIDE times that.
        most_s: time for measuring, in seconds; None: two minutes or eight rounds, whichever is
            longer.
        recorded: runs of each variant that are recorded after the verdict.
    """

    figure: str
    label: str
    unit: str
    better: Direction
    margin: float
    precision: float | None
    most_s: float | None
    recorded: int


def relative_difference(pairs: Sequence[tuple[float, float]], comparisons: int) -> Interval | None:
    """Return the difference of the second values from the first, in percent of the first.

    The mean of the logarithms of ratios, or, if a value is not positive, the mean difference
    divided by the first values' mean.

    Args:
        pairs: values of the baseline and of the variant, a pair per round.
        comparisons: number of variants that are compared; their intervals hold together.

    Returns:
        None without pairs, or if the baseline's mean is 0.
    """
    alpha = ALPHA / max(1, comparisons)
    if not pairs:
        return None
    if min(min(pair) for pair in pairs) > 0:
        found = relative_mean([math.log(other / first) for first, other in pairs], alpha)
        return Interval(*(100 * one for one in found))
    baseline = abs(math.fsum(first for first, _ in pairs)) / len(pairs)
    if not baseline:
        return None
    found = mean_interval([other - first for first, other in pairs], alpha)
    return Interval(*(100 * one / baseline for one in found))


def is_known(found: Interval) -> bool:
    """Return True if an interval is finite, which it is not for fewer than LEAST_PAIRS."""
    return math.isfinite(found.high)


def sequential_difference(pairs: Sequence[tuple[float, float]], comparisons: int) -> Difference:
    """Return `relative_difference` in the unit of the values, for tables of figures."""
    found = relative_difference(pairs, comparisons)
    baseline = abs(math.fsum(first for first, _ in pairs)) / len(pairs) if pairs else 0.0
    if found is None:
        same = bool(pairs) and all(first == other for first, other in pairs)
        return Difference(0.0 if same else None, None, None, None, "none")
    absolute, low, high = (one * baseline / 100 for one in found)
    if not is_known(found):
        return Difference(absolute, found.mean, None, None, "none")
    return Difference(absolute, found.mean, low, high, "paired")


def finding_of(found: Interval | None, rules: DifferenceRules) -> Finding:
    """Return what an interval in percent shows."""
    if found is None:
        return "open"
    if found.low > 0:
        return "better" if rules.better == "more" else "worse"
    if found.high < 0:
        return "better" if rules.better == "less" else "worse"
    return "same" if max(-found.low, found.high) <= rules.margin else "open"


def is_enough(found: Interval | None, rules: DifferenceRules) -> bool:
    """Return True if no more rounds are needed."""
    if found is None or not is_known(found):
        return False
    half = (found.high - found.low) / 2
    if rules.precision is not None:
        return half <= rules.precision
    shown = finding_of(found, rules)
    return shown == "same" or (
        shown != "open" and half <= max(rules.margin, abs(found.mean) / WIDE)
    )
