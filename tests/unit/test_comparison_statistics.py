"""Statistics of comparisons, and verdicts over windows."""

import math
import random

import pytest
from compared_runs import Life, manifest, threads
from compared_runs import signals as signals_of
from hypothesis import given
from hypothesis import strategies as st
from tidscope_backend.comparison.compare import compare
from tidscope_backend.comparison.sides import (
    ComparisonError,
    RunTables,
    Slice,
    Window,
    split_window,
)
from tidscope_backend.comparison.statistics import (
    MIN_SLICES,
    difference,
    group_figure,
    paired_difference,
    spread_of_slices,
    t_quantile,
)
from tidscope_backend.comparison.statistics import tail as exact_tail
from tidscope_backend.comparison.verdicts import OTHER_RUNS
from tidscope_wire.generated.models import ComparedMetric, Comparison


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


# Student's t of 2.5 % above, by SciPy 1.18's stdtrit, which uses another method (Cephes).
TABLE = [
    (1.17, 9.076017087826617),
    (1.5, 6.016663104427929),
    (2.7, 3.3921483831737507),
    (3, 3.1824463052837078),
    (3.6, 2.902445235720363),
    (5, 2.5705818356363146),
    (6.4, 2.410314499647891),
    (7, 2.364624251592784),
    (10, 2.228138851986274),
    (30, 2.0422724563012378),
    (100, 1.9839715185235518),
    (1e6, 1.959966356814107),
]


@pytest.mark.parametrize(("freedom", "expected"), TABLE)
def test_known_values(freedom: float, expected: float) -> None:
    assert t_quantile(freedom) == pytest.approx(expected, rel=1e-9)


def test_degrees_of_freedom_with_a_closed_form() -> None:
    assert t_quantile(1) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-12)
    assert t_quantile(2) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-12)
    root = math.sqrt(4 * 0.025 * 0.975)
    four = 2 * math.sqrt(math.cos(math.acos(root) / 3) / root - 1)
    assert t_quantile(4) == pytest.approx(four, rel=1e-12)


@given(st.floats(1, 1000))
def test_the_tail_above_it_is_a_fortieth(freedom: float) -> None:
    assert exact_tail(t_quantile(freedom), freedom) == pytest.approx(0.025, rel=1e-11)


@given(st.floats(1, 1000), st.floats(1, 1000))
def test_more_repeats_give_a_narrower_interval(one: float, other: float) -> None:
    if one < other:
        assert t_quantile(one) >= t_quantile(other) * (1 - 1e-12)


S = 1_000_000_000


def window(
    number: int, from_s: float, shares: list[float], switches: list[int] | None = None
) -> RunTables:
    """Ten seconds a window, a second a slice: parts of a CPU that its only thread used in each."""
    ran = [round(share * S) for share in shares]
    switched = switches or [0] * len(ran)

    def table(cpu_ns: int, count: int) -> list[Life]:
        return [Life("main", (0, 0, None), (cpu_ns, count, None))]

    return RunTables(
        manifest(number, name="work"),
        threads(table(sum(ran), sum(switched))),
        signals_of([]),
        [],
        window=Window(from_s, from_s + len(shares)),
        slices=[Slice(S, threads(table(*both))) for both in zip(ran, switched, strict=True)],
    )


def row(found: Comparison, metric: str) -> ComparedMetric:
    (one,) = [one for one in found.metrics if (one.metric, one.role) == (metric, None)]
    return one


STEADY = [0.50, 0.52, 0.49, 0.51, 0.50, 0.48, 0.51, 0.50, 0.52, 0.47]


def test_windows_of_one_run_have_intervals_by_their_slices() -> None:
    higher = [share + 0.2 for share in reversed(STEADY)]
    found = compare([[window(1, 0, STEADY)], [window(1, 20, higher)]])
    cpu = row(found, "cpu_run_ns")
    first, other = cpu.groups
    assert [first.mean, other.mean] == pytest.approx([0.5 * S, 0.7 * S])
    assert first.low is not None
    assert 0.4 * S < first.low < 0.5 * S
    (difference,) = cpu.differences
    assert difference.method == "slices"
    assert difference.low is not None
    assert difference.high is not None
    assert 0.15 * S < difference.low < 0.2 * S < difference.high < 0.25 * S
    assert (difference.verdict, difference.caveat) == ("more", None)
    assert "each window varied" in found.confidence
    run = found.runs[0].run.partition("@")[0]
    assert [one.run for one in found.runs] == [f"{run}@0-10", f"{run}@20-30"]
    assert [group.label for group in found.groups] == ["work 0–10 s", "work 20–30 s"]
    assert [group.runs for group in found.groups] == [[f"{run}@0-10"], [f"{run}@20-30"]]


