"""Steering programs of all languages that have an agent, and programs that link none."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from capabilities import needs
from installation import Installation, installation
from processes import start_ticks
from programs.agent_program import LANGUAGES, ORIGINAL, AgentFolder, AgentProgram
from programs.go_programs import ThreadsRun
from programs.steered import Steered, crowded_c, crowded_go
from tidscope_collector.agent.client import AgentClient, open_agent
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import GomaxprocsChanged, SteeringDecided, Target

PATIENCE_S = 120.0
KNOBS = dict.fromkeys(LANGUAGES, "pool-agent") | {"go": "go-agent"}
SIZES = {"go": 2, "python": 1, "java": 2, "rust": 1, "c": 2}


@pytest.fixture
def programs() -> Iterator[dict[str, AgentProgram]]:
    with ExitStack() as kept:
        yield {
            language: kept.enter_context(AgentProgram(language, kept.enter_context(AgentFolder())))
            for language in LANGUAGES
        }


def agent_of(program: AgentProgram | Steered) -> AgentClient:
    ticks = start_ticks(program.pid)
    return open_agent(ProcFs(), program.pid, ticks, timeout_s=60, opening_s=LONGEST_TIMEOUT_S)


def size_of(program: AgentProgram | Steered) -> int:
    client = agent_of(program)
    try:
        return client.read().size
    finally:
        client.close()


async def steered_by(root: Installation, target: str, size: int) -> str:
    """Have a target kept at a size; the knob. An agent that is late to answer is asked again."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        answer = await root.client.put(
            f"/api/v1/targets/{target}/steering", json={"policy": "fixed", "upper": size}
        )
        if answer.status_code == 200:
            steering = Target.model_validate_json(answer.content).steering
            assert steering is not None
            return steering.knob
        assert time.monotonic() < deadline, answer.text
        await asyncio.sleep(0.1)


