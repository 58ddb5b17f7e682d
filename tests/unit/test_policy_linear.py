"""linear: every size once, the best is kept; none of the errors of the printed version."""

from policy_harness import flat, peak, pool
from tidscope_policies.algorithms.linear import Linear, LinearParameters
from tidscope_policies.contract import Bounds, Peers

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
    """That is a property of the algorithm: each size is measured once."""
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
