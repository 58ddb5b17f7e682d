"""What is believed about sizes: curves side by side, and which is right."""

import math

import numpy as np
import pytest
from tidscope_policies.algorithms.curves import Curves, Kind, Level, Wandering

SMOOTH = Kind(0.9, 0.12, 0.0, 1.0)
STILL = Level(0.0, 0.9)


def curves(*kinds: Kind, sizes: range = range(4, 17), drift: float = 0.0) -> Curves:
    return Curves(sizes, drift, kinds or (SMOOTH,))


def test_a_measurement_tells_of_its_neighbours_but_not_of_the_level() -> None:
    belief = curves()
    belief.take_in(10, 7.0, 1e-4)
    assert belief.means == pytest.approx(np.zeros(13), abs=0.01)
    belief.take_in(8, 7.2, 1e-4)
    assert belief.best < 8
    means = dict(zip(belief.sizes, belief.means, strict=True))
    assert means[8] - means[10] == pytest.approx(0.2, abs=0.03)
    assert means[16] < means[10]


def test_surprise_is_the_distance_from_what_is_expected() -> None:
    belief = curves(sizes=range(8, 9))
    for value in (1.0, 2.0, 6.0):
        belief.take_in(8, value, 0.01)
    difference, variance = belief.surprise(8, 4.0, 0.01)
    assert difference == pytest.approx(1.0, abs=0.01)
    # What is left of the doubt is a third of the noise of one measurement.
    assert variance == pytest.approx(0.01 + 0.01 / 3, rel=0.01)


def test_sizes_measured_long_after_one_another_are_as_hard_to_compare_as_the_level_wanders() -> (
    None
):
    def doubt(intervals: float, variance: float) -> float:
        belief, level = curves(), Level(variance, 0.99)
        belief.elapse(1000.0, level)
        belief.take_in(4, 7.0, 1e-4)
        belief.elapse(intervals, level)
        belief.take_in(16, 7.0, 1e-4)
        return belief.doubt(0, 12)

    assert doubt(1, 0.05**2) == pytest.approx(math.sqrt(2e-4 + 0.02 * 0.05**2), rel=0.1)
    assert doubt(1000, 0.05**2) == pytest.approx(0.05 * math.sqrt(2), rel=0.1)
    assert doubt(1000, 0.0) == pytest.approx(math.sqrt(2e-4), rel=0.1)


def test_the_kind_that_predicts_best_gets_the_weight() -> None:
    belief = curves(Kind(0.9, 0.05, 0.0, 0.5), Kind(0.9, 1.0, 0.0, 0.5))
    for size, value in ((16, 7.0), (8, 7.5), (4, 8.1)):
        belief.take_in(size, value, 1e-4)
    assert belief.weights[1] > 0.95
    small = curves(Kind(0.9, 0.05, 0.0, 0.5), Kind(0.9, 1.0, 0.0, 0.5))
    for size, value in ((16, 7.0), (8, 7.01), (4, 6.99)):
        small.take_in(size, value, 1e-4)
    assert small.weights[0] > 0.8


@pytest.mark.parametrize("same", [True, False])
def test_after_a_jump_the_old_curve_stays_until_a_measurement_speaks_against_it(
    same: bool,
) -> None:
    belief = curves()
    for size, value in ((16, 7.0), (10, 7.3), (4, 6.9)):
        belief.take_in(size, value, 1e-4)
    belief.split(0.5, jumped=True)
    belief.take_in(10, 9.3, 1e-4)
    assert belief.weights[-1] == pytest.approx(0.5, abs=0.05)
    belief.take_in(16, 9.0 if same else 9.5, 1e-4)
    assert (belief.weights[-1] > 0.9) == same
    assert (belief.weights[-1] < 0.1) == (not same)
    assert (belief.best in (8, 9, 10, 11)) == same


def test_without_the_level_differences_stay() -> None:
    belief = curves()
    belief.take_in(10, 7.0, 1e-4)
    belief.take_in(8, 7.2, 1e-4)
    before = belief.means.copy()
    belief.relevel(3.0)
    assert belief.surprise(10, 3.0, 0.0)[1] > 20
    belief.take_in(10, 3.0, 1e-4)
    assert belief.means == pytest.approx(before, abs=1e-3)