def test_what_only_varies_is_not_certain() -> None:
    wild = [0.1, 0.9, 0.2, 0.8, 0.5, 0.4, 0.9, 0.1, 0.7, 0.4]
    found = compare([[window(1, 0, wild)], [window(1, 20, [*wild[5:], *wild[:4], 0.9])]])
    (difference,) = row(found, "cpu_run_ns").differences
    assert (difference.method, difference.verdict) == ("slices", "unclear")


def test_windows_of_two_runs_are_judged_with_a_caveat() -> None:
    higher = [share + 0.2 for share in STEADY]
    found = compare([[window(1, 0, STEADY)], [window(2, 0, higher)]])
    (difference,) = row(found, "cpu_run_ns").differences
    assert (difference.verdict, difference.caveat) == ("more", OTHER_RUNS)


def test_totals_have_intervals_of_totals() -> None:
    found = compare(
        [[window(1, 0, STEADY, [50] * 9 + [52])], [window(1, 20, STEADY, [70] * 9 + [73])]],
        basis="totals",
    )
    switches = row(found, "voluntary_switches")
    assert [group.mean for group in switches.groups] == [502, 703]
    (difference,) = switches.differences
    assert difference.low is not None
    assert difference.high is not None
    assert 190 < difference.low < 201 < difference.high < 212


def test_short_windows_have_no_interval() -> None:
    found = compare([[window(1, 0, STEADY[:3])], [window(1, 20, STEADY[:3])]])
    (difference,) = row(found, "voluntary_switches").differences
    assert (difference.low, difference.method) == (None, "none")


def test_slices_that_resemble_their_neighbours_count_for_fewer() -> None:
    rising = [float(number) for number in range(10)]
    spread, mixed = spread_of_slices(rising), spread_of_slices(rising[::2] + rising[1::2])
    assert spread is not None
    assert mixed is not None
    assert spread.variance > 3 * mixed.variance
    assert spread.freedom < mixed.freedom
    assert spread_of_slices([1.0] * (MIN_SLICES - 1)) is None
    assert spread_of_slices([1.0] * MIN_SLICES) == (0, MIN_SLICES - 1)


def test_an_interval_of_slices_holds_the_truth_as_often_as_it_says() -> None:
    # Slices of a program whose load remembers itself a little, as loads do.
    random.seed(7)
    held, trials = 0, 400
    for _ in range(trials):
        level = random.gauss(0, 1)
        values = []
        for _ in range(10):
            level = 0.3 * level + random.gauss(0, 1)
            values.append(level)
        spread = spread_of_slices(values)
        assert spread is not None
        half = 2.262 * spread.variance**0.5
        held += abs(sum(values) / 10) <= half
    assert 0.85 <= held / trials <= 0.99


@pytest.mark.parametrize(
    ("text", "run", "found"),
    [
        ("work", "work", None),
        ("work@0-30", "work", Window(0, 30)),
        ("a@b@1.5-2.25", "a@b", Window(1.5, 2.25)),
        ("work@30", "work@30", None),
        ("@1-2", "@1-2", None),
    ],
)
def test_a_window_stands_behind_the_run(text: str, run: str, found: Window | None) -> None:
    assert split_window(text) == (run, found)


def test_a_window_does_not_end_before_it_begins() -> None:
    with pytest.raises(ComparisonError, match="ends before it begins"):
        split_window("work@5-5")


def test_windows_are_written_with_no_more_digits_than_needed() -> None:
    assert [str(Window(0, 30)), str(Window(1.5, 20.25))] == ["0-30", "1.5-20.25"]
    assert Window(100, 200.1).label == "100–200.1 s"
