"""A release gives the size back whatever the target's metrics endpoint and its agent do."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from capabilities import needs
from installation import Installation
from processes import start_ticks, stop
from programs.agent_program import AgentFolder
from programs.steered import Steered, misbehaving
from tidscope_collector.agent.client import open_agent
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop.control_loop import RELEASE_S
from tidscope_wire.generated.models import SteeringDecided, SteeringProblem, SteeringReleased

pytestmark = [needs("root"), pytest.mark.asyncio(loop_scope="module")]

ORIGINAL, SIZE = 2, 6


@contextmanager
def program() -> Iterator[Steered]:
    with AgentFolder() as folder, Steered(misbehaving(), folder) as running:
        yield running


def size_of(running: Steered) -> int:
    ticks = start_ticks(running.pid)
    client = open_agent(ProcFs(), running.pid, ticks, timeout_s=60, opening_s=LONGEST_TIMEOUT_S)
    try:
        return client.read().size
    finally:
        client.close()


async def until_original(running: Steered) -> None:
    deadline = time.monotonic() + 120
    while await asyncio.to_thread(size_of, running) != ORIGINAL:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)


async def steer(root: Installation, running: Steered, target: str) -> None:
    port = int(running.said.split()[1])
    counter = {"port": port, "path": "/metrics", "metric": "done_total"}
    await root.steer(
        target, policy="fixed", lower=SIZE, upper=SIZE, signal="prometheus", prometheus=counter
    )


@pytest.mark.parametrize("mode", ["hang", "trickle", "flood", "deaf", "die"])
async def test_a_metrics_endpoint_that_misbehaves_keeps_no_size(
    root: Installation, mode: str
) -> None:
    with program() as running:
        target, follower = await root.attach(running.pid)
        await steer(root, running, target.id)
        await follower.until(
            lambda _: any(one.next_size == SIZE for one in follower.events(SteeringDecided))
        )
        running.say(mode)
        # The loop reads it four times a second: it is in the middle of a reading, or has failed.
        async with asyncio.timeout(4 * RELEASE_S):
            await root.release(target.id)
        await follower.until(lambda _: bool(follower.events(SteeringReleased)))
        if any("lease ends" in (one.problem or "") for one in follower.events(SteeringProblem)):
            await until_original(running)  # The agent was late: only its lease restores the size.
        assert size_of(running) == ORIGINAL
        assert (await root.target(target.id)).steering is None


async def test_an_agent_that_hangs_gives_the_size_back_when_its_lease_ends(
    root: Installation,
) -> None:
    with program() as running:
        target, follower = await root.attach(running.pid)
        await root.steer(target.id, policy="fixed", lower=SIZE, upper=SIZE)
        await follower.until(
            lambda _: any(one.next_size == SIZE for one in follower.events(SteeringDecided))
        )
        stop(running.pid)
        async with asyncio.timeout(4 * RELEASE_S):
            await root.release(target.id)
        # The message states the promised behaviour.
        await follower.until(lambda _: bool(follower.events(SteeringReleased)))
        assert any("lease ends" in (one.problem or "") for one in follower.events(SteeringProblem))
        os.kill(running.pid, signal.SIGCONT)
        await until_original(running)