def test_the_knowledge_gradient_of_two_sizes() -> None:
    """Against E[max] of two independent normal values, which is known in closed form."""
    belief = Curves([1, 1024], 0.0, (Kind(0.3, 0.2, 0.0, 1.0),))
    belief.take_in(1, 5.0, 1e-9)
    gains, counts = belief.gradients(belief.means.copy(), 1e-9, STILL, 2)
    # The first is known. The second differs by a normal value of sd sqrt(2) * 0.2.
    assert gains[0] == pytest.approx(0.0, abs=1e-3)
    # Two measurements are the fewest, so each of them is worth half.
    assert counts[1] == 2
    assert 2 * gains[1] == pytest.approx(math.sqrt(2) * 0.2 / math.sqrt(2 * math.pi), rel=0.1)


def test_noisy_sizes_are_measured_longer() -> None:
    belief = Curves([1, 1024], 0.0, (Kind(0.3, 0.05, 0.0, 1.0),))
    belief.take_in(1, 5.0, 1e-9)
    worths = belief.means - np.array([0.0, 0.1])
    counts = [int(belief.gradients(worths, sd**2, STILL, 32)[1][1]) for sd in (0.01, 0.3)]
    assert counts[0] < counts[1]


def test_numbers_stay_sound_for_hours() -> None:
    belief = Curves(range(4, 17), 2e-3)
    for at in range(5000):
        size = 10 if at % 100 else 4 + at // 100 % 13
        belief.elapse(1.0, Level(1e-4, 0.95))
        belief.take_in(size, 7.0, 1e-4)
    variances = [belief.surprise(size, 7.0, 0.0)[1] for size in belief.sizes]
    assert all(0 < variance < 0.5 for variance in variances)
    assert belief.means == pytest.approx(np.zeros(13), abs=0.05)


@pytest.mark.parametrize(("noise_sd", "level_sd", "keep"), [(0.05, 0.0, 0.9), (0.02, 0.06, 0.8)])
def test_noise_and_level_are_separated(noise_sd: float, level_sd: float, keep: float) -> None:
    stream = np.random.default_rng(1)
    meter, level = Wandering(0.03, 0.01, 0.01), 0.0
    for _ in range(400):
        level = keep * level + math.sqrt(1 - keep * keep) * float(stream.normal(0, level_sd))
        meter.update(8, level + float(stream.normal(0, noise_sd)))
    assert math.sqrt(meter.noise) == pytest.approx(noise_sd, rel=0.6)
    assert math.sqrt(meter.level.variance) == pytest.approx(level_sd, rel=0.5, abs=0.03)


def test_a_level_that_swings_is_followed_from_interval_to_interval() -> None:
    meter = Wandering(0.03, 0.01, 0.01)
    for at in range(200):
        meter.update(8, 0.3 * math.sin(2 * math.pi * at / 45))
    assert math.sqrt(meter.level.step) > 0.03
    assert meter.level.variance > 0.1**2


def test_a_few_odd_measurements_do_not_move_the_noise() -> None:
    stream = np.random.default_rng(2)
    values = stream.normal(0, 0.04, 200)
    calm, odd = Wandering(0.03, 0.01, 0.01), Wandering(0.03, 0.01, 0.01)
    for at, value in enumerate(values):
        calm.update(8, float(value))
        odd.update(8, float(value) - 3.0 * (at == 150))
    assert odd.noise == calm.noise
    assert calm.noise > 0.01**2


def test_few_operations_are_noisy_in_any_case() -> None:
    meter = Wandering(0.03, 0.01, 0.01)
    meter.least = 0.25
    assert meter.noise == 0.25


def test_measurements_before_a_change_are_compared_with_nothing() -> None:
    meter = Wandering(0.03, 0.0, 0.01)
    first = meter.noise
    for at in range(50):
        meter.update(8 + at % 2, 100.0 * at)
    assert meter.noise == first


def test_an_interval_that_says_nothing_keeps_the_others_apart() -> None:
    """So one that is missing changes nothing but what it is part of."""
    calm, dipped = Wandering(0.03, 0.0, 0.01), Wandering(0.03, 0.0, 0.01)
    for at in range(400):
        calm.update(8, 0.01 * at)
        if at % 5 == 0:
            dipped.skip()
        else:
            dipped.update(8, 0.01 * at)
    assert dipped.level.variance == pytest.approx(calm.level.variance, rel=0.1)
