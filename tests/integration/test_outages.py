"""Backend, collector or a helper ends: it is shown, it comes back, and no frame is missing."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
from backend_server import TOKEN, running_backend
from capabilities import missing, needs
from faults import cells
from live_page import LivePage
from processes import wait_until
from programs.agent_program import AgentFolder
from programs.go_programs import ThreadsRun
from programs.known_work import KnownWork
from programs.steered import Steered, waiting_python
from receiver import connected
from tidscope_processes import CollectorProcess, free_port, served
from tidscope_wire.generated.models import FramesLost, Host, HostsResponse, Target, TargetsResponse
from websockets.exceptions import ConnectionClosed


def reported_of_losses(page: LivePage) -> list[FramesLost]:
    return [text for text in page.texts if isinstance(text, FramesLost)]


async def follow(page: LivePage, last: int, until: int) -> int:
    """Read on, each frame behind the one before; the number of the last one."""
    while last < until:
        header, _ = await page.frame()
        assert header.first_seq == last + 1
        last = header.seq
    return last


async def read_to_the_end(page: LivePage, last: int) -> int:
    """Read what still comes before the connection breaks; the number of the last frame."""
    while True:
        try:
            last = await follow(page, last, last + 1)
        except ConnectionClosed:
            return last


async def attach(port: int, pid: int, host: str = "127.0.0.1") -> Target:
    async with httpx.AsyncClient(
        base_url=f"http://{host}:{port}",
        headers={"authorization": f"Bearer {TOKEN}"},
        timeout=120,
    ) as client:
        answer = await client.post("/api/v1/targets", json={"pid": pid, "rate_hz": 50})
    return Target.model_validate_json(answer.raise_for_status().content)


async def test_no_frame_is_lost_or_doubled_when_the_backend_is_killed(
    known_work: KnownWork,
) -> None:
    port = free_port()
    url = f"ws://127.0.0.1:{port}"
    seen = 0
    async with CollectorProcess(port), AsyncExitStack() as pages:
        async with served(port):
            page = await pages.enter_async_context(LivePage(url, TOKEN))
            await connected(page)
            target = await attach(port, known_work.pid)
            await page.subscribe(target.id)
            seen = await follow(page, seen, 20)
        for _ in range(2):
            seen = await read_to_the_end(page, seen)
            async with served(port):
                page = await pages.enter_async_context(LivePage(url, TOKEN))
                # The backend does not know the target yet, and has nothing of it.
                await page.subscribe(target.id, seen)
                seen = await follow(page, seen, seen + 60)
                fresh = await pages.enter_async_context(LivePage(url, TOKEN))
                await fresh.subscribe(target.id)
                # All of it is still in the collector.
                await follow(fresh, 0, seen)
                assert reported_of_losses(page) == reported_of_losses(fresh) == []


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


def is_on_one_cpu(program: ThreadsRun) -> bool:
    """True if each thread may use a single CPU."""
    return set(map(len, program.masks().values())) == {1}


async def targets(page: httpx.AsyncClient) -> list[Target]:
    answer = await page.get("/api/v1/targets")
    return TargetsResponse.model_validate_json(answer.raise_for_status().content).targets


async def steered(page: httpx.AsyncClient, count: int) -> list[Target]:
    """Return the attached targets once so many of them are shown as steered."""
    deadline = time.monotonic() + WAIT_S
    while True:
        found = [one for one in await targets(page) if one.state == "attached"]
        if sum(bool(one.steering or one.programs) for one in found) == count:
            return found
        assert time.monotonic() < deadline, found
        await asyncio.sleep(0.05)


async def attach_over_http(page: httpx.AsyncClient, **what: object) -> Target:
    answer = await page.post("/api/v1/targets", json=what)
    return Target.model_validate_json(answer.raise_for_status().content)


@needs("root")
async def test_what_a_crashed_collector_watched_is_attached_again(known_work: KnownWork) -> None:
    with AgentFolder() as folder, Steered(waiting_python(), folder) as pool, ThreadsRun() as go:
        async with running_backend(command_seconds=60) as backend, backend.program() as client:
            async with CollectorProcess(backend.port) as collector, backend.page() as page:
                await connected(page)
                before = [
                    await attach_over_http(client, pid=known_work.pid, rate_hz=7),
                    await attach_over_http(client, group={"kind": "tree", "pid": pool.pid}),
                    await attach_over_http(client, pid=go.pid),
                ]
                steer = {"policy": "fixed", "parameters": {"interval_s": 0.5, "size": 1}}
                for target in before[1:]:
                    answer = await client.put(f"/api/v1/targets/{target.id}/steering", json=steer)
                    assert answer.status_code == 200, answer.text
                await asyncio.to_thread(wait_until, lambda: is_on_one_cpu(go))
                # Only a policy that the backend knows of is started again.
                await steered(client, 2)
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
                now = await steered(client, 2)
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
                await asyncio.to_thread(wait_until, lambda: is_on_one_cpu(go))
                assert {one.state for one in await targets(client)} == {"attached", "detached"}


@needs("root")
async def test_one_that_is_stopped_says_goodbye(known_work: KnownWork) -> None:
    async with running_backend(command_seconds=60) as backend, backend.program() as client:
        async with CollectorProcess(backend.port), backend.page() as page:
            await connected(page)
            await attach_over_http(client, pid=known_work.pid)
        ended = await host_when(client, lambda host: host.outage is not None)
        assert ended.outage is not None
        assert ended.outage.kind == "ended"
        async with CollectorProcess(backend.port):
            back = await host_when(client, lambda host: host.connected)
            assert back.outage is None
            assert [one.state for one in await targets(client)] == ["detached"]


BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "faults.py"
CELLS = ("helper/kill/process", "target/kill/process")


def outcome(cell: str) -> tuple[int, dict[str, Any]]:
    """Run a cell; the benchmark's status, and what it found."""
    command = [sys.executable, str(BENCHMARK), "--quick", "--json", "--cells", cell]
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    (found,) = json.loads(done.stdout)["cells"]
    if "unshare" in found.get("failed", ""):
        raise missing("mount-namespace", found["failed"])
    return done.returncode, found


@needs("root")
def test_nothing_is_lost_or_counted_twice() -> None:
    with ThreadPoolExecutor(len(CELLS)) as pool:
        outcomes = dict(zip(CELLS, pool.map(outcome, CELLS), strict=True))
    for cell, (status, found) in outcomes.items():
        assert (status, found["said"]) == (0, True), (cell, found)
        assert (found["lost_threads"], found["twice_threads"]) == (0, 0), found
        assert all(state.startswith("complete: ") for state in found["runs"]), found


def test_a_pattern_leaves_out_what_cannot_be() -> None:
    assert cells("helper/disk-*") == []
    assert cells("none/forks/*") == ["none/forks/tree"]
    assert len(cells("*")) == 75 - 6 + 27 - 2
