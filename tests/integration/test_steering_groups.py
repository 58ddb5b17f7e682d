"""Programs of a group under one policy: two Go programs and a Python pool in one tree."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from backend_server import TOKEN
from capabilities import needs
from installation import Installation
from processes import start_ticks, wait_until
from programs.agent_program import AgentFolder
from programs.steered import Steered, paced_go, several, waiting_python
from receiver import Follower
from tidscope_collector.agent.client import open_agent
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs
from tidscope_wire.audit import read_records
from tidscope_wire.generated.models import (
    SteeringDecided,
    SteeringOptions,
    SteeringReleased,
    SteeringStarted,
    Target,
)

pytestmark = [
    needs("root"),
    pytest.mark.asyncio(loop_scope="module"),
]
FAST = {"interval_s": 0.5}


class Tree:
    """A parent with two Go programs and a Python pool.

    Attributes:
        parent: which has no pool.
        pids: process IDs of the three.
        target: the group.
    """

    def __init__(self, root: Installation, parent: Steered, target: Target) -> None:
        self.root, self.parent, self.target = root, parent, target
        self.pids = [int(pid) for pid in parent.said.split()[1:]]

    @property
    def path(self) -> str:
        return f"/api/v1/targets/{self.target.id}/steering"

    async def steer(self, **request: object) -> Target:
        return await self.root.steer(self.target.id, **{"parameters": FAST, **request})

    async def now(self) -> Target:
        return await self.root.target(self.target.id)

    async def until(self, wanted: Callable[[Target], bool], what: str) -> Target:
        """The group as the backend knows it, once it is as wanted."""
        deadline = time.monotonic() + 120
        while not wanted(now := await self.now()):
            assert time.monotonic() < deadline, f"{what}; it is {now.programs}"
            await asyncio.sleep(0.05)
        return now


@asynccontextmanager
async def tree(root: Installation) -> AsyncIterator[Tree]:
    commands = (paced_go(4, 2), paced_go(4, 2), waiting_python(1, 16))
    with AgentFolder() as folder, Steered(several(*commands), folder) as parent:
        asked = {"group": {"kind": "tree", "pid": parent.pid}, "rate_hz": 10}
        answer = await root.client.post("/api/v1/targets", json=asked)
        assert answer.status_code == 201, answer.text
        yield Tree(root, parent, Target.model_validate_json(answer.content))


def size_of(pid: int) -> int:
    client = open_agent(ProcFs(), pid, start_ticks(pid), timeout_s=60, opening_s=LONGEST_TIMEOUT_S)
    try:
        return client.read().size
    finally:
        client.close()


def sizes_of(pids: list[int]) -> dict[int, int]:
    return {pid: size_of(pid) for pid in pids}


def steered(target: Target) -> list[int]:
    return [one.pid for one in target.programs or []]


async def test_all_under_one_policy(root: Installation) -> None:
    async with tree(root) as group:
        options = await root.steering_options(group.target.id)
        able = {one.pid: one for one in options.programs or [] if not one.refusal}
        refused = {one.pid: one.refusal for one in options.programs or [] if one.refusal}
        assert sorted(able) == sorted(group.pids), refused
        kinds = [knob.kind for one in able.values() for knob in one.knobs if not knob.refusal]
        assert sorted(kinds) == ["go-agent", "go-agent", "pool-agent"]
        (parent,) = [one for one in options.programs or [] if one.refusal]
        assert (parent.pid, parent.knobs, parent.signals) == (group.parent.pid, [], [])
        assert "has no agent" in parent.refusal
        before = await asyncio.to_thread(sizes_of, group.pids)

        await root.page.subscribe(group.target.id)
        follower = Follower(root.page)
        answer = await group.steer(policy="cooperative")
        assert steered(answer) == sorted(group.pids)
        assert {one.steering.policy for one in answer.programs or []} == {"cooperative"}
        assert {one.name for one in answer.programs or []} == {one.name for one in able.values()}
        decided: set[int | None] = set()
        named: dict[int | None, str | None] = {}
        while decided != set(group.pids):
            for event in (await follower.next()).events:
                if isinstance(event, SteeringStarted):
                    named[event.pid] = event.program
                elif isinstance(event, SteeringDecided):
                    decided.add(event.pid)
        assert named == {pid: one.name for pid, one in able.items()}

        answer = await root.release(group.target.id)
        assert (answer.programs, answer.steering) == (None, None)
        # A worker that is too many ends as soon as its job is done.
        await asyncio.to_thread(wait_until, lambda: sizes_of(group.pids) == before)
        released: set[int | None] = set()
        while released != set(group.pids):
            events = (await follower.next()).events
            released |= {one.pid for one in events if isinstance(one, SteeringReleased)}


async def test_all_of_the_chosen_or_none(root: Installation) -> None:
    async with tree(root) as group:
        one, two, three = group.pids
        answer = await group.steer(
            policy="fixed", programs=[{"pid": one}, {"pid": two, "upper": 3}]
        )
        assert steered(answer) == sorted([one, two])
        now = {each.pid: each.steering for each in answer.programs or []}
        assert (now[one].upper, now[two].upper) == (4, 3)
        # The parent has no pool: nothing changes.
        wanted = [{"pid": three}, {"pid": group.parent.pid}]
        refused = await root.client.put(
            group.path, json={"policy": "linear", "parameters": FAST, "programs": wanted}
        )
        assert refused.status_code == 409, refused.text
        assert f"({group.parent.pid})" in refused.json()["detail"]
        now = {each.pid: each.steering for each in (await group.now()).programs or []}
        assert sorted(now) == sorted([one, two])
        assert {each.policy for each in now.values()} == {"fixed"}
        # Programs that are no longer chosen are released.
        answer = await group.steer(policy="fixed", programs=[{"pid": one}, {"pid": three}])
        assert steered(answer) == sorted([one, three])
        answer_ = await root.client.delete(f"{group.path}?pid={one}")
        assert steered(Target.model_validate_json(answer_.content)) == [three]
        missing = await root.client.delete(f"{group.path}?pid={one}")
        assert missing.json()["type"].endswith("not-steered")


async def test_one_that_ends_leaves_and_a_new_one_joins(root: Installation) -> None:
    async with tree(root) as group:
        answer = await group.steer(policy="cooperative", join=True)
        assert answer.programs_join
        await asyncio.to_thread(group.parent.say, f"end {group.pids[0]}")
        await group.until(
            lambda now: steered(now) == sorted(group.pids[1:]), "the ended program has not left"
        )
        # The ended program's cores go to the others, which search again with a larger share.
        new = int(await asyncio.to_thread(group.parent.say, "start 0"))
        await group.until(
            lambda now: steered(now) == sorted([*group.pids[1:], new]), "the new one has not joined"
        )
        await root.release(group.target.id)
        assert not (await group.now()).programs_join
        lines = [
            (line.outcome, line.details.get("pid"), line.details.get("reason"))
            for line in read_records(root.collector.audit)
            if line.object == group.target.id
        ]
        assert ("done", str(group.pids[0]), "program exit") in lines
        outcomes = [outcome for outcome, pid, _ in lines if pid == str(new)]
        # On a busy machine its agent may be too late for the first attempts.
        tries = (len(outcomes) - 2) // 2
        assert outcomes == [*("started", "refused") * tries, "started", "done"]


async def test_question_attaches_nothing(root: Installation) -> None:
    before = {one.id for one in await root.targets()}
    commands = (paced_go(4, 2), waiting_python(1, 16))
    with AgentFolder() as folder, Steered(several(*commands), folder) as parent:
        pids = [int(pid) for pid in parent.said.split()[1:]]
        answer = await root.client.get(f"/api/v1/steering?pid={pids[0]}")
        found = SteeringOptions.model_validate_json(answer.raise_for_status().content)
        assert [one.kind for one in found.knobs if not one.refusal] == ["go-agent"]
        answer = await root.client.get(f"/api/v1/steering?kind=tree&pid={parent.pid}")
        found = SteeringOptions.model_validate_json(answer.raise_for_status().content)
        assert sorted(one.pid for one in found.programs or [] if not one.refusal) == sorted(pids)
        for wrong in ("", "?kind=tree", "?kind=unit", "?pid=1&kind=unit"):
            assert (await root.client.get(f"/api/v1/steering{wrong}")).status_code in (400, 422)
        assert (await root.client.get("/api/v1/steering?pid=2")).status_code == 422
    # Programs of earlier tests may be ending.
    assert {one.id for one in await root.targets()} <= before


async def test_command_line(root: Installation) -> None:
    async with tree(root) as group:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
        steer = [sys.executable, "-m", "tidscope_backend", "steer"]
        process = await asyncio.create_subprocess_exec(
            *(*steer, "--port", str(root.backend.port), "--tree", str(group.parent.pid)),
            *("--policy", "fixed", "--set", "interval_s=0.5", "--json"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            env=environment | {"TIDSCOPE_TOKEN": TOKEN},
        )
        assert process.stdout is not None
        decided: set[int] = set()
        while decided != set(group.pids):
            line = json.loads(await process.stdout.readline())
            if line["decisions"]:
                assert line["interval_s"] >= 0.4
                assert line["ops_per_s"] is not None
                decided.add(line["pid"])
        process.terminate()
        assert await process.wait() == 0
        assert (await group.now()).programs is None
