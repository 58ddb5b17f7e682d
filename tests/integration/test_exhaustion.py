"""Connections and file descriptors run out: a recording goes on, and others are served."""

import asyncio
import os
import re
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import pytest
from backend_builders import FIELDS, key_frame, stream
from backend_server import TOKEN
from capabilities import needs
from live_page import LivePage
from programs.known_work import KnownWork
from programs.silent_connections import silent_connections
from raw_connections import raw_connection
from receiver import connected
from run_folders import open_seqs, run_folder, seqs, singles, until
from run_harness import RunHarness
from tidscope_backend.recording.part_sealer import PartSealer, seal_in_process
from tidscope_backend.recording.recording import PartLimits
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import RunFolder
from tidscope_processes import CollectorProcess, free_port, served
from tidscope_wire.generated.models import HealthResponse, RunManifest, Target
from tidscope_wire.problems import ProblemError

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
                # The client is new to the backend, without session or earlier connection.
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


REQUEST = f"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"


STREAMS = {"0", "1", "2"}


@contextmanager
def no_descriptors(pid: int) -> Iterator[None]:
    """Forbid a process to open files; open descriptors stay."""
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # A new descriptor is below the limit; all numbers there are those of the standard streams.
    assert set(os.listdir(f"/proc/{pid}/fd")) >= STREAMS
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(STREAMS), limits[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


async def test_a_recording_goes_on_in_its_part_until_there_are_some(tmp_path: Path) -> None:
    # Each key frame would begin a part.
    harness = RunHarness(tmp_path, PartLimits(part_ns=1))
    await harness.start()
    await harness.written(*stream(1, 3))
    run = (await harness.begin()).id
    await harness.written(key_frame(4), key_frame(5))
    parts = len(harness.folder(run).open_parts())
    with no_descriptors(os.getpid()):
        await harness.written(*(key_frame(seq) for seq in range(6, 10)))
        await harness.advance()
    assert harness.recorder.recordings
    assert len(harness.folder(run).open_parts()) == parts
    await harness.written(key_frame(10))
    assert len(harness.folder(run).open_parts()) == parts + 1
    done = await harness.recorder.stop(run)
    assert (done.state, done.losses.frames) == ("complete", 0)
    assert open_seqs(harness.folder(run)) == singles(3, 10)
    await harness.stop()


async def test_a_recording_that_cannot_begin_says_why(tmp_path: Path) -> None:
    harness = RunHarness(tmp_path)
    await harness.start()
    await harness.written(*stream(1, 3))
    with no_descriptors(os.getpid()), pytest.raises(ProblemError) as refused:
        await harness.begin()
    problem = refused.value.problem
    assert problem.type.endswith(":runs-unavailable")
    assert "Too many open files" in problem.detail
    assert "ulimit" in problem.hint
    await harness.stop()


@needs("root")
async def test_connections_wait_until_there_are_some() -> None:
    port = free_port()
    async with (
        asyncio.timeout(200),
        served(port) as backend,
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            headers={"authorization": f"Bearer {TOKEN}"},
            timeout=120,
        ) as known,
    ):
        # The connection stays open.
        (await known.get("/api/v1/health")).raise_for_status()
        with no_descriptors(backend.pid):
            async with raw_connection(port) as waiting:
                await waiting.send(REQUEST.encode())
                while True:
                    health = (await known.get("/api/v1/health")).raise_for_status().json()
                    if health["connections"]["descriptor_shortages"]:
                        break
                _, hard = resource.prlimit(backend.pid, resource.RLIMIT_NOFILE)
                resource.prlimit(backend.pid, resource.RLIMIT_NOFILE, (hard, hard))
                assert (await waiting.answer()).startswith(b"HTTP/1.1 200 ")
        backend.terminate()
        assert backend.stderr is not None
        said = (await backend.stderr.read()).decode()
    lines = [line for line in said.splitlines() if "no connection can be accepted" in line]
    assert len(lines) == 1
    assert "Too many open files" in lines[0]


@needs("root")
async def test_the_backend_takes_as_many_as_it_may_have() -> None:
    port = free_port()
    async with (
        asyncio.timeout(200),
        served(port, within=("prlimit", "--nofile=512:700")) as backend,
        raw_connection(port) as connection,
    ):
        await connection.send(REQUEST.encode())
        await connection.answer()
        assert resource.prlimit(backend.pid, resource.RLIMIT_NOFILE) == (700, 700)


async def test_a_part_is_sealed_when_there_are_some(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", [stream(1, 5)], FIELDS, closed=0)
    attempts = 0

    async def seal(folder: RunFolder, part: int | None) -> None:
        nonlocal attempts
        attempts += 1
        if attempts > 1:
            await seal_in_process(folder, part)
            return
        with no_descriptors(os.getpid()):
            await seal_in_process(folder, part)

    sealer = PartSealer(Disk(), seal)
    sealer.start()
    sealer.part(folder, 1)
    await sealer.idle()
    await sealer.stop()
    assert attempts == 2
    assert folder.open_parts() == []
    assert seqs(folder) == singles(1, 5)
