"""kalman-kg: what it believes, when it moves, and that a dip does not move it."""

import math

import numpy as np
import pytest
from policy_harness import BOUNDS, flat, peak, pool
from tidscope_policies.algorithms.belief import Belief, Prior
from tidscope_policies.algorithms.change import ChangeDetector, NoiseMeter
from tidscope_policies.algorithms.kalman_kg import (
    MOST_SIZES,
    KalmanKg,
    KalmanKgParameters,
    candidates,
)
from tidscope_policies.contract import Bounds

PRIOR = Prior(length_scale=0.9, sd=0.12, drift=0.0, keep=0.8, disturbance_sd=0.0)
FOUND = 11
"""Intervals until the peak at 10 is found."""


def test_noiseless_peak() -> None:
    steered = pool("kalman-kg", peak(10))
    assert steered.run(16) == [14, 12, 10, 8, 6, 4, 6, 6, 8, 8, 10, 10, 10, 10, 10, 10]
    assert set(steered.run(200)) == {10}
    assert steered.last.state == "settled"
    assert steered.last.reason == "10 is expected to be the best; no other size is worth a trial."


@pytest.mark.parametrize("best", range(4, 17))
def test_any_noiseless_peak_is_found(best: int) -> None:
    steered = pool("kalman-kg", peak(best))
    steered.run(40)
    # A margin of 0.7 % is not worth a change; each thread off the peak costs 0.5 %.
    assert max(abs(size - best) for size in steered.run(100)) <= 1


def test_flat_curve_is_left_alone() -> None:
    steered = pool("kalman-kg", flat)
    steered.run(40)
    assert len(set(steered.run(200))) == 1


def test_one_dip_changes_no_decision() -> None:
    for begin in range(FOUND, 40):
        calm, dipped = pool("kalman-kg", peak(10)), pool("kalman-kg", peak(10))
        two = {begin: 0.05, begin + 1: 0.4}
        assert dipped.run(120, dips=two) == calm.run(120), begin


def test_one_dip_while_it_searches_only_costs_its_intervals() -> None:
    calm, dipped = pool("kalman-kg", peak(10)), pool("kalman-kg", peak(10))
    assert dipped.run(17, dips={3: 0.05}) == [14, 12, 10, 10, *calm.run(16)[3:]]


def test_without_the_gate_one_interval_far_off_changes_nothing_either() -> None:
    """The filter leaves out what is four standard deviations off, once."""
    calm, dipped = pool("kalman-kg", peak(10)), pool("kalman-kg", peak(10))
    calm.policy, dipped.policy = (KalmanKg(KalmanKgParameters()) for _ in range(2))
    assert dipped.run(120, dips={30: 0.05}) == calm.run(120)


def test_phase_change_is_detected_and_followed() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.curve = lambda size: 0.6 * peak(5)(size)
    steered.run(30)
    assert any("entered a new phase" in each.reason for each in steered.decisions[60:])
    assert set(steered.run(60)) <= {4, 5, 6}


def test_new_phase_is_detected_after_three_intervals() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.curve = lambda size: 1.4 * peak(10)(size)
    steered.run(3)
    assert not any("new phase" in each.reason for each in steered.decisions[60:62])
    assert steered.last.reason.startswith(
        "The program entered a new phase: earlier measurements are discarded. "
    )


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
    steered.run(40)
    assert set(steered.run(60)) <= {9, 10, 11}


def test_searching_never_stops_for_good() -> None:
    """Doubt about sizes not measured for long returns, and with it the wish to measure them."""
    steered = pool("kalman-kg", peak(10), drift=1e-4)
    sizes = steered.run(1500)
    assert len(set(sizes[100:])) > 1
    # Between the tries it rests where it is good.
    assert sum(abs(size - 10) <= 1 for size in sizes[100:]) > 1100


def test_another_hand_on_the_knob() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.size = 15
    assert steered.step(moved_by_other=True) == 15
    assert steered.last.state == "holding"
    assert abs(steered.run(5)[-1] - 10) <= 2


def test_bounds_that_change() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.bounds = Bounds(4, 7)
    assert steered.run(1) == [7]
    assert set(steered.run(100)) <= {4, 5, 6, 7}
    assert steered.last.size in (6, 7)
    steered.bounds = Bounds(12, 12)
    assert set(steered.run(10)) == {12}


def test_many_sizes_are_thinned_out() -> None:
    assert candidates(BOUNDS) == list(BOUNDS.sizes)
    wide = candidates(Bounds(1, 1024))
    assert (wide[0], wide[-1]) == (1, 1024)
    assert len(wide) <= MOST_SIZES
    assert wide == sorted(set(wide))
    steered = pool("kalman-kg", lambda size: 1000 - 60 * abs(math.log2(size / 200)), in_force=500)
    steered.bounds = Bounds(1, 1024)
    steered.run(150)
    assert 120 < steered.last.size < 330


