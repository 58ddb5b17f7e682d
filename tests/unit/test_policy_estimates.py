"""Estimates of policies: curves, linear fits and trials."""

import math

import numpy as np
import pytest
from policy_harness import flat, peak, pool
from tidscope_policies.algorithms.curves import Curves, Kind, Level, Wandering
from tidscope_policies.algorithms.linear import Linear, LinearParameters
from tidscope_policies.algorithms.trials import AFTER, LONGEST, Trials
from tidscope_policies.contract import Bounds, Peers

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
    # The remaining uncertainty is a third of the noise of one measurement.
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
    belief.split(0.5)
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
    """A missing interval changes only what it is part of."""
    calm, dipped = Wandering(0.03, 0.0, 0.01), Wandering(0.03, 0.0, 0.01)
    for at in range(400):
        calm.update(8, 0.01 * at)
        if at % 5 == 0:
            dipped.skip()
        else:
            dipped.update(8, 0.01 * at)
    assert dipped.level.variance == pytest.approx(calm.level.variance, rel=0.1)


DOWN = list(range(16, 3, -1))


def test_noiseless_peak() -> None:
    linear = pool("linear", peak(10))
    # 10 s of warm-up are five intervals, the last of which ends the warm-up.
    assert linear.run(20) == [16, 16, 16, 16, *DOWN, 10, 10, 10]
    assert linear.states()[:4] == ["warming up"] * 4
    assert linear.states()[4:17] == ["exploring"] * 13
    assert linear.states()[17:] == ["settled"] * 3


def test_the_best_is_taken_at_once_after_the_lowest_was_measured() -> None:
    linear = pool("linear", peak(10), warm_up_s=0)
    sizes = linear.run(14)
    assert sizes.count(4) == 1
    assert sizes[-1] == 10


def test_flat_curve_takes_the_lowest_of_equals() -> None:
    assert pool("linear", flat, warm_up_s=0).run(15)[-2:] == [4, 4]


def test_a_restart_does_not_credit_the_first_size_with_the_history() -> None:
    """The printed version compares all operations since the start with those of an interval."""
    policy = Linear(LinearParameters())
    linear = pool("linear", peak(10), warm_up_s=0)
    linear.policy = policy
    linear.run(14)
    policy.restart("a person asked")
    assert linear.run(14) == [*DOWN, 10]
    assert policy.buckets[16] == peak(10)(16)
    assert linear.decisions[14].reason == ("The search restarts: a person asked; 16 is tried next.")


def test_the_time_before_the_search_is_in_no_bucket() -> None:
    policy = Linear(LinearParameters())
    linear = pool("linear", peak(10))
    linear.policy = policy
    linear.step(left=50.0)
    assert policy.buckets == {}
    linear.step()
    assert policy.buckets == {16: peak(10)(16)}


def test_restart_in_the_middle_begins_at_the_top() -> None:
    linear = pool("linear", peak(10), warm_up_s=0)
    assert linear.run(5) == DOWN[:5]
    linear.policy.restart("another program joined")
    assert linear.run(14) == [*DOWN, 10]


def test_a_phase_change_is_seen_after_a_restart_only() -> None:
    linear = pool("linear", peak(10), warm_up_s=0)
    linear.run(14)
    linear.curve = peak(6)
    assert set(linear.run(50)) == {10}
    linear.policy.restart("the program entered a new phase")
    assert linear.run(14)[-1] == 6


def test_one_dip_can_mislead_it() -> None:
    """A property of the algorithm: each size is measured once."""
    linear = pool("linear", peak(10), warm_up_s=0)
    assert linear.run(14, dips={7: 0.05})[-1] == 9
    assert linear.run(5, dips={2: 0.05}) == [9] * 5


def test_an_interval_with_another_hand_on_the_knob_is_measured_again() -> None:
    linear = pool("linear", peak(10), warm_up_s=0)
    assert linear.run(3) == [16, 15, 14]
    linear.size = 6
    assert linear.step(moved_by_other=True) == 14
    assert linear.run(11) == [*DOWN[3:], 10]
    assert sorted(linear.run(1)) == [10]


def test_it_waits_for_its_turn() -> None:
    linear = pool("linear", peak(10), warm_up_s=0)
    assert linear.step(probing_elsewhere=True) == 16
    assert linear.last.state == "waiting"
    assert not linear.last.probing
    assert linear.run(2) == [16, 15]
    assert linear.last.probing
    assert linear.step(probing_elsewhere=True) == 15
    assert linear.run(11) == DOWN[2:]


