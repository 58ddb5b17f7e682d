"""A sweep: what it measures in which order, the curve with its doubt, and the line to paste."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import pytest
from policy_harness import seen
from tidscope_policies.contract import Bounds, Decision
from tidscope_policies.simulation.simulated_pools import usl
from tidscope_policies.sweep.size_curve import SweepError, fit
from tidscope_policies.sweep.sweep import (
    INTERVAL_S,
    LINES,
    Sweep,
    SweepRecord,
    SweepSettings,
    choose_sizes,
    describe_sweep,
    line,
    order,
)

SIZES = list(range(1, 17))


def curve(size: int) -> float:
    """Program whose best size is 8."""
    return usl(size, 1000, 0.05, 0.95 / 64)


def rounds(count: int, noise: float, wander: float, seed: int) -> list[dict[int, float]]:
    stream = np.random.default_rng(seed)
    levels = np.exp(np.cumsum(stream.normal(0, wander, count)))
    return [
        {size: float(level * curve(size) * math.exp(stream.normal(0, noise))) for size in SIZES}
        for level in levels
    ]


def test_sizes_to_measure() -> None:
    assert choose_sizes(Bounds(4, 8), 8) == [4, 5, 6, 7, 8]
    wide = choose_sizes(Bounds(1, 64), 7)
    assert wide == [1, 2, 4, 8, 16, 32, 64]
    with pytest.raises(ValueError, match="want at least 2"):
        choose_sizes(Bounds(1, 4), 1)


def test_every_round_has_all_sizes_in_an_order_of_its_own() -> None:
    found = [order([1, 2, 4, 8], 4, seed=1, turn=turn) for turn in range(200)]
    assert {tuple(sorted(each)) for each in found} == {(1, 2, 4, 8)}
    assert found[0][0] == 4
    assert len({tuple(each) for each in found}) == 24
    # A drift within a round does not look like an effect of the size.
    places = {size: sum(each.index(size) for each in found) / 200 for size in (1, 2, 4, 8)}
    assert all(1.2 < place < 1.8 for place in places.values()), places
    assert order([1, 2, 4, 8], 4, seed=2, turn=5) != found[5]


def test_without_noise_it_is_the_curve_itself() -> None:
    found = fit([{size: curve(size) for size in SIZES}] * 8, start=16)
    assert [point.size for point in found.points] == SIZES
    for point in found.points:
        assert point.ops_per_s == pytest.approx(curve(point.size), rel=1e-9)
        assert point.low == pytest.approx(point.high)
    assert (found.best, found.as_good) == (8, (8,))
    # 7 loses less than 3 %, 6 more.
    assert found.knee == 7
    assert found.gain is not None
    assert found.gain.mean == pytest.approx(curve(7) / curve(16) - 1)


def test_a_level_that_differs_by_round_cancels() -> None:
    calm = rounds(6, 0.01, 0.0, 1)
    moved = [
        {size: value * level for size, value in found.items()}
        for found, level in zip(calm, (1, 3, 0.2, 7, 1, 2), strict=True)
    ]
    one, other = fit(calm, 16), fit(moved, 16)
    assert (one.best, one.knee, one.as_good) == (other.best, other.knee, other.as_good)
    ratios = [b.ops_per_s / a.ops_per_s for a, b in zip(one.points, other.points, strict=True)]
    assert ratios == pytest.approx([ratios[0]] * len(ratios))


def test_intervals_hold() -> None:
    """Fewer than 5 % of the intervals of 60 sweeps with 16 sizes may miss."""
    missed = total = wrong = 0
    for seed in range(60):
        found = fit(rounds(6, 0.04, 0.2, seed), start=16)
        centre = math.exp(
            sum(math.log(point.ops_per_s / curve(point.size)) for point in found.points)
            / len(SIZES)
        )
        for point in found.points:
            total += 1
            missed += not point.low <= centre * curve(point.size) <= point.high
        wrong += 8 not in found.as_good
    assert missed < 0.05 * total
    assert wrong <= 3


def test_more_rounds_are_surer() -> None:
    def width(count: int) -> float:
        found = fit(rounds(count, 0.03, 0.1, 5))
        return sum(math.log(point.high / point.low) for point in found.points)

    assert width(20) < 0.5 * width(5)


def test_two_rounds_say_next_to_nothing() -> None:
    found = fit(rounds(2, 0.03, 0.0, 3), start=16)
    assert found.as_good == tuple(SIZES)
    assert found.gain is not None
    assert found.gain.high == math.inf


def test_rounds_that_are_not_whole_are_left_out() -> None:
    good = rounds(3, 0.01, 0.0, 2)
    broken = [*good, {1: 5.0}, {**good[0], 4: 0.0}]
    assert fit(broken) == fit(good)


def test_sizes_that_later_rounds_left_out_keep_what_they_showed() -> None:
    whole = rounds(12, 0.01, 0.3, 4)
    dropped = set(range(1, 5))
    later = [{size: v for size, v in found.items() if size not in dropped} for found in whole[4:]]
    found = fit([*whole[:4], *later], start=16, dropped=dropped)
    assert {point.rounds for point in found.points if point.size in dropped} == {4}
    assert {point.rounds for point in found.points if point.size not in dropped} == {12}
    level = found.points[7].ops_per_s / curve(8)
    for point in found.points:
        assert point.ops_per_s / level == pytest.approx(curve(point.size), rel=0.05)


def test_the_knee_is_decided_once_no_other_size_can_be_it() -> None:
    few, many = fit(rounds(4, 0.03, 0.1, 6)), fit(rounds(40, 0.01, 0.1, 6))
    assert not few.is_decided
    assert few.knee_from <= 7 <= few.knee_to
    # 6 loses 3.5 %: it may still be within 3 % of the best.
    assert (many.is_decided, many.knee, many.knee_from, many.knee_to) == (True, 7, 6, 7)
    assert {*many.worse} >= {1, 2, 3, 4, 5, 16}
    flat = fit([{1: 100.0, 2: 100.0 + at % 2} for at in range(8)])
    assert (flat.is_decided, flat.knee) == (True, 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "fewer than two sizes"),
        ([{4: 1.0}, {4: 2.0}], "fewer than two sizes"),
        ([{4: 1.0, 8: 2.0}], "1 of 1 rounds measured all sizes: want 2"),
        ([{4: 1.0, 8: 2.0}, {4: 1.0}], "1 of 2 rounds measured all sizes: want 2"),
    ],
)
def test_too_little_to_tell(given: list[dict[int, float]], said: str) -> None:
    with pytest.raises(SweepError, match=said):
        fit(given)


def test_a_start_that_was_not_measured_has_no_gain() -> None:
    assert fit(rounds(3, 0.01, 0.0, 2), start=99).gain is None
    assert fit(rounds(3, 0.01, 0.0, 2)).gain is None


def test_lines_to_paste() -> None:
    assert line(LINES["go"], 6) == "GOMAXPROCS=6"
    assert line(LINES["python"], 6) == "ThreadPoolExecutor(max_workers=6)"
    assert line(LINES["java"], 6) == "Executors.newFixedThreadPool(6)"
    assert line(LINES["rust"], 6) == "Pool::new(name, 6)"
    assert line(LINES["go-pool"], 6) == "tidscope.NewPool(name, 6)"
    assert len(LINES) == 5
    with pytest.raises(ValueError, match="size 0: want at least 1"):
        line(LINES["go"], 0)


BOUNDS = Bounds(1, 8)


def scaling(size: int) -> float:
    """Best at 5; 4 does 80 % of it."""
    return 1000 * (size / 5 if size <= 5 else 1 / (1 + 0.1 * (size - 5)))


def flat(_: int) -> float:
    return 1000.0


@dataclass
class Pool:
    """Does what its curve says."""

    sweep: Sweep
    curve: Callable[[int], float]
    noise: float = 0.01
    size: int = 8
    refuses: frozenset[int] = frozenset()
    at: int = 0
    chance: Random = field(default_factory=lambda: Random(7))
    sizes: list[int] = field(default_factory=list)

    def step(self, *, paused: bool = False, elsewhere: bool = False) -> Decision:
        self.at += 1
        self.sizes.append(self.size)
        progress = self.curve(self.size) * self.chance.gauss(1, self.noise)
        made = seen(progress, self.size, self.at, BOUNDS, INTERVAL_S)
        made = replace(made, paused=paused, probing_elsewhere=elsewhere)
        decided = self.sweep.observe(made)
        if decided.size not in self.refuses:
            self.size = decided.size
        return decided

    def run(self) -> Decision:
        decided = self.step()
        while not decided.release:
            decided = self.step()
        return decided

    @property
    def record(self) -> SweepRecord:
        found = self.sweep.record
        assert found is not None
        return found


def test_the_knee_is_found_and_the_size_restored() -> None:
    pool = Pool(Sweep(SweepSettings()), scaling)
    decided = pool.run()
    assert pool.sweep.verdict == "decided"
    assert decided.size == 8
    curve = pool.record.curve
    assert curve is not None
    assert (curve.best, curve.knee, curve.knee_from, curve.knee_to) == (5, 5, 5, 5)
    level = curve.points[4].ops_per_s / scaling(5)
    for point in curve.points:
        assert point.low < level * scaling(point.size) < point.high
    assert curve.gain is not None
    assert curve.gain.low < scaling(5) / scaling(8) - 1 < curve.gain.high
    assert decided.reason.startswith("5 is the smallest size within 3% of the best: ")
    assert "against size 8, after 4 rounds." in decided.reason


def test_it_ends_soon_and_is_bounded() -> None:
    """Four rounds of eight blocks of 2 s, each with an interval that is left out."""
    pool = Pool(Sweep(SweepSettings()), scaling)
    pool.run()
    assert pool.at * INTERVAL_S == 4 * 8 * 2.5
    noisy = Pool(Sweep(SweepSettings(most_s=120)), flat, noise=0.3)
    decided = noisy.run()
    assert noisy.sweep.verdict == "unsettled"
    assert noisy.at * INTERVAL_S == 120
    assert decided.reason.startswith("The knee is not settled after 120 s. ")


def test_sizes_that_are_surely_worse_are_measured_no_more() -> None:
    pool = Pool(
        Sweep(SweepSettings(most_s=600)),
        lambda size: 920.0 + 10 * size if size >= 4 else 100.0 * size,
        noise=0.06,
    )
    pool.run()
    record = pool.record
    assert record.dropped >= {1, 2, 3}
    assert 8 not in record.dropped
    assert max(len(found) for found in record.rounds) == 8
    assert record.rounds[-1].keys().isdisjoint({1, 2, 3})


def test_a_flat_program_needs_one_worker() -> None:
    pool = Pool(Sweep(SweepSettings()), flat)
    pool.run()
    assert pool.sweep.verdict == "decided"
    assert pool.record.curve is not None
    assert pool.record.curve.knee == 1


def test_harm_stops_it() -> None:
    settings = SweepSettings(most_s=100, loss=0.05)
    pool = Pool(Sweep(settings), lambda size: 1000.0 if size == 8 else 10.0)
    decided = pool.run()
    assert pool.sweep.verdict == "harmful"
    assert (decided.size, decided.release) == (8, True)
    # 5 s of work, and what an interval more loses.
    assert 5 < pool.record.lost_s <= 5.5
    assert decided.reason.startswith("Stopped: other sizes than 8 lost 5.")


def test_every_block_is_whole_and_leaves_the_change_out() -> None:
    pool = Pool(Sweep(SweepSettings()), scaling)
    for _ in range(5 * 8):
        pool.step()
    assert pool.sizes[:5] == [8] * 5
    assert {pool.sizes.count(size) for size in range(1, 9)} == {5}
    # An interval that does not count makes the block longer.
    size = pool.size
    pool.step(paused=True)
    for _ in range(4):
        assert pool.size == size
        pool.step()


def test_it_waits_at_its_own_size_while_another_program_explores() -> None:
    pool = Pool(Sweep(SweepSettings()), scaling)
    for _ in range(8):
        pool.step()
    wanted = pool.size
    decided = pool.step(elsewhere=True)
    assert (decided.size, decided.probing, decided.state) == (8, False, "sweep, waiting")
    assert pool.step().size == wanted
    pool.run()
    assert pool.sweep.verdict == "decided"


def test_a_size_that_cannot_be_had_is_named() -> None:
    pool = Pool(Sweep(SweepSettings()), scaling, refuses=frozenset({2}))
    decided = pool.run()
    assert pool.sweep.verdict == "decided"
    assert pool.record.refused == {2}
    assert decided.reason.endswith(" Cannot be set: 2.")
    assert pool.record.curve is not None
    assert [point.size for point in pool.record.curve.points] == [1, 3, 4, 5, 6, 7, 8]


def test_nothing_but_its_own_size_can_be_had() -> None:
    pool = Pool(Sweep(SweepSettings()), scaling, refuses=frozenset(range(1, 8)))
    decided = pool.run()
    assert pool.sweep.verdict == "unsettled"
    assert decided.reason.startswith("No curve after ")


def test_a_program_that_stands_still_gives_no_curve() -> None:
    pool = Pool(Sweep(SweepSettings(most_s=60)), lambda _: 0.0)
    decided = pool.run()
    assert pool.sweep.verdict == "unsettled"
    assert pool.record.discarded > 0
    assert decided.reason == "No curve after 60 s. 0 rounds measured."


def test_a_new_phase_discards_the_round_under_way() -> None:
    pool = Pool(Sweep(SweepSettings()), scaling)
    pool.sweep.restart("before it began")
    for _ in range(5 * 8 + 12):
        pool.step()
    pool.sweep.restart("new phase")
    assert (len(pool.record.rounds), pool.record.discarded) == (1, 1)
    pool.run()
    assert len(pool.record.rounds) == 4


def test_a_wide_range_is_sampled_and_the_start_is_among_it() -> None:
    wide = Bounds(1, 512)
    sweep = Sweep(SweepSettings(most_sizes=4))
    sweep.observe(seen(100.0, 100, 1, wide, INTERVAL_S))
    assert sweep.record is not None
    assert sweep.record.sizes == [1, 8, 64, 100, 512]


@pytest.mark.parametrize(("rounds", "words"), [(0, "0 rounds"), (1, "1 round")])
def test_words_before_there_is_a_curve(rounds: int, words: str) -> None:
    record = SweepRecord(SweepSettings(), 2, [1, 2])
    for _ in range(rounds):
        record.add_round({1: 1.0, 2: 2.0})
    assert describe_sweep(record) == f"{words} measured."