def test_no_progress_is_nothing_to_learn_from() -> None:
    steered = pool("kalman-kg", lambda _: 0.0)
    assert steered.run(5) == [16] * 5
    assert steered.last.state == "holding"


def test_a_measurement_tells_of_its_neighbours_but_not_of_the_level() -> None:
    belief = Belief(range(4, 17), PRIOR)
    belief.take_in(10, 7.0, 1e-4)
    assert belief.means == pytest.approx(np.full(13, 7.0), abs=0.01)
    belief.take_in(8, 7.2, 1e-4)
    assert belief.best < 8
    near, far = belief.means[4], belief.means[12]
    assert near == pytest.approx(7.2, abs=0.015)
    assert belief.means[6] == pytest.approx(7.0, abs=0.015)
    assert far < 7.0


def test_a_filter_of_one_size_is_the_mean_of_what_was_measured() -> None:
    belief = Belief([8], PRIOR)
    for value in (1.0, 2.0, 6.0):
        belief.take_in(8, value, 0.01)
    assert belief.means[0] == pytest.approx(3.0, abs=0.01)
    difference, variance = belief.surprise(8, 4.0, 0.01)
    assert difference == pytest.approx(1.0, abs=0.01)
    # What is left of the doubt is a third of the noise of one measurement.
    assert variance == pytest.approx(0.01 + 0.01 / 3, rel=0.01)


def test_a_disturbance_fades() -> None:
    prior = Prior(length_scale=0.9, sd=0.12, drift=0.0, keep=0.5, disturbance_sd=0.1)
    belief = Belief([8], prior)
    for _ in range(200):
        belief.elapse()
        belief.take_in(8, 5.0, 1e-4)
    belief.elapse()
    belief.take_in(8, 5.4, 1e-4)
    assert belief.means[0] == pytest.approx(5.0, abs=0.02)
    expected = [-belief.surprise(8, 0.0, 1e-4)[0] - 5.0]
    for _ in range(2):
        belief.elapse()
        expected.append(-belief.surprise(8, 0.0, 1e-4)[0] - 5.0)
    assert expected == pytest.approx([0.4, 0.2, 0.1], abs=0.03)


def test_the_knowledge_gradient_of_two_sizes() -> None:
    """Against E[max] of two independent normal values, which is known in closed form."""
    belief = Belief([1, 1024], Prior(0.3, 0.2, 0.0, 0.8, 0.0))
    belief.take_in(1, 5.0, 1e-9)
    worths = belief.means.copy()
    gains = belief.knowledge_gradients(worths, 1e-9, 1)
    # The first is known. The second differs by a normal value of sd sqrt(2) * 0.2.
    assert gains[0] == pytest.approx(0.0, abs=1e-4)
    assert gains[1] == pytest.approx(math.sqrt(2) * 0.2 / math.sqrt(2 * math.pi), rel=0.1)


def test_numbers_stay_sound_for_hours() -> None:
    belief = Belief(range(4, 17), Prior(0.8, 0.13, 1e-5, 0.92, 0.01))
    for at in range(10_000):
        size = 10 if at % 100 else 4 + at // 100 % 13
        belief.elapse()
        belief.take_in(size, 7.0, 1e-4)
    variances = [belief.surprise(size, 7.0, 0.0)[1] for size in belief.sizes]
    assert all(0 < variance < 0.03 for variance in variances)
    assert belief.means == pytest.approx(np.full(13, 7.0), abs=1e-3)


def test_cusum_sums_surprises_above_its_slack() -> None:
    detector = ChangeDetector(slack=0.5, threshold=8.0)
    assert [detector.update(2.5) for _ in range(5)] == [False, False, False, False, True]
    assert not any(detector.update(0.5) for _ in range(1000))
    assert not any(detector.update((-1.0) ** at) for at in range(1000))
    detector.reset()
    assert [detector.update(-4.0) for _ in range(3)] == [False, False, True]


def test_noise_is_the_median_absolute_surprise() -> None:
    meter = NoiseMeter(0.03, 0.01, 0.3)
    for _ in range(9):
        meter.update(5.0)
    assert meter.variance == pytest.approx(0.03**2)
    for at in range(60):
        meter.update((-1) ** at * 0.02)
    assert meter.variance == pytest.approx((1.4826 * 0.02) ** 2)
    for _ in range(60):
        meter.update(0.0)
    assert meter.variance == pytest.approx(0.01**2)
