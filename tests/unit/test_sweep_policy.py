"""A sweep of pools whose throughput at each size is known."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from policy_harness import seen
from tidscope_policies.contract import Bounds, Decision
from tidscope_policies.sweep.record import SweepRecord, SweepSettings
from tidscope_policies.sweep.sentences import describe
from tidscope_policies.sweep.sweep import INTERVAL_S, Sweep

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
    assert describe(record) == f"{words} measured."
