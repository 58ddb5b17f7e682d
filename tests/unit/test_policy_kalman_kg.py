"""kalman-kg: what it searches, when it rests, and what makes it search again."""

import math
from functools import partial
from itertools import pairwise

import pytest
from policy_harness import BOUNDS, Pool, flat, peak, pool
from tidscope_policies.algorithms.kalman_kg import KalmanKg, KalmanKgParameters
from tidscope_policies.algorithms.search import MAX_SIZES, candidates
from tidscope_policies.contract import Bounds

SEARCH = [8, 8, 4, 4, 6, 6, 10, 10, 7, 7, 10, 10, 4, 4]
"""What it does about a peak at 10; then it rests there."""
SLOT = 25
"""Intervals from one trial to the next."""


def rests(steered: Pool, sizes: list[int]) -> set[int]:
    """Sizes outside of trials."""
    states = steered.states()[-len(sizes) :]
    return {
        size for size, state in zip(sizes, states, strict=True) if state in ("settled", "exploring")
    }


def test_noiseless_peak() -> None:
    steered = pool("kalman-kg", peak(10))
    assert steered.run(len(SEARCH)) == SEARCH
    assert steered.run(10) == [10] * 10
    assert steered.last.state == "settled"
    # The first trial, by the clock: two intervals at a larger size, two at a smaller one, and back.
    assert steered.run(5) == [12, 12, 8, 8, 10]


@pytest.mark.parametrize("best", range(4, 17))
def test_any_noiseless_peak_is_found(best: int) -> None:
    steered = pool("kalman-kg", peak(best))
    steered.run(60)
    # A margin of 1 % is not worth a change; each thread off the peak costs 0.5 %.
    sizes = steered.run(SLOT)
    assert abs(max(set(sizes), key=sizes.count) - best) <= 3


def test_flat_curve_is_left_alone() -> None:
    steered = pool("kalman-kg", flat)
    steered.run(SLOT - 1)
    sizes = steered.run(10 * SLOT)
    usual = max(set(sizes), key=sizes.count)
    assert sizes.count(usual) >= 8 * SLOT
    assert {
        size
        for size, state in zip(sizes, steered.states()[-len(sizes) :], strict=True)
        if state == "exploring"
    } == set()


def test_one_dip_in_a_rest_changes_no_decision() -> None:
    calm = pool("kalman-kg", peak(10)).run(150)
    for begin in range(len(SEARCH) + 2, 60):
        dipped = pool("kalman-kg", peak(10))
        assert dipped.run(150, dips={begin: 0.05, begin + 1: 0.4}) == calm, begin


@pytest.mark.parametrize("begin", range(len(SEARCH)))
def test_one_dip_while_it_searches_does_not_mislead_it(begin: int) -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(SLOT - 1, dips={begin: 0.05})
    assert steered.last.state == "settled"
    assert peak(10)(steered.size) >= 0.98 * peak(10)(10)


def test_without_the_gate_one_interval_far_off_changes_nothing_either() -> None:
    calm, dipped = pool("kalman-kg", peak(10)), pool("kalman-kg", peak(10))
    calm.policy, dipped.policy = (KalmanKg(KalmanKgParameters()) for _ in range(2))
    assert dipped.run(120, dips={40: 0.05}) == calm.run(120)
    assert any("odd" in each.reason for each in dipped.decisions)


def test_a_change_of_level_and_curve_is_noticed_and_followed() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.curve = lambda size: 0.6 * peak(5)(size)
    steered.run(2)
    assert steered.decisions[60].reason == "The last interval is odd, and not counted."
    assert steered.last.reason.startswith("The program changed. ")
    steered.run(10)
    assert rests(steered, steered.run(12)) <= {4, 5, 6}


def test_after_a_change_of_the_level_alone_it_comes_back() -> None:
    def steep(size: int) -> float:
        return 1000.0 - 30.0 * abs(size - 10)

    steered = pool("kalman-kg", steep)
    steered.run(60)
    steered.curve = lambda size: 1.6 * steep(size)
    steered.run(12)
    assert rests(steered, steered.run(10)) <= {8, 9, 10, 11, 12}


