"""pss: the prediction service on its own, and the policy that asks it."""

import pytest
from policy_harness import BOUNDS, flat, peak, pool
from tidscope_policies.algorithms.prediction import Predictor
from tidscope_policies.contract import Bounds


def test_it_learns_an_answer_and_its_opposite() -> None:
    predictor = Predictor(features=2, threshold=4)
    assert predictor.predict(["a", 1]) == 0
    predictor.update(["a", 1], answer=True)
    assert predictor.predict(["a", 1]) == 2
    assert predictor.predict(["a", 2]) == 1
    for _ in range(10):
        predictor.update(["a", 1], answer=True)
    assert predictor.predict(["a", 1]) == 6
    for _ in range(10):
        predictor.update(["a", 1], answer=False)
    assert predictor.predict(["a", 1]) == -6


def test_only_wrong_or_uncertain_answers_change_weights() -> None:
    predictor = Predictor(features=1, threshold=0)
    predictor.update([1], answer=True)
    predictor.update([1], answer=True)
    assert predictor.predict([1]) == 1
    predictor.update([1], answer=False)
    assert predictor.predict([1]) == 0


def test_weights_are_clamped() -> None:
    predictor = Predictor(features=3, threshold=1000, limit=5)
    for _ in range(50):
        predictor.update([1, 2, 3], answer=True)
    assert predictor.predict([1, 2, 3]) == 15


def test_a_literal_update_would_never_say_no() -> None:
    """Where the answer is always no, so is the prediction."""
    predictor = Predictor(features=1, threshold=3)
    for _ in range(20):
        predictor.update(["always worse"], answer=False)
    assert predictor.predict(["always worse"]) == -4


def test_reset_forgets() -> None:
    predictor = Predictor(features=1, threshold=9)
    predictor.update([7], answer=True)
    predictor.reset()
    assert predictor.predict([7]) == 0


def test_one_predictor_serves_several_knobs() -> None:
    predictor = Predictor(features=2, threshold=8)
    for _ in range(20):
        predictor.update([("pool", 4), ("pool", "up")], answer=True)
        predictor.update([("cache", 4), ("cache", "up")], answer=False)
    assert predictor.predict([("pool", 4), ("pool", "up")]) > 8
    assert predictor.predict([("cache", 4), ("cache", "up")]) < -8


@pytest.mark.parametrize("count", [0, 17])
def test_number_of_features(count: int) -> None:
    with pytest.raises(ValueError, match="want 1 to 16"):
        Predictor(count, threshold=1)
    with pytest.raises(ValueError, match="3 features: want 16"):
        Predictor(16, threshold=1).predict([1, 2, 3])


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
