"""pss: the policy that asks a predictor."""

from policy_harness import BOUNDS, flat, peak, pool
from tidscope_policies.contract import Bounds


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


def test_bounds() -> None:
    steered = pool("pss", flat)
    steered.bounds = Bounds(4, 5)
    assert set(steered.run(40)) == {4, 5}
    steered.bounds = Bounds(6, 6)
    assert set(steered.run(10)) == {6}
