"""bidirectional climbs both ways; the printed version with the error it was printed with."""

from itertools import pairwise

from policy_harness import flat, peak, pool
from tidscope_policies.contract import Bounds, Peers


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


def test_bounds() -> None:
    for name in ("bidirectional", "bidirectional-printed"):
        climb = pool(name, flat)
        climb.run(3)
        climb.bounds = Bounds(4, 6)
        assert set(climb.run(20)) == {4, 5, 6}, name
        climb.bounds = Bounds(5, 5)
        assert set(climb.run(5)) == {5}, name


def test_it_begins_at_the_pools_own_size() -> None:
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