async def until_sizes(programs: dict[str, AgentProgram], wanted: dict[str, int]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = {
            language: await asyncio.to_thread(size_of, program)
            for language, program in programs.items()
        }
        if found == wanted:
            return
        assert time.monotonic() < deadline, (found, wanted)
        await asyncio.sleep(0.05)


@needs("root")
@pytest.mark.asyncio
async def test_each_has_its_own_size_and_gets_it_back(programs: dict[str, AgentProgram]) -> None:
    async with installation() as root:
        targets = {}
        for language, program in programs.items():
            asked = await root.ask(program.pid, rate_hz=5)
            target = Target.model_validate_json(asked.raise_for_status().content).id
            targets[language] = target
            assert await steered_by(root, target, SIZES[language]) == KNOBS[language]
        await until_sizes(programs, SIZES)
        # All are steered at once, and their pools are read meanwhile.
        deadline = time.monotonic() + PATIENCE_S
        read: set[str] = set()
        while read != set(targets.values()):
            assert time.monotonic() < deadline, read
            text = (await root.client.get("/metrics")).text
            labels = 'pool="pool",source="agent",target='
            read = {one for one in targets.values() if f'{labels}"{one}"' in text}
            await asyncio.sleep(0.1)
        for target in targets.values():
            await root.release(target)
        await until_sizes(programs, dict.fromkeys(programs, ORIGINAL))


@needs("root")
@pytest.mark.asyncio(loop_scope="module")
async def test_a_go_pool_is_steered_in_place_of_gomaxprocs(root: Installation) -> None:
    with AgentFolder() as folder, Steered(crowded_go(16), folder) as program:
        target, _ = await root.attach(program.pid)
        found = await root.steering_options(target.id)
        assert "pool-agent" in [one.kind for one in found.knobs if not one.refusal]
        assert await steered_by(root, target.id, 4) == "pool-agent"
        deadline = time.monotonic() + PATIENCE_S
        while await asyncio.to_thread(size_of, program) != 4:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        await root.release(target.id)
        assert await asyncio.to_thread(size_of, program) == 16


def throughput_of(program: Steered, seconds: float = 1.0) -> float:
    """Operations a second that the program's agent counts from now on."""
    client = agent_of(program)
    before = client.read()
    time.sleep(seconds)  # The figure is a rate over this time.
    after = client.read()
    client.close()
    return (after.ops - before.ops) / (after.monotonic_ns - before.monotonic_ns) * 1e9


@needs("root")
@pytest.mark.asyncio(loop_scope="module")
async def test_cooperative_raises_the_throughput_of_a_c_pool(root: Installation) -> None:
    """16 jobs at once get in each other's way: 6 do half as much again."""
    with AgentFolder() as folder, Steered(crowded_c(16), folder) as program:
        target, _ = await root.attach(program.pid)
        own = await asyncio.to_thread(throughput_of, program)
        steered = await root.steer(target.id, policy="cooperative", parameters={"interval_s": 0.5})
        assert steered.steering is not None
        assert steered.steering.knob == "pool-agent"
        deadline = time.monotonic() + PATIENCE_S
        while await asyncio.to_thread(throughput_of, program) < 1.25 * own:
            assert time.monotonic() < deadline, own
        await root.release(target.id)
        assert await asyncio.to_thread(size_of, program) == 16


CPUS = len(os.sched_getaffinity(0))


@needs("root")
@needs("two-cpus")
@pytest.mark.asyncio(loop_scope="module")
async def test_gomaxprocs_of_an_unmodified_program_is_steered_and_comes_back(
    root: Installation,
) -> None:
    with ThreadsRun() as program:
        assert program.size == CPUS
        target, follower = await root.attach(program.pid)
        found = await root.steering_options(target.id)
        usable = [one for one in found.knobs if not one.refusal]
        assert [(one.kind, one.lower, one.upper) for one in usable] == [("go-affinity", 1, CPUS)]
        proxies = {one.kind for one in found.signals if one.proxy}
        assert proxies == {"network-calls", "network-bytes"}

        steered = await root.steer(target.id, policy="fixed", upper=1)
        assert steered.steering is not None
        assert steered.steering.knob == "go-affinity"
        assert steered.steering.proxy
        # Read back from the program's own memory.
        changed = await follower.until_event(GomaxprocsChanged)
        assert (changed.previous, changed.size) == (CPUS, 1)
        assert all(len(mask) == 1 for mask in program.masks().values())
        await follower.until(
            lambda _: any(one.next_size == 1 for one in follower.events(SteeringDecided))
        )
        while_steered = await root.steering_options(target.id)
        assert [(one.kind, one.upper) for one in while_steered.knobs] == [("go-affinity", CPUS)]

        # A size beyond the knob's bounds is refused and changes nothing.
        for beyond in ({"upper": CPUS + 1}, {"parameters": {"size": CPUS + 1}}):
            answer = await root.client.put(
                f"/api/v1/targets/{target.id}/steering", json={"policy": "fixed", **beyond}
            )
            assert (answer.status_code, str(CPUS + 1) in answer.json()["detail"]) == (422, True)
        now = (await root.target(target.id)).steering
        assert now is not None
        assert (now.policy, now.upper, now.original) == ("fixed", 1, CPUS)

        # At size 1 another policy takes over, with all CPUs to choose from.
        switched = await root.steer(target.id, policy="cooperative")
        assert switched.steering is not None
        assert (switched.steering.upper, switched.steering.original) == (CPUS, CPUS)
        await follower.until(
            lambda _: [one.size for one in follower.events(GomaxprocsChanged)][:2] == [1, CPUS]
        )
        await follower.until(
            lambda _: any(one.policy == "cooperative" for one in follower.events(SteeringDecided))
        )
        by = [one for one in follower.events(SteeringDecided) if one.policy == "cooperative"]
        assert by[0].size == 1

        await root.steer(target.id, policy="fixed", upper=1)
        await follower.until(lambda _: follower.events(GomaxprocsChanged)[-1].size == 1)
        await root.release(target.id)
        await follower.until(lambda _: follower.events(GomaxprocsChanged)[-1].size == CPUS)
        assert all(len(mask) == CPUS for mask in program.masks().values())
