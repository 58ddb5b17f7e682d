"""Windows of one run compared: what threads did in each, and how sure the difference is."""

import random

import pytest
from compared_runs import Life, manifest, threads
from compared_runs import signals as signals_of
from tidscope_backend.comparison.compare import compare
from tidscope_backend.comparison.sides import (
    ComparisonError,
    RunTables,
    Slice,
    Window,
    split_window,
)
from tidscope_backend.comparison.statistics import MIN_SLICES, spread_of_slices
from tidscope_backend.comparison.verdicts import OTHER_RUNS
from tidscope_wire.generated.models import ComparedMetric, Comparison

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
