"""bidirectional climbs both ways; the printed version with the error it was printed with."""

from policy_harness import flat, peak, pool
from tidscope_policies.contract import Bounds


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


def test_restart_begins_at_the_top() -> None:
    for name in ("bidirectional", "bidirectional-printed"):
        climb = pool(name, peak(10))
        climb.run(12)
        climb.policy.restart("a person asked")
        assert climb.run(3) == [16, 15, 14], name
        assert climb.decisions[12].reason == (
            "The climb restarts: a person asked, at the highest size."
        )


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
