"""The arbiter divides cores among the programs of a tree: Go, Python, and Java or Rust.

Rust, with claims, has to come to the best division as well; silence and ends are those of Java.
"""

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import log

import pytest
from capabilities import needs
from installation import Installation
from processes import start_ticks, stop, wait_until
from programs.agent_program import AgentFolder
from programs.steered import (
    Steered,
    contended_go,
    known_throughput,
    paced_go,
    paced_java,
    paced_python,
    paced_rust,
    several,
    waiting_python,
)
from receiver import Follower
from tidscope_collector.agent.client import open_agent
from tidscope_collector.inspection.answering import LONGEST_TIMEOUT_S
from tidscope_collector.procfs.files import ProcFs
from tidscope_policies.arbitration.division import Claim, Claimant, Pool, divide, worth
from tidscope_policies.contract import Bounds
from tidscope_wire.audit import read_records
from tidscope_wire.generated.models import CoreDivision, SteeringDecided, Target

pytestmark = [
    needs("root"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(600),
]
LARGEST, CORES = 4, 5
"""Few sizes: the arbiter tries a division for two intervals, and an interval is 0.5 s at least."""
BESTS = (1, 3, 3)
"""Best sizes of the Go program, the Python pool and the third one: more than there are cores."""
PATIENCE_S = 240.0
BOUNDS = Bounds(1, LARGEST)


class Programs:
    """The three, in a tree, and their group.

    Attributes:
        pids: Go, Python, and the third one.
    """

    def __init__(self, root: Installation, parent: Steered, target: Target) -> None:
        self.root, self.target = root, target
        self.pids = [int(pid) for pid in parent.said.split()[1:]]

    async def divisions(self) -> dict[int, CoreDivision]:
        """Current sizes of the programs."""
        now = await self.root.target(self.target.id)
        found = {one.pid: one.steering.division for one in now.programs or []}
        return {pid: division for pid, division in found.items() if division is not None}

    async def until(
        self, wanted: Callable[[dict[int, CoreDivision]], bool], what: str
    ) -> dict[int, CoreDivision]:
        deadline = time.monotonic() + PATIENCE_S
        while not wanted(found := await self.divisions()):
            assert time.monotonic() < deadline, f"{what}: {found}"
            await asyncio.sleep(0.05)
        return found

    def is_best(self, pids: list[int], shares: dict[int, float]) -> Callable[[object], bool]:
        """True if the division is settled and the best one by the known curves."""
        claimants = [
            Claimant(
                str(pid),
                Claim(share=shares.get(pid, 1.0)),
                BOUNDS,
                tuple(log(known_throughput(size, best)) for size in BOUNDS.sizes),
            )
            for pid, best in zip(self.pids, BESTS, strict=True)
            if pid in pids
        ]
        pools = [Pool(CORES, frozenset(str(pid) for pid in pids))]
        most = worth(claimants, divide(claimants, pools))

        def check(found: object) -> bool:
            assert isinstance(found, dict)
            if any(found[pid].state != "settled" for pid in pids if pid in found):
                return False
            if not {*pids} <= found.keys():
                return False
            sizes = {str(pid): found[pid].cores for pid in pids}
            return worth(claimants, sizes) > most - 1e-9

        return check


def size_of(pid: int) -> int:
    client = open_agent(ProcFs(), pid, start_ticks(pid), timeout_s=60, opening_s=LONGEST_TIMEOUT_S)
    try:
        return client.read().size
    finally:
        client.close()


def sizes_of(pids: list[int]) -> dict[int, int]:
    return {pid: size_of(pid) for pid in pids}


@asynccontextmanager
async def programs(
    root: Installation, last: Callable[[int, int, float], list[str]]
) -> AsyncIterator[Programs]:
    go, python, third = BESTS
    commands = (
        paced_go(LARGEST, go),
        paced_python(LARGEST, python, 0.010),
        last(LARGEST, third, 0.010),
    )
    with AgentFolder() as folder, Steered(several(*commands), folder) as parent:
        asked = {"group": {"kind": "tree", "pid": parent.pid}, "rate_hz": 10}
        answer = await root.client.post("/api/v1/targets", json=asked)
        assert answer.status_code == 201, answer.text
        yield Programs(root, parent, Target.model_validate_json(answer.content))


def gained(follower: Follower, why: str) -> list[SteeringDecided]:
    """Decisions that gave a program more cores because of what happened to another one."""
    return [
        one
        for one in follower.events(SteeringDecided)
        if one.division is not None
        and one.division.cause == "members"
        and why in one.division.reason
        and one.next_size > one.size
    ]


async def test_cores_go_where_they_bring_the_most(root: Installation) -> None:
    async with programs(root, paced_java) as group:
        go, python, third = group.pids
        original = await asyncio.to_thread(sizes_of, group.pids)
        parameters = {"interval_s": 0.5, "cores": CORES}
        await root.page.subscribe(group.target.id)
        follower = Follower(root.page)
        await root.steer(group.target.id, policy="arbiter", parameters=parameters)
        first = await group.until(lambda found: len(found) == 3, "there is a division")
        assert all(one.total == CORES for one in first.values())
        await group.until(group.is_best(group.pids, {}), "the best division")

        # A program without an answer has no cores until it answers.
        stopped_s = time.monotonic()
        stop(third)
        try:
            await group.until(lambda found: found[third].state == "absent", "it is noticed")
            print(f"after a stop: {time.monotonic() - stopped_s:.2f} s")
            # A division that was just being tried may have given them these cores already.
            found = await group.until(group.is_best([go, python], {}), "the best without it")
            assert (found[third].cores, found[third].programs) == (0, 2)
            assert "does not answer" in found[third].reason
            assert sum(one.cores for one in found.values()) <= CORES
        finally:
            os.kill(third, signal.SIGCONT)
        await group.until(lambda found: found[third].state in ("settled", "trying"), "it is back")
        await group.until(group.is_best(group.pids, {}), "the best division again")

        # A killed program leaves for good.
        killed_s = time.monotonic()
        os.kill(go, signal.SIGKILL)
        await follower.until(lambda _: bool(gained(follower, "has ended")))
        print(f"after a kill: {time.monotonic() - killed_s:.2f} s")
        left = [python, third]
        is_best = group.is_best(left, {})
        await group.until(
            lambda found: found.keys() == {*left} and is_best(found),
            "the best division of the other two",
        )

        await root.release(group.target.id)
        # A worker that is too many ends as soon as its job is done.
        own = {pid: original[pid] for pid in left}
        await asyncio.to_thread(wait_until, lambda: sizes_of(left) == own)
        lines = [
            line.details
            for line in read_records(root.collector.audit)
            if line.action == "divide" and line.object == group.target.id
        ]
        assert any("has ended" in one["reason"] for one in lines)
        if gained(follower, f"({third}) does not answer"):
            assert any(f"({third}) does not answer" in one["reason"] for one in lines)


async def test_claims_count(root: Installation) -> None:
    async with programs(root, paced_rust) as group:
        go, python, rust = group.pids
        claims = [{"pid": go, "floor": 2}, {"pid": python}, {"pid": rust, "share": 3}]
        parameters = {"interval_s": 0.5, "cores": CORES + 1}
        answer = await root.steer(
            group.target.id, policy="arbiter", parameters=parameters, programs=claims
        )
        assert {one.pid for one in answer.programs or []} == {*group.pids}
        found = await group.until(lambda found: len(found) == 3, "there is a division")
        assert (found[go].floor, found[rust].share, found[python].priority) == (2, 3, 0)
        # 2 for the floor, and 4 in parts of 1 and 3.
        await group.until(
            lambda found: (
                {pid: one.cores for pid, one in found.items()} == {go: 2, python: 1, rust: 3}
                and all(one.state == "settled" for one in found.values())
            ),
            "floor and share",
        )
        path = f"/api/v1/targets/{group.target.id}/steering"
        for wrong, words in (
            ({"policy": "cooperative", "share": 2}, "for the policy arbiter"),
            ({"policy": "arbiter", "shadow": True}, "shadow"),
            ({"policy": "arbiter", "programs": [{"pid": go, "floor": 9}]}, "floor 9"),
        ):
            refused = await root.client.put(path, json=wrong)
            assert refused.status_code == 422, refused.text
            assert words in refused.json()["detail"]
        # The refused request changed nothing.
        assert (await group.divisions()).keys() == {*group.pids}
        await root.release(group.target.id)


async def test_pools_that_wait_give_up_no_worker_to_a_program_that_computes(
    root: Installation,
) -> None:
    own = 6
    commands = (waiting_python(own, 16), paced_java(16, 16, 0.020, own), contended_go(2))
    with AgentFolder() as folder, Steered(several(*commands), folder) as parent:
        *pools, computes = (int(pid) for pid in parent.said.split()[1:])
        asked = {"group": {"kind": "tree", "pid": parent.pid}, "rate_hz": 10}
        answer = await root.client.post("/api/v1/targets", json=asked)
        target = Target.model_validate_json(answer.content)
        await root.page.subscribe(target.id)
        follower = Follower(root.page)
        await root.steer(target.id, policy="arbiter", parameters={"interval_s": 0.5})

        def decided(pid: int) -> list[SteeringDecided]:
            return [one for one in follower.events(SteeringDecided) if one.pid == pid]

        await follower.until(
            lambda _: all(len(decided(pool)) > 12 for pool in pools) and len(decided(computes)) > 6
        )
        for pool in pools:
            sizes = [one.next_size for one in decided(pool)]
            assert min(sizes) >= own - 1, (pool, sizes)
            last = decided(pool)[-1]
            # A crowded host says nothing of the workers; the pool keeps its size then, too.
            assert re.search(rf"of its ({own} )?workers wait", last.reason), last.reason
            assert last.division is not None
            assert last.next_size > last.division.cores
        await root.release(target.id)
