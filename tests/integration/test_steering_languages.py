"""Programs of all languages that have an agent, steered together on one host."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from capabilities import needs
from processes import start_ticks
from programs.agent_program import LANGUAGES, ORIGINAL, AgentFolder, AgentProgram
from tidscope_collector.agent.client import open_agent
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.generated.models import Target
from whole_site import Site, site

pytestmark = [needs("root"), pytest.mark.asyncio]

PATIENCE_S = 120.0
KNOBS = {"go": "go-agent", "python": "pool-agent", "java": "pool-agent", "rust": "pool-agent"}
SIZES = {"go": 2, "python": 1, "java": 2, "rust": 1}


@pytest.fixture
def programs() -> Iterator[dict[str, AgentProgram]]:
    with ExitStack() as kept:
        yield {
            language: kept.enter_context(AgentProgram(language, kept.enter_context(AgentFolder())))
            for language in LANGUAGES
        }


def size_of(program: AgentProgram) -> int:
    client = open_agent(ProcFs(), program.pid, start_ticks(program.pid), timeout_s=60)
    try:
        return client.read().size
    finally:
        client.close()


async def steered_by(root: Site, target: str, size: int) -> str:
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


async def test_each_has_its_own_size_and_gets_it_back(programs: dict[str, AgentProgram]) -> None:
    async with site() as root:
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
