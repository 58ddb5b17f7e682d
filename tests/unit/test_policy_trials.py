"""Trials by the clock: one larger, one smaller, and back."""

from tidscope_policies.algorithms.trials import AFTER, LONGEST, Trials

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
