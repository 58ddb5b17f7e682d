"""Another local user fills the backend's port with silent connections: nobody else notices."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from backend_server import TOKEN
from capabilities import needs
from live_page import LivePage
from programs.known_work import KnownWork
from programs.silent_connections import silent_connections
from receiver import connected
from run_folders import seqs, singles, until
from tidscope_backend.store.folder import RunFolder
from tidscope_processes import CollectorProcess, free_port, served
from tidscope_wire.generated.models import HealthResponse, RunManifest, Target

ANOTHER_USER = 65534
MORE = 100
"""Silent connections beyond the descriptors of the backend."""


def client(port: int) -> httpx.AsyncClient:
    """A program that shows the token; each of its requests has a connection of its own."""
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers={"authorization": f"Bearer {TOKEN}", "connection": "close"},
        timeout=120,
    )


@asynccontextmanager
async def followed(port: int, pid: int) -> AsyncIterator[tuple[LivePage, Target]]:
    """A page that follows a process."""
    async with LivePage(f"ws://127.0.0.1:{port}", TOKEN) as page, client(port) as http:
        await connected(page)
        answer = await http.post("/api/v1/targets", json={"pid": pid, "rate_hz": 50})
        target = Target.model_validate_json(answer.raise_for_status().content)
        await page.subscribe(target.id)
        yield page, target


@needs("root")
@pytest.mark.parametrize("descriptors", [1024, 96])
async def test_an_operator_works_and_a_run_is_recorded(tmp_path: Path, descriptors: int) -> None:
    limited = ("prlimit", f"--nofile={descriptors}:{descriptors}")
    flood, port = descriptors + MORE, free_port()
    with KnownWork() as program:
        async with (
            served(port, within=limited, TIDSCOPE_RUNS=str(tmp_path)) as backend,
            CollectorProcess(port),
            followed(port, program.pid) as (page, target),
            client(port) as http,
        ):
            await page.frames(5)
            answer = await http.post("/api/v1/runs", json={"target": target.id})
            run = RunManifest.model_validate_json(answer.raise_for_status().content)
            folder = RunFolder(tmp_path / run.id)
            with silent_connections(ANOTHER_USER, port, flood):
                for _ in range(10):
                    (await http.get("/api/v1/health")).raise_for_status()
                # It is new to the backend: no session and no connection of before.
                async with httpx.AsyncClient(timeout=120) as person:
                    origin = f"http://127.0.0.1:{port}"
                    answer = await person.post(
                        f"{origin}/api/v1/session",
                        json={"token": TOKEN},
                        headers={"origin": origin},
                    )
                    answer.raise_for_status()
                async with followed(port, program.pid) as (second, _):
                    await second.frames(5)
                before = (await page.frame())[0].seq
                await page.frames(before + 20)
                answer = await http.post(f"/api/v1/runs/{run.id}/stop")
                done = RunManifest.model_validate_json(answer.raise_for_status().content)
                await until(folder.threads.exists)
                health = await http.get("/api/v1/health")
                metrics = await http.get("/metrics")
            backend.terminate()
            assert backend.stderr is not None
            said = (await backend.stderr.read()).decode()
    assert (done.state, done.end, done.losses.frames) == ("complete", "stopped", 0)
    found = seqs(folder)
    assert found == singles(found[0][0], found[-1][1])
    counts = HealthResponse.model_validate_json(health.content).connections
    assert counts.open < descriptors // 4
    assert counts.evicted + counts.refused > flood // 2
    assert counts.descriptor_shortages == 0
    (evicted,) = re.findall(r"^tidscope_connections_evicted_total (\S+)$", metrics.text, re.M)
    assert float(evicted) >= counts.evicted
    # One line of each kind in a minute, however many connections they stand for.
    for kind in ("has ended to make room", "is refused"):
        assert len([line for line in said.splitlines() if kind in line]) <= 2
    assert f"user id {ANOTHER_USER}" in said
