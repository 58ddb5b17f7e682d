"""Trials by the clock: there and back, compared with before and after, soon forgotten."""

import pytest
from tidscope_policies.algorithms.trials import REMEMBERED, Trials
from tidscope_policies.algorithms.wandering import Wandering

LOSSES = dict.fromkeys(range(4, 17), 0.0)


def run(trials: Trials, values: dict[int, float], begin: int, intervals: int) -> list[int]:
    """Sizes, where each size does what `values` says; the others 7."""
    noise = Wandering(0.03, 0.0, 0.01)
    sizes = []
    for at in range(begin, begin + intervals):
        value = values.get(trials.size, 7.0)
        trials.passed(2.0 * at, value, noise, may=True)
        sizes.append(trials.size)
    return sizes


def test_there_and_back_and_the_other_way() -> None:
    trials = Trials(LOSSES, 10, 20.0, 2.0)
    sizes = run(trials, {}, 1, 40)
    assert sizes[8:12] == [10, 8, 8, 10]
    assert sizes[18:22] == [10, 16, 16, 10]
    assert sizes[28:32] == [10, 6, 6, 10]


def test_what_it_showed() -> None:
    trials = Trials(LOSSES, 10, 20.0, 2.0)
    run(trials, {8: 7.2}, 1, 13)
    assert not trials.contrasts
    run(trials, {}, 14, 1)
    (found,) = trials.contrasts
    assert (found.at_s, found.size) == (28.0, 8)
    assert found.value == pytest.approx(0.2)
    assert found.variance == pytest.approx(0.03**2 * 0.75, rel=0.3)


def test_a_level_that_climbs_evenly_is_no_difference() -> None:
    trials, noise = Trials(LOSSES, 10, 20.0, 2.0), Wandering(0.03, 0.0, 0.01)
    for at in range(1, 15):
        trials.passed(2.0 * at, 0.05 * at, noise, may=True)
    assert trials.contrasts[0].value == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("missing", range(8, 16))
def test_a_missing_interval_voids_the_trial_and_moves_nothing(missing: int) -> None:
    trials, noise = Trials(LOSSES, 10, 20.0, 2.0), Wandering(0.03, 0.0, 0.01)
    sizes = []
    for at in range(1, 30):
        trials.passed(2.0 * at, None if at == missing else 7.0, noise, may=True)
        sizes.append(trials.size)
    assert sizes == run(Trials(LOSSES, 10, 20.0, 2.0), {}, 1, 29)
    assert len(trials.contrasts) == (2 if missing in (8, 15) else 1)


def test_few_are_remembered() -> None:
    trials = Trials(LOSSES, 10, 20.0, 2.0)
    run(trials, {}, 1, 10 * (REMEMBERED + 5))
    assert len(trials.contrasts) == REMEMBERED


def test_what_loses_much_is_tried_less_often() -> None:
    cheap, dear = ({**LOSSES, 8: loss} for loss in (0.01, 0.3))
    often, seldom = (
        run(Trials(losses, 10, 20.0, 2.0), {}, 1, 400).count(8) for losses in (cheap, dear)
    )
    assert often == 20
    assert 0 < seldom <= 4


def test_noise_makes_it_longer() -> None:
    trials, noise = Trials(LOSSES, 10, 60.0, 2.0), Wandering(0.03, 0.0, 0.01)
    noise.least = 0.1**2
    sizes = []
    for at in range(1, 60):
        trials.passed(2.0 * at, 7.0, noise, may=True)
        sizes.append(trials.size)
    assert sizes[29:34] == [8, 8, 8, 8, 10]


def test_it_may_be_kept_from_trying() -> None:
    trials, noise = Trials(LOSSES, 10, 20.0, 2.0), Wandering(0.03, 0.0, 0.01)
    for at in range(1, 60):
        trials.passed(2.0 * at, 7.0, noise, may=False)
        assert trials.size == 10


def test_it_is_abandoned_where_the_size_was_not_set() -> None:
    trials = Trials(LOSSES, 10, 20.0, 2.0)
    run(trials, {}, 1, 10)
    assert trials.is_away
    trials.abandon()
    assert not trials.is_away
    assert run(trials, {}, 11, 5) == [10] * 5
    assert not trials.contrasts
