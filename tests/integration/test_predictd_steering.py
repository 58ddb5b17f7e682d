"""Steering by the prediction service: what one process learnt, the next one starts with."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from capabilities import needs
from installation import Installation, installation
from policy_harness import peak
from prediction_service import PROGRAMS, Daemon, prediction_service
from programs.agent_program import AgentFolder
from programs.steered import Steered, paced_python
from tidscope_collector.inspection import asking, reader
from tidscope_collector.inspection.answering import Places
from tidscope_collector.steering import plan
from tidscope_collector.steering.plan import Learners, service_connection
from tidscope_policies.perceptron import Predictor, Rule
from tidscope_predictd.client import VARIABLE, ServiceError
from tidscope_predictd.shared import SharedPredictor
from tidscope_wire.generated.models import SteeringDecided

BEST, INTERVALS = 11, 30
LARGEST, POOL_BEST, TAUGHT, ASKED = 12, 4, 20, 2


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    with prediction_service(tmp_path) as running:
        monkeypatch.setenv(VARIABLE, str(running.socket))
        yield running


def steered(socket: Path, intervals: int) -> tuple[bool, list[int]]:
    """Return if a new process used the service's model, and the sizes that it chose."""
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "pss_pool.py"), str(socket), str(BEST), str(intervals)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        check=True,
    )
    shared, *sizes = done.stdout.split()
    return shared == "True", list(map(int, sizes))


def lost(sizes: list[int]) -> float:
    """Mean progress below the best size's."""
    curve = peak(BEST)
    return sum(curve(BEST) - curve(size) for size in sizes) / len(sizes)


def test_a_second_process_starts_better_than_the_first(daemon: Daemon, tmp_path: Path) -> None:
    shared, first = steered(daemon.socket, 300)
    assert shared
    assert steered(tmp_path / "none", INTERVALS) == (False, first[:INTERVALS])
    shared, second = steered(daemon.socket, INTERVALS)
    assert shared
    assert lost(second) < 0.8 * lost(first[:INTERVALS]), (first[:INTERVALS], second)


async def reasons_of_a_new_process(root: Installation, folder: Path, wanted: int) -> list[str]:
    """Return why the pss policy chose the first sizes of a new process of the program."""

    def decided() -> list[str]:
        decisions = follower.events(SteeringDecided)
        return [one.reason for one in decisions if one.counted and not one.deferred]

    with Steered(paced_python(LARGEST, POOL_BEST, 0.02), folder) as program:
        async with root.backend.page() as page:
            target, follower = await replace(root, page=page).attach(program.pid)
            asked = {"interval_s": 0.5, "rest": 0}
            await root.steer(target.id, policy="pss", parameters=asked)
            await follower.until(lambda _: len(decided()) >= wanted)
        await root.release(target.id)
        return decided()


@needs("root")
@pytest.mark.timeout(300)
@pytest.mark.asyncio
async def test_the_second_process_of_a_real_pool_begins_with_what_the_first_learnt(
    daemon: Daemon,
) -> None:
    """The chosen sizes depend on how evenly a busy machine runs; the reasons do not."""
    async with installation() as root:
        with AgentFolder() as folder:
            first = await reasons_of_a_new_process(root, folder, TAUGHT)
            second = await reasons_of_a_new_process(root, folder, ASKED)
    # Nothing is known in the first intervals, unless another process has learnt it.
    by_weights = [
        any("sum of weights" in reason for reason in reasons[:ASKED]) for reasons in (first, second)
    ]
    assert by_weights == [False, True], (first, second)


@pytest.fixture
def _children_connect_to(daemon: Daemon) -> Iterator[None]:
    """A fork server that knows the socket: others of this process were started without it."""
    made = asking.make_children(Places(predictions=str(daemon.socket)))
    with (
        patch.object(asking, "children", lambda: made),
        patch.object(reader, "children", lambda: made),
    ):
        yield
    made.close()


@pytest.mark.usefixtures("_children_connect_to")
def test_a_collector_learns_through_a_child_that_connects(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "TIMEOUT_S", 60.0)
    first, second = Learners(service_connection), Learners(service_connection)
    learners = [one.of("server", Rule()) for one in (first, second)]
    for learner in learners:
        assert isinstance(learner, SharedPredictor)
        assert learner.shared
    learners[0].update([1], answer=True)
    assert learners[1].predict([1]) == 1
    daemon.end()
    learners[0].update([1], answer=True)
    assert (learners[0].predict([1]), learners[1].predict([1])) == (2, 1)
    with pytest.raises(ServiceError, match="no prediction service"):
        service_connection()
    for learner in learners:
        assert not isinstance(learner, Predictor)
        learner.close()
