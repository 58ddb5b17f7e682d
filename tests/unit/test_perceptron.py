"""The perceptrons of the prediction service: what they compute and how they learn."""

import pytest
from prediction_service import VECTORS
from tidscope_policies.perceptron import (
    ENTRIES,
    Predictor,
    Rule,
    named,
    places_of,
    rounded,
)


@pytest.mark.parametrize(("feature", "entry"), VECTORS["entries"])
def test_entries(feature: int, entry: int) -> None:
    assert places_of([feature]) == [entry]
    assert places_of([0, 0, feature])[2] == 2 * ENTRIES + entry


@pytest.mark.parametrize(("number", "nearest"), VECTORS["rounded"])
def test_rounded(number: int, nearest: int) -> None:
    assert rounded(number) == nearest


@pytest.mark.parametrize(("text", "feature"), VECTORS["named"])
def test_named(text: str, feature: int) -> None:
    assert named(text) == feature


def test_consecutive_values_share_few_weights() -> None:
    """Chance would give a thousand sizes 640 different weights."""
    assert len({places_of([number])[0] for number in range(1000)}) > 850


def test_the_script() -> None:
    predictor = Predictor(Rule())
    for step in VECTORS["script"]:
        if step["do"] == "predict":
            assert predictor.predict(step["features"]) == step["sum"], step
        elif step["do"] == "reset":
            predictor.reset(step["features"] or None)
        else:
            predictor.update(step["features"], answer=step["do"] == "yes")


def test_it_learns_an_answer_and_its_opposite() -> None:
    predictor = Predictor(Rule(threshold=4))
    assert predictor.predict([70, 1]) == 0
    predictor.update([70, 1], answer=True)
    assert predictor.predict([70, 1]) == 2
    assert predictor.predict([70, 2]) == 1
    for _ in range(10):
        predictor.update([70, 1], answer=True)
    assert predictor.predict([70, 1]) == 6
    for _ in range(10):
        predictor.update([70, 1], answer=False)
    assert predictor.predict([70, 1]) == -6


def test_only_wrong_or_uncertain_answers_change_weights() -> None:
    predictor = Predictor(Rule(threshold=0))
    predictor.update([1], answer=True)
    predictor.update([1], answer=True)
    assert predictor.predict([1]) == 1
    predictor.update([1], answer=False)
    assert predictor.predict([1]) == 0


def test_weights_are_clamped() -> None:
    predictor = Predictor(Rule(threshold=1000, limit=5))
    for _ in range(50):
        predictor.update([1, 2, 3], answer=True)
    assert predictor.predict([1, 2, 3]) == 15


def test_a_literal_update_would_never_say_no() -> None:
    """Where the answer is always no, so is the prediction."""
    predictor = Predictor(Rule(threshold=3))
    for _ in range(20):
        predictor.update([9], answer=False)
    assert predictor.predict([9]) == -4


def test_reset_forgets_what_is_named_or_everything() -> None:
    predictor = Predictor(Rule(threshold=9))
    predictor.update([7], answer=True)
    predictor.update([8], answer=True)
    predictor.reset([7])
    assert (predictor.predict([7]), predictor.predict([8])) == (0, 1)
    predictor.reset()
    assert predictor.predict([8]) == 0


def test_one_predictor_serves_several_knobs() -> None:
    predictor = Predictor(Rule(threshold=8))
    pool, cache = named("pool"), named("cache")
    for _ in range(20):
        predictor.update([pool + 4, pool + 5], answer=True)
        predictor.update([cache + 4, cache + 5], answer=False)
    assert predictor.predict([pool + 4, pool + 5]) > 8
    assert predictor.predict([cache + 4, cache + 5]) < -8


@pytest.mark.parametrize("count", [0, 17])
def test_number_of_features(count: int) -> None:
    predictor = Predictor(Rule())
    with pytest.raises(ValueError, match="want 1 to 16"):
        predictor.predict([1] * count)
    with pytest.raises(ValueError, match="want 1 to 16"):
        predictor.update([1] * count, answer=True)


@pytest.mark.parametrize("rule", [Rule(-1), Rule(2033), Rule(8, 0), Rule(8, 128)])
def test_rules_out_of_bounds(rule: Rule) -> None:
    with pytest.raises(ValueError, match="want"):
        Predictor(rule)
