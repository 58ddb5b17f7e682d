"""Policies: hill climbing, bidirectional, a fixed size, and pss, which asks a predictor."""

from dataclasses import replace
from itertools import pairwise

import pytest
from policy_harness import BOUNDS, Curve, flat, peak, pool, seen
from tidscope_policies.contract import Bounds, Part, Peers


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


def test_noiseless_peak() -> None:
    assert pool("bidirectional", peak(10)).run(16) == [
        *(16, 15, 14, 13, 12, 11, 10, 9),
        *(10, 11, 10, 9),
        *(10, 11, 10, 9),
    ]


def test_the_printed_version_stands_still_in_every_third_interval() -> None:
    assert pool("bidirectional-printed", peak(10)).run(20) == [
        *(16, 15, 14, 13, 12, 11, 10, 9),
        *(10, 10, 11, 10, 10, 9),
        *(10, 10, 11, 10, 10, 9),
    ]


def test_the_printed_version_steps_back_from_its_own_variable_not_from_the_size_in_force() -> None:
    two = {3: 0.5, 4: 0.2}
    assert pool("bidirectional-printed", peak(4)).run(5, dips=two) == [16, 15, 14, 15, 13]
    assert pool("bidirectional", peak(4)).run(5, dips=two) == [16, 15, 14, 15, 14]


def test_flat_curve_turns_at_the_bounds() -> None:
    way = [*range(16, 3, -1), *range(5, 17), 15, 14]
    for name in ("bidirectional", "bidirectional-printed"):
        assert pool(name, flat).run(27) == way, name


def test_one_dip_turns_it_round() -> None:
    climb = pool("bidirectional", peak(4))
    assert climb.run(6, dips={3: 0.05}) == [16, 15, 14, 15, 16, 15]


def test_phase_change_is_followed() -> None:
    climb = pool("bidirectional", peak(10))
    climb.run(12)
    climb.curve = peak(5)
    assert climb.run(9) == [10, 9, 8, 7, 6, 5, 4, 5, 6]


def test_restart_begins_at_the_start() -> None:
    for name, start in (("bidirectional", {"start": 16}), ("bidirectional-printed", {})):
        climb = pool(name, peak(10), **start)
        climb.run(12)
        climb.policy.restart("a person asked")
        assert climb.run(3) == [16, 15, 14], name
        assert climb.decisions[12].reason.startswith("The climb restarts: a person asked, at ")


def test_another_hand_on_the_knob_is_where_it_goes_on() -> None:
    climb = pool("bidirectional", peak(4))
    climb.run(4)
    climb.size = 8
    assert climb.step(moved_by_other=True) == 8
    assert climb.last.state == "holding"
    assert climb.run(2) == [7, 6]


def test_another_hand_does_not_move_the_printed_versions_variable() -> None:
    climb = pool("bidirectional-printed", peak(4))
    assert climb.run(4)[-1] == 13
    climb.size = 8
    assert climb.step(moved_by_other=True) == 13


def test_bounds_of_bidirectional() -> None:
    for name in ("bidirectional", "bidirectional-printed"):
        climb = pool(name, flat)
        climb.run(3)
        climb.bounds = Bounds(4, 6)
        assert set(climb.run(20)) == {4, 5, 6}, name
        climb.bounds = Bounds(5, 5)
        assert set(climb.run(5)) == {5}, name


def test_bidirectional_begins_at_the_pools_own_size() -> None:
    assert pool("bidirectional", peak(10), in_force=8).run(6) == [8, 7, 8, 9, 10, 11]
    assert pool("bidirectional-printed", peak(10), in_force=8).run(3) == [16, 15, 14]


def test_it_rests_on_a_plateau_and_goes_on() -> None:
    climb = pool("bidirectional", peak(10), rest=6)
    sizes = climb.run(40)
    assert sizes[:20] == [16, 15, 14, 13, 12, 11, 10, 9, 10, 11, 10, *[10] * 6, 11, 10, 9]
    assert climb.states()[10:17] == ["resting"] * 7
    assert climb.decisions[10].reason == "It goes to and fro: a rest at 10, the better one."
    changes = sum(one != other for one, other in pairwise(sizes[20:]))
    assert (
        changes
        <= 10
        < sum(one != other for one, other in pairwise(pool("bidirectional", peak(10)).run(40)[20:]))
    )


