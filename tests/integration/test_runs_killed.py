"""A real program is recorded while backend, collector or both are killed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from backend_server import NO_KEPT_CONNECTIONS, TOKEN
from live_page import LivePage
from programs.known_work import KnownWork
from receiver import connected
from run_folders import seqs, singles, until
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.reader import RunReader
from tidscope_processes import CollectorProcess, free_port, served
from tidscope_wire.generated.models import RunManifest, RunsResponse, Target

RATE_HZ = 50


def client(port: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers={"authorization": f"Bearer {TOKEN}"},
        timeout=120,
        limits=NO_KEPT_CONNECTIONS,
    )


@asynccontextmanager
async def following(port: int) -> AsyncIterator[LivePage]:
    async with LivePage(f"ws://127.0.0.1:{port}", TOKEN) as page:
        await connected(page)
        yield page


async def record(port: int, page: LivePage, pid: int) -> RunManifest:
    """Attach, see twenty frames, and record."""
    async with client(port) as http:
        answer = await http.post("/api/v1/targets", json={"pid": pid, "rate_hz": RATE_HZ})
        target = Target.model_validate_json(answer.raise_for_status().content)
        await page.subscribe(target.id)
        await page.frames(20)
        answer = await http.post("/api/v1/runs", json={"target": target.id})
        return RunManifest.model_validate_json(answer.raise_for_status().content)


async def written(folder: RunFolder, frames: int) -> None:
    """Wait until a run has so many frames on the disk: it may begin later than the page."""
    await until(lambda: len(seqs(folder)) >= frames)


async def stopped(port: int, run: str) -> RunManifest:
    async with client(port) as http:
        answer = await http.post(f"/api/v1/runs/{run}/stop")
        return RunManifest.model_validate_json(answer.raise_for_status().content)


def manifest_is(folder: RunFolder, wanted: Callable[[RunManifest], bool]) -> Callable[[], bool]:
    return lambda: wanted(folder.read_manifest())


def check_whole(folder: RunFolder) -> RunManifest:
    """All that the manifest counts is there."""
    reader = RunReader(folder.path)
    counts = reader.manifest.counts
    assert len(reader.signals(["seq"])) == counts.frames
    # Stored, an instant of a second has rows of all that changed in that second.
    assert 0 < counts.thread_samples <= len(reader.samples(["tid"]))
    assert len(reader.events()) == counts.events
    return reader.manifest


async def test_a_program_with_many_threads(tmp_path: Path) -> None:
    port = free_port()
    with KnownWork(short_threads=200) as program:
        async with (
            served(port, TIDSCOPE_RUNS=str(tmp_path)),
            CollectorProcess(port),
            following(port) as page,
        ):
            run = await record(port, page, program.pid)
            folder = RunFolder(tmp_path / run.id)
            done = program.command("s")
            program.command("q")
            assert program.wait() >= 0
            await until(folder.threads.exists)
    manifest = check_whole(folder)
    assert (manifest.state, manifest.end) == ("complete", "target-ended")
    assert manifest.target.state == "exited"
    reader = RunReader(folder.path)
    assert manifest.counts.threads == len(reader.threads()) == 200 + len(program.ready.threads)
    # The kernel's exit records of short threads are in the run.
    table = reader.threads().to_pylist()
    short = {row["tid"]: row["last"]["cpu_run_ns"] for row in table if row["from_ns"] > 0}
    for account in done.threads:
        assert short[account.tid] >= account.cpu_ns * 0.9


async def test_a_killed_backend_goes_on_where_it_was_and_one_that_is_asked_to_end(
    tmp_path: Path,
) -> None:
    port = free_port()
    with KnownWork() as program:
        async with CollectorProcess(port):
            async with served(port, TIDSCOPE_RUNS=str(tmp_path)), following(port) as page:
                run = await record(port, page, program.pid)
                folder = RunFolder(tmp_path / run.id)
                await written(folder, 20)
            first, before = seqs(folder)[0][0], seqs(folder)[-1][1]
            program.command("b")
            async with (
                served(port, TIDSCOPE_RUNS=str(tmp_path)) as backend,
                following(port) as page,
            ):
                await page.subscribe(run.target.id)
                await page.frames(before + 50)
                backend.terminate()
                await backend.wait()
            left = folder.read_manifest()
            assert (left.state, left.end) == ("interrupted", "backend-lost")
            async with served(port, TIDSCOPE_RUNS=str(tmp_path)), following(port) as page:
                await page.subscribe(run.target.id)
                await page.frames(before + 100)
                done = await stopped(port, run.id)
                await until(folder.threads.exists)
    found = seqs(folder)
    assert found == singles(found[0][0], found[-1][1])
    assert found[0][0] == first < before
    assert found[-1][1] >= before + 100
    assert (done.state, done.end, done.losses.frames) == ("complete", "stopped", 0)
    check_whole(folder)


async def test_a_killed_collector(tmp_path: Path) -> None:
    port = free_port()
    with KnownWork() as program:
        async with served(port, TIDSCOPE_RUNS=str(tmp_path)):
            async with CollectorProcess(port) as collector, following(port) as page:
                run = await record(port, page, program.pid)
                folder = RunFolder(tmp_path / run.id)
                await written(folder, 20)
                await collector.kill()
            async with CollectorProcess(port):
                await until(manifest_is(folder, lambda manifest: manifest.end is not None))
    manifest = check_whole(folder)
    assert (manifest.state, manifest.end) == ("interrupted", "collector-lost")
    found = seqs(folder)
    assert found == singles(found[0][0], found[-1][1])
    assert len(found) >= 20


async def test_both_are_killed(tmp_path: Path) -> None:
    port = free_port()
    with KnownWork() as program:
        async with (
            served(port, TIDSCOPE_RUNS=str(tmp_path)) as backend,
            CollectorProcess(port) as collector,
            following(port) as page,
        ):
            run = await record(port, page, program.pid)
            folder = RunFolder(tmp_path / run.id)
            await written(folder, 20)
            backend.kill()
            await collector.kill()
        # State of the folder before any backend has opened it.
        left = seqs(folder)
        assert len(left) >= 20
        async with served(port, TIDSCOPE_RUNS=str(tmp_path)), CollectorProcess(port):
            await until(manifest_is(folder, lambda manifest: manifest.end is not None))
            async with client(port) as http:
                answer = await http.get("/api/v1/runs")
    manifest = check_whole(folder)
    assert (manifest.state, manifest.end) == ("interrupted", "backend-lost")
    assert "all after the last frame is missing" in manifest.end_detail
    assert seqs(folder) == left
    times = RunReader(folder.path).signals(["time_ns"])["time_ns"].to_pylist()
    assert (manifest.from_ns, manifest.to_ns) == (times[0], times[-1])
    (listed,) = RunsResponse.model_validate_json(answer.content).runs
    assert (listed.id, listed.end) == (run.id, "backend-lost")
