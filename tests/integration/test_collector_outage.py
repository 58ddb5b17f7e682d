"""A collector that crashes: it is shown as that, and what it watched is attached again."""

import asyncio
import os
import time
from collections.abc import Callable

import httpx
from backend_server import running_backend
from capabilities import needs
from programs.agent_program import AgentFolder
from programs.go_programs import ThreadsRun
from programs.known_work import KnownWork
from programs.steered import Steered, waiting_python
from receiver import connected
from tidscope_processes import CollectorProcess
from tidscope_wire.generated.models import Host, HostsResponse, Target, TargetsResponse

pytestmark = needs("root")
WAIT_S = 60


async def host_when(page: httpx.AsyncClient, wanted: Callable[[Host], bool]) -> Host:
    """The host, once it is as wanted."""
    deadline = time.monotonic() + WAIT_S
    while True:
        answer = await page.get("/api/v1/hosts")
        (host,) = HostsResponse.model_validate_json(answer.raise_for_status().content).hosts
        if wanted(host):
            return host
        assert time.monotonic() < deadline, host
        await asyncio.sleep(0.05)


async def targets(page: httpx.AsyncClient) -> list[Target]:
    answer = await page.get("/api/v1/targets")
    return TargetsResponse.model_validate_json(answer.raise_for_status().content).targets


async def attach(page: httpx.AsyncClient, **what: object) -> Target:
    answer = await page.post("/api/v1/targets", json=what)
    return Target.model_validate_json(answer.raise_for_status().content)


async def test_what_a_crashed_collector_watched_is_attached_again(known_work: KnownWork) -> None:
    with AgentFolder() as folder, Steered(waiting_python(), folder) as pool, ThreadsRun() as go:
        async with running_backend() as backend, backend.program() as client:
            async with CollectorProcess(backend.port) as collector, backend.page() as page:
                await connected(page)
                before = [
                    await attach(client, pid=known_work.pid, rate_hz=7),
                    await attach(client, group={"kind": "tree", "pid": pool.pid}),
                    await attach(client, pid=go.pid),
                ]
                steer = {"policy": "fixed", "parameters": {"interval_s": 0.5, "size": 1}}
                for target in before[1:]:
                    answer = await client.put(f"/api/v1/targets/{target.id}/steering", json=steer)
                    assert answer.status_code == 200, answer.text
                deadline = time.monotonic() + WAIT_S
                while set(map(len, go.masks().values())) != {1}:
                    assert time.monotonic() < deadline
                    await asyncio.sleep(0.05)
                await collector.kill()
                lost = await host_when(client, lambda host: host.outage is not None)
                assert lost.outage is not None
                assert (lost.connected, lost.outage.kind) == (False, "lost")
                assert lost.outage.back_unix_us is None
            async with CollectorProcess(backend.port):
                back = await host_when(
                    client, lambda host: host.outage is not None and len(host.outage.steered) == 2
                )
                assert back.outage is not None
                assert (back.connected, back.outage.kind) == (True, "crashed")
                assert back.outage.back_unix_us is not None
                assert len(back.outage.attached) == 3, back.outage
                assert back.outage.failed == []
                # Another collector of this machine may have been first.
                assert {one.pid for one in back.outage.restored} <= {go.pid}
                assert [str(pool.pid) in name for name in back.outage.leases] == [True]
                now = [one for one in await targets(client) if one.state == "attached"]
                assert {one.continues for one in now} == {one.id for one in before}
                by_old = {one.continues: one for one in now}
                again = by_old[before[0].id]
                assert (again.process.pid, again.rate_hz) == (known_work.pid, 7)
                # Their policies are started again, with what they were asked for.
                programs = by_old[before[1].id].programs
                assert programs is not None
                assert [(one.pid, one.steering.policy) for one in programs] == [(pool.pid, "fixed")]
                steering = by_old[before[2].id].steering
                assert steering is not None
                assert (steering.policy, steering.parameters["size"]) == ("fixed", 1)
                assert steering.original == os.cpu_count()
                while set(map(len, go.masks().values())) != {1}:
                    assert time.monotonic() < deadline + WAIT_S
                    await asyncio.sleep(0.05)
                assert {one.state for one in await targets(client)} == {"attached", "detached"}


async def test_one_that_is_stopped_says_goodbye(known_work: KnownWork) -> None:
    async with running_backend() as backend, backend.program() as client:
        async with CollectorProcess(backend.port), backend.page() as page:
            await connected(page)
            await attach(client, pid=known_work.pid)
        ended = await host_when(client, lambda host: host.outage is not None)
        assert ended.outage is not None
        assert ended.outage.kind == "ended"
        async with CollectorProcess(backend.port):
            back = await host_when(client, lambda host: host.connected)
            assert back.outage is None
            assert [one.state for one in await targets(client)] == ["detached"]
