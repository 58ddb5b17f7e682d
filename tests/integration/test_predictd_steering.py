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
from programs.steered import Steered, known_throughput, paced_python
from tidscope_collector.inspection import asking, reader
from tidscope_collector.inspection.answering import Places
from tidscope_collector.steering.plan import Learners, service_connection
from tidscope_policies.perceptron import Predictor, Rule
from tidscope_predictd.client import VARIABLE, ServiceError
from tidscope_predictd.shared import SharedPredictor
from tidscope_wire.generated.models import SteeringDecided

BEST, INTERVALS = 11, 30
LARGEST, POOL_BEST, TAUGHT, ASKED = 12, 4, 20, 12


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


async def sizes_of_a_new_process(root: Installation, folder: Path, intervals: int) -> list[int]:
    """Return the sizes that a new process of the program gets with the daemon's model."""
    with Steered(paced_python(LARGEST, POOL_BEST, 0.02), folder) as program:
        async with root.backend.page() as page:
            target, follower = await replace(root, page=page).attach(program.pid)
            asked = {"interval_s": 0.5, "rest": 0}
            await root.steer(target.id, policy="pss", parameters=asked)
            await follower.until(lambda _: len(follower.events(SteeringDecided)) >= intervals)
        await root.release(target.id)
        return [one.size for one in follower.events(SteeringDecided)][:intervals]


@needs("root")
@pytest.mark.timeout(300)
@pytest.mark.asyncio
async def test_so_does_the_second_process_of_a_real_pool(daemon: Daemon) -> None:
    async with installation() as root:
        with AgentFolder() as folder:
            first = await sizes_of_a_new_process(root, folder, TAUGHT)
            second = await sizes_of_a_new_process(root, folder, ASKED)
    done = [
        sum(known_throughput(size, POOL_BEST) for size in sizes[:ASKED])
        for sizes in (first, second)
    ]
    assert done[1] > done[0], (first, second)
    assert max(second) < max(first), (first, second)


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
def test_a_collector_learns_through_a_child_that_connects(daemon: Daemon) -> None:
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
