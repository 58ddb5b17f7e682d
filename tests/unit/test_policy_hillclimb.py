"""hillclimb: growing steps, undone when they do not pay; rests, and looks the other way."""

from policy_harness import Curve, flat, peak, pool
from tidscope_policies.contract import Bounds


def steep(best: int) -> Curve:
    """A third more for each thread up to the best size, a third less for each above."""
    return lambda size: 1000.0 * 1.33 ** (-abs(size - best))


def test_steps_grow_while_they_pay_and_the_last_one_is_undone() -> None:
    climb = pool("hillclimb", steep(10), start=4)
    assert climb.run(6) == [4, 5, 7, 10, 14, 10]
    assert climb.states() == [
        *("starting", "scaling", "scaling", "scaling", "scaling", "settled"),
    ]


def test_it_rests_and_then_looks_the_other_way_by_one() -> None:
    climb = pool("hillclimb", steep(10), start=4)
    climb.run(6)
    assert climb.run(10) == [10, 10, 10, 9, 10, 10, 10, 10, 11, 10]
    assert climb.states()[9:11] == ["exploring", "settled"]


def test_a_gain_below_the_factor_settles() -> None:
    climb = pool("hillclimb", peak(10), start=4)
    assert climb.run(3) == [4, 5, 5]
    assert climb.last.reason == "5 is hardly better than 4."


def test_flat_curve_stays_where_it_began() -> None:
    climb = pool("hillclimb", flat, start=4)
    assert set(climb.run(40)) == {4, 5, 6}


def test_exploring_goes_on_from_what_is_better() -> None:
    climb = pool("hillclimb", peak(10), start=4)
    climb.run(60)
    assert set(climb.run(60)) == {9, 10, 11}


def test_one_dip_undoes_a_step() -> None:
    climb = pool("hillclimb", steep(10), start=4)
    assert climb.run(4, dips={2: 0.05}) == [4, 5, 4, 4]


def test_phase_change() -> None:
    climb = pool("hillclimb", steep(10), start=4)
    climb.run(40)
    climb.curve = steep(5)
    assert set(climb.run(60)[-20:]) == {4, 5, 6}


def test_restart_in_the_middle_begins_at_the_lowest() -> None:
    climb = pool("hillclimb", steep(10), start=4)
    climb.run(3)
    climb.policy.restart("the program entered a new phase")
    assert climb.run(6) == [4, 5, 7, 10, 14, 10]


def test_an_interval_with_another_hand_on_the_knob_is_discarded() -> None:
    climb = pool("hillclimb", steep(10), start=4)
    climb.run(3)
    climb.size = 9
    assert climb.step(moved_by_other=True) == 9
    assert climb.run(4) == [9, 9, 9, 8]


def test_bounds() -> None:
    climb = pool("hillclimb", steep(10), start=4)
    climb.bounds = Bounds(2, 6)
    sizes = climb.run(60)
    assert sizes[:5] == [4, 5, 6, 6, 6]
    assert set(sizes) <= set(climb.bounds.sizes)
    assert climb.decisions[3].reason == "6 is much better than 5, and the bound is reached."


def test_it_begins_at_the_pools_own_size() -> None:
    climb = pool("hillclimb", steep(10), in_force=7)
    assert climb.run(5) == [7, 8, 10, 13, 10]
    assert climb.decisions[0].reason == "The climb begins, at 7."
    climb.policy.restart("a person asked")
    assert climb.step() == 10


def test_exploring_keeps_only_what_is_significantly_better() -> None:
    """One thread more is better by 2 %."""

    def gentle(size: int) -> float:
        return 1000.0 * 1.02**size

    for significance, after in ((0.0, 16), (0.015, 16), (0.05, 11)):
        climb = pool("hillclimb", gentle, in_force=10, significance=significance)
        assert climb.run(3) == [10, 11, 11]
        assert climb.run(100)[-1] in (after, after - 1)