def test_after_a_rest_a_new_phase_is_followed() -> None:
    climb = pool("bidirectional", peak(10), rest=4)
    climb.run(30)
    climb.curve = peak(5)
    assert climb.run(40)[-1] in (4, 5, 6)


def test_the_dip_gate_keeps_its_direction() -> None:
    calm, dipped = (pool("bidirectional", peak(4), dip_gate=1) for _ in range(2))
    calm.run(4)
    assert dipped.run(4, dips={3: 0.05})[3] == 14
    assert "dipped" in dipped.last.reason
    assert dipped.run(3) == [13, 12, 11]
    without = pool("bidirectional", peak(4))
    assert without.run(4, dips={3: 0.05})[3] == 15


def test_bounds_by_the_number_of_programs() -> None:
    shared = pool("bidirectional", peak(16), share=0.5)
    assert shared.step(peers=Peers(2, 7.0)) == 11
    for _ in range(30):
        assert 6 <= shared.step(peers=Peers(2, 7.0)) <= 11
    assert max(shared.step(peers=Peers(1)) for _ in range(20)) == 16


def test_noiseless_peak_is_found_and_kept() -> None:
    steered = pool("pss", peak(10))
    first = steered.run(12)
    assert first == [15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10]
    steered.run(188)
    later = steered.run(60)
    assert set(later) <= {9, 10, 11}


def test_flat_curve_stays_in_bounds() -> None:
    assert set(pool("pss", flat).run(200)) <= set(BOUNDS.sizes)


def test_phase_change_is_learnt() -> None:
    steered = pool("pss", peak(10))
    steered.run(200)
    steered.curve = peak(6)
    steered.run(300)
    assert set(steered.run(40)) <= {5, 6, 7}


def test_one_dip_while_it_rests_teaches_nothing_wrong() -> None:
    calm, dipped = pool("pss", peak(10)), pool("pss", peak(10))
    calm.run(100)
    dipped.run(100)
    assert dipped.decisions[-1].state == "resting"
    assert dipped.run(1, dips={0: 0.05}) == calm.run(1)


def test_restart_resets_the_weights() -> None:
    steered = pool("pss", peak(10))
    steered.run(200)
    steered.policy.restart("a person asked")
    steered.run(1)
    assert steered.last.reason.startswith(
        "The weights are reset: a person asked. Nothing is known about this size"
    )


def test_another_hand_on_the_knob_teaches_nothing() -> None:
    steered = pool("pss", peak(4))
    steered.run(3)
    steered.size = 9
    assert steered.step(moved_by_other=True) == 9
    assert steered.run(2) == [8, 8]


def test_bounds_of_pss() -> None:
    steered = pool("pss", flat)
    steered.bounds = Bounds(4, 5)
    assert set(steered.run(40)) == {4, 5}
    steered.bounds = Bounds(6, 6)
    assert set(steered.run(10)) == {6}


def test_the_highest_size_unless_reported_otherwise() -> None:
    assert pool("fixed", peak(10), in_force=7).run(3) == [16, 16, 16]


def test_the_size_that_was_given() -> None:
    fixed = pool("fixed", flat, size=9)
    assert fixed.run(2) == [9, 9]
    assert fixed.decisions[0].reason == "The size is 16 and should be 9."
    assert fixed.decisions[1].reason == "The size stays at 9."


def test_another_hand_is_answered_and_a_restart_changes_nothing() -> None:
    fixed = pool("fixed", flat, size=9)
    fixed.run(2)
    fixed.size = 5
    assert fixed.step(moved_by_other=True) == 9
    fixed.policy.restart("asked for")
    assert fixed.step(0.05) == 9


def test_bounds_hold() -> None:
    fixed = pool("fixed", flat, size=99)
    assert fixed.run(1) == [16]
    fixed.bounds = Bounds(1, 3)
    assert fixed.run(1) == [3]


@pytest.mark.parametrize(("low", "high"), [(0, 4), (5, 4), (-1, 1)])
def test_bounds_without_a_size_are_refused(low: int, high: int) -> None:
    with pytest.raises(ValueError, match="want 1 <= low <= high"):
        Bounds(low, high)


def test_progress_is_by_real_time() -> None:
    late = replace(seen(1000.0, 8), elapsed_s=2.5)
    assert late.progress == 800.0
    assert replace(late, elapsed_s=0.0).progress == 0.0
    assert Part(0.25, 10.0).progress == 40.0
    assert Part(0.0, 10.0).progress == 0.0
    assert list(BOUNDS.sizes) == list(range(4, 17))
