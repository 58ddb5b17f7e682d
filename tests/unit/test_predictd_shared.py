"""A learner that others teach too, and that goes on alone where there is no service."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from prediction_service import serving
from tidscope_collector.steering.plan import MAX_SHARED, Learners, model_name
from tidscope_policies.perceptron import Predictor, Rule
from tidscope_predictd.client import ServiceError, connect, open_model
from tidscope_predictd.shared import RETRY_S, SharedPredictor


class Clock:
    """Seconds, by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def learner_of(folder: Path, clock: Clock) -> SharedPredictor:
    return SharedPredictor(
        lambda: open_model("a", path=folder / "socket", timeout_s=30), Rule(), clock
    )


def teach(learner: SharedPredictor, times: int) -> None:
    for _ in range(times):
        learner.update([4, 5], answer=True)


def test_two_learners_teach_each_other(tmp_path: Path, clock: Clock) -> None:
    with serving(tmp_path):
        first, second = learner_of(tmp_path, clock), learner_of(tmp_path, clock)
        teach(first, 2)
        assert first.shared
        assert second.predict([4, 5]) == 4
        second.reset()
        assert first.predict([4, 5]) == 0
        first.close()
        first.close()
        second.close()
    assert not first.shared


def test_without_a_service_it_learns_alone(tmp_path: Path, clock: Clock) -> None:
    learner = learner_of(tmp_path, clock)
    teach(learner, 1)
    assert (learner.shared, learner.predict([4, 5])) == (False, 2)
    learner.reset()
    assert learner.predict([4, 5]) == 0


def test_an_ended_service_leaves_what_it_knew_and_is_found_again(
    tmp_path: Path, clock: Clock
) -> None:
    with serving(tmp_path):
        learner = learner_of(tmp_path, clock)
        teach(learner, 2)
    # The memory stays to be read; the next answer is learnt alone, on top of it.
    assert learner.predict([4, 5]) == 4
    teach(learner, 1)
    assert (learner.shared, learner.predict([4, 5])) == (False, 6)
    with serving(tmp_path):
        assert not learner.shared
        clock.now += RETRY_S
        assert learner.shared
        assert learner.predict([4, 5]) == 4
        learner.close()


def test_a_reset_without_the_service(tmp_path: Path, clock: Clock) -> None:
    with serving(tmp_path):
        learner = learner_of(tmp_path, clock)
        teach(learner, 2)
    learner.reset()
    assert (learner.shared, learner.predict([4, 5])) == (False, 0)


def test_a_deleted_model_is_made_again(tmp_path: Path, clock: Clock) -> None:
    with serving(tmp_path):
        learner = learner_of(tmp_path, clock)
        teach(learner, 2)
        other = open_model("a", path=tmp_path / "socket", timeout_s=30)
        other.delete()
        other.close()
        assert not learner.shared
        clock.now += RETRY_S
        assert learner.shared
        assert learner.predict([4, 5]) == 0
        learner.close()


def test_weights_of_another_size_are_not_taken() -> None:
    with pytest.raises(ValueError, match="want 16384"):
        Predictor(Rule()).load(b"\0")


def test_programs_of_one_name_learn_together(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with serving(tmp_path), ExitStack() as opened:
        learners = Learners(lambda: connect(path, 30))
        shared = [learners.of(f"program-{number}", Rule()) for number in range(MAX_SHARED)]
        for learner in shared:
            assert isinstance(learner, SharedPredictor)
            opened.callback(learner.close)
        assert learners.of("program-0", Rule()) is shared[0]
        assert isinstance(learners.of("one more", Rule()), Predictor)


def test_without_a_service_or_a_name_each_learns_alone() -> None:
    assert isinstance(Learners(None).of("a", Rule()), Predictor)
    assert isinstance(Learners(connect).of("", Rule()), Predictor)


def test_names_of_models() -> None:
    assert model_name("nginx", Rule()) == "pss-8-31.nginx"
    assert model_name("my server/7", Rule(500, 127)) == "pss-500-127.my_server_7"
    with pytest.raises(ServiceError):
        open_model(model_name("ß" * 70, Rule()), path=Path("/nonexistent/socket"))