def test_bounds_and_the_lowest_size_tried() -> None:
    linear = pool("linear", peak(10), warm_up_s=0, lowest=8)
    assert linear.run(10) == [16, 15, 14, 13, 12, 11, 10, 9, 8, 10]
    linear.bounds = Bounds(12, 14)
    assert linear.run(1) == [12]


def test_narrower_bounds_in_the_middle_of_a_search() -> None:
    linear = pool("linear", peak(10), warm_up_s=0)
    linear.run(3)
    linear.bounds = Bounds(4, 8)
    assert linear.run(7) == [8, 8, 7, 6, 5, 4, 8]


def test_a_quarter_of_the_highest_is_the_lowest_by_itself() -> None:
    linear = pool("linear", flat, in_force=32, warm_up_s=0)
    linear.bounds = Bounds(1, 32)
    assert min(linear.run(40)) == 8


def test_sizes_on_the_plateau_are_as_good_as_the_best() -> None:
    for plateau, chosen in ((0.0, 10), (0.01, 8), (0.021, 6)):
        assert pool("linear", peak(10), warm_up_s=0, plateau=plateau).run(14)[-1] == chosen


def test_with_the_dip_gate_a_dip_does_not_mislead_it() -> None:
    linear = pool("linear", peak(10), warm_up_s=0, dip_gate=1)
    assert linear.run(15, dips={7: 0.05})[-1] == 10


def test_bounds_by_the_number_of_programs() -> None:
    linear = pool("linear", peak(16), warm_up_s=0, share=0.5)
    sizes = [linear.step(peers=Peers(2, 7.0)) for _ in range(12)]
    assert (max(sizes), min(sizes), sizes[-1]) == (11, 6, 11)


LOSSES = dict.fromkeys(range(4, 17), 0.0)
QUIET = 0.03**2


def run(trials: Trials, begin: int, intervals: int, noise: float = QUIET) -> list[int]:
    """Sizes, where the trials of a rest have their way."""
    sizes = []
    for at in range(begin, begin + intervals):
        trials.passed(2.0 * at, noise, may=True)
        sizes.append(trials.size)
    return sizes


def test_there_and_back() -> None:
    trials = Trials(LOSSES, 10, 20.0, 2.0)
    assert run(trials, 1, 9) == [10] * 9
    assert run(trials, 10, 5) == [13, 13, 8, 8, 10]
    assert run(trials, 15, 5) == [10] * 5
    assert run(trials, 20, 5) == [16, 16, 6, 6, 10]


def test_each_leg_is_judged() -> None:
    trials = Trials(LOSSES, 10, 20.0, 2.0)
    judged = [at for at in range(1, 20) if trials.passed(2.0 * at, QUIET, may=True)]
    assert judged == [12, 14, 14 + AFTER]


def test_at_the_edge_there_is_one_side() -> None:
    trials = Trials(LOSSES, 16, 20.0, 2.0)
    assert run(trials, 1, 13)[9:] == [13, 13, 16, 16]


def test_where_there_is_one_size_there_is_no_trial() -> None:
    trials = Trials({7: 0.0}, 7, 20.0, 2.0)
    assert run(trials, 1, 40) == [7] * 40


def test_where_a_step_loses_much_it_is_shorter() -> None:
    steep = {size: 0.04 * abs(size - 10) for size in LOSSES}
    assert set(run(Trials(steep, 10, 40.0, 2.0), 1, 100)) == {9, 10, 11}


def test_what_loses_much_is_tried_less_often() -> None:
    cheap, dear = ({**LOSSES, 9: loss} for loss in (0.0, 0.3))
    often, seldom = (
        run(Trials({8: 1.0, **losses}, 10, 20.0, 2.0), 1, 1200).count(9)
        for losses in (cheap | {8: 1.0}, dear | {8: 1.0})
    )
    assert often > 0
    assert often / LONGEST <= 1.5 * seldom < often


def test_noise_makes_it_longer() -> None:
    sizes = run(Trials(LOSSES, 10, 60.0, 2.0), 1, 45, noise=0.1**2)
    assert sizes[29:38] == [13] * 4 + [8] * 4 + [10]


def test_it_may_be_kept_from_trying() -> None:
    trials = Trials(LOSSES, 10, 20.0, 2.0)
    for at in range(1, 60):
        assert not trials.passed(2.0 * at, QUIET, may=False)
        assert trials.size == 10


def test_it_is_abandoned_where_the_size_was_not_set() -> None:
    trials = Trials(LOSSES, 10, 20.0, 2.0)
    run(trials, 1, 10)
    assert trials.is_away
    trials.abandon()
    assert not trials.is_away
    assert run(trials, 11, 5) == [10] * 5