def test_a_best_size_that_moves_unseen_is_found_by_a_trial() -> None:
    def moved(size: int) -> float:
        return 1000.0 * (1 + 0.04 * (min(size, 14) - 10))

    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    assert moved(10) == peak(10)(10)
    steered.curve = moved
    sizes = steered.run(5 * SLOT)
    assert sizes[-1] in (13, 14, 15, 16)


def test_the_size_is_found_while_the_level_swings() -> None:
    def swinging(level: float, size: int) -> float:
        return level * (1000 - 60 * abs(size - 9))

    steered = pool("kalman-kg", flat)
    sizes = []
    for at in range(300):
        level = 1 + 0.3 * math.sin(2 * math.pi * at / 45)
        steered.curve = partial(swinging, level)
        sizes.append(steered.step())
    later = sizes[60:]
    assert sum(abs(size - 9) <= 1 for size in later) > 0.7 * len(later)
    assert sum(one != other for one, other in pairwise(later)) <= 24


def test_two_peaks() -> None:
    def curve(size: int) -> float:
        return max(1000.0 - 30 * abs(size - 14), 1250.0 - 80 * abs(size - 5))

    steered = pool("kalman-kg", curve)
    sizes = steered.run(60)
    assert sizes[-1] in (4, 5, 6)


def test_one_thread_is_the_best() -> None:
    steered = pool("kalman-kg", lambda size: 1000.0 / size)
    steered.bounds = Bounds(1, 16)
    sizes = steered.run(200)
    assert sizes.index(1) <= 12
    assert sizes[20:].count(1) > 160


def test_restart_discards_earlier_measurements() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.policy.restart("a person asked")
    assert steered.step() != 10
    assert steered.last.state == "exploring"
    assert steered.last.probing
    assert steered.last.reason.startswith(
        "The search restarts (a person asked): earlier measurements are discarded. "
    )


def test_changes_of_size_are_rationed() -> None:
    """Even where no two intervals are alike: 16 at once, and then one in 12 intervals."""

    def even(level: float, _: int) -> float:
        return level

    steered = pool("kalman-kg", flat)
    sizes = [16]
    for at in range(600):
        level = 1000.0 * (1 + (at * 0.618034) % 1.0)
        steered.curve = partial(even, level)
        sizes.append(steered.step())
    changes = sum(one != other for one, other in pairwise(sizes))
    assert changes <= 16 + 600 / 12 + 2


def test_another_hand_on_the_knob() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.size = 15
    assert steered.step(moved_by_other=True) == 15
    assert steered.last.state == "holding"
    assert abs(steered.run(10)[-1] - 10) <= 2


def test_a_trial_that_is_not_its_turn_is_left_out() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(24)
    assert steered.step() == 12
    steered.size = 10
    assert steered.run(20) == [10] * 20


def test_bounds_that_change() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.bounds = Bounds(4, 7)
    assert steered.run(1) == [7]
    sizes = steered.run(100)
    assert set(sizes) <= {4, 5, 6, 7}
    # Twice the threads have to bring 1 %: from 5 to 7 that is as much as they bring.
    assert max(set(sizes), key=sizes.count) in (5, 6, 7)
    steered.bounds = Bounds(12, 12)
    assert set(steered.run(60)) == {12}


def test_many_sizes_are_thinned_out() -> None:
    assert candidates(BOUNDS) == list(BOUNDS.sizes)
    assert candidates(BOUNDS, apart=1.2) == [4, 5, 6, 7, 8, 10, 12, 14, 16]
    wide = candidates(Bounds(1, 1024))
    assert (wide[0], wide[-1]) == (1, 1024)
    assert len(wide) <= MAX_SIZES
    assert wide == sorted(set(wide))
    steered = pool("kalman-kg", lambda size: 1000 - 60 * abs(math.log2(size / 200)), in_force=500)
    steered.bounds = Bounds(1, 1024)
    sizes = steered.run(150)
    assert 120 < max(set(sizes), key=sizes.count) < 330


def test_no_progress_is_nothing_to_learn_from() -> None:
    steered = pool("kalman-kg", lambda _: 0.0)
    assert steered.run(5) == [16] * 5
    assert steered.last.state == "holding"
