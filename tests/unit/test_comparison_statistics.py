"""Intervals, compared with numbers found by hand and printed in tables."""

import math

import pytest
from tidscope_backend.comparison.statistics import difference, group_figure, paired_difference


def test_mean_standard_deviation_and_interval() -> None:
    # Squares of 1, 2, 3 about 2 add up to 2. With two degrees of freedom t has a closed form:
    # 0.95 · √(2 / (1 - 0.95²)) = 4.302653, as in any table.
    reported = group_figure([1.0, 2.0, 3.0])
    assert (reported.n, reported.mean, reported.std_dev) == (3, 2.0, 1.0)
    half = 0.95 * math.sqrt(2 / (1 - 0.95**2)) / math.sqrt(3)
    assert reported.low == pytest.approx(2 - half, rel=1e-8)
    assert reported.high == pytest.approx(2 + half, rel=1e-8)


def test_one_run_has_a_mean_and_no_interval() -> None:
    reported = group_figure([7.0])
    assert (reported.n, reported.mean, reported.std_dev, reported.low, reported.high) == (
        1,
        7.0,
        None,
        None,
        None,
    )


def test_what_is_not_known_does_not_count() -> None:
    reported = group_figure([None, 4.0, None, 6.0])
    assert (reported.values, reported.n, reported.mean) == ([None, 4.0, None, 6.0], 2, 5.0)
    assert reported.std_dev == pytest.approx(math.sqrt(2))
    nothing = group_figure([None])
    assert (nothing.n, nothing.mean, nothing.low) == (0, None, None)


def test_welch() -> None:
    # 1, 2, 3 against 10, 14: variances over n are 1/3 and 8/2 = 4. Welch's degrees of freedom are
    # (13/3)² / ((1/3)²/2 + 4²/1) = 1.1697…
    first, other = group_figure([1.0, 2.0, 3.0]), group_figure([10.0, 14.0])
    reported = difference(first, other)
    assert (reported.absolute, reported.percent, reported.method) == (10.0, 500.0, "welch")
    freedom = (13 / 3) ** 2 / (1 / 18 + 16)
    assert freedom == pytest.approx(1.169550173, rel=1e-9)
    assert reported.low is not None
    assert reported.high is not None
    assert reported.high - 10 == pytest.approx(10 - reported.low)
    t = (reported.high - 10) / math.sqrt(13 / 3)
    assert tail(t, freedom) == pytest.approx(0.025, rel=1e-5)


def test_pairs_leave_out_what_both_have() -> None:
    # Differences 10, 12, 14 of levels that lie far apart: mean 12, s = 2, t(2) = 4.3027.
    reported = paired_difference([(100.0, 110.0), (1000.0, 1012.0), (400.0, 414.0)])
    assert (reported.absolute, reported.percent, reported.method) == (12.0, 2.4, "paired")
    assert reported.low == pytest.approx(12 - 4.302652730 * 2 / math.sqrt(3))
    assert reported.high == pytest.approx(12 + 4.302652730 * 2 / math.sqrt(3))


def test_one_pair_has_no_interval() -> None:
    assert paired_difference([(2.0, 3.0)]) == (1.0, 50.0, None, None, "none")
    assert paired_difference([]) == (None, None, None, None, "none")
    assert paired_difference([(0.0, 3.0)]).percent is None


def tail(t: float, freedom: float, steps: int = 200_000) -> float:
    """Probability above t of Student's density, by Simpson's rule over x = t + u/(1-u)."""
    scale: float = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)

    def density(u: float) -> float:
        if u == 1:
            return 0.0
        x = t + u / (1 - u)
        height: float = scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2) / (1 - u) ** 2
        return height

    total = density(0) + density(1)
    for step in range(1, steps):
        total += density(step / steps) * (4 if step % 2 else 2)
    return total / (3 * steps)


def test_equal_repeats_differ_by_exactly_that() -> None:
    reported = difference(group_figure([2.0, 2.0]), group_figure([3.0, 3.0]))
    assert (reported.absolute, reported.percent, reported.low, reported.high) == (
        1.0,
        50.0,
        1.0,
        1.0,
    )


def test_a_difference_from_nothing_has_no_percentage() -> None:
    reported = difference(group_figure([0.0]), group_figure([5.0]))
    assert (reported.absolute, reported.percent, reported.low, reported.method) == (
        5.0,
        None,
        None,
        "none",
    )


def test_less_than_a_negative_mean_is_a_negative_percentage() -> None:
    assert difference(group_figure([-4.0]), group_figure([-6.0])).percent == -50.0


def test_what_is_not_known_has_no_difference() -> None:
    reported = difference(group_figure([None, None]), group_figure([5.0, 6.0]))
    assert (reported.absolute, reported.percent, reported.method) == (None, None, "none")
