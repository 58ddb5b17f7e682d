"""`tidscope collect --keep-minutes`: hosts without a backend keep their last minutes."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from backend_server import SECRET, Backend, running_backend
from capabilities import needs
from nats_servers import Servers, collecting
from processes import wait_until
from programs.known_work import KnownWork
from receiver import connected
from tidscope_backend.ring.listing import FOLDER, ring_tracks
from tidscope_backend.store.reader import RunReader
from tidscope_processes import environment, run

pytestmark = needs("root")
LONGEST_S = 60.0
KEEP = ("--keep-minutes", "5")
Host = Callable[[Path], AbstractAsyncContextManager[Backend]]


@asynccontextmanager
async def host_of_a_backend(folder: Path) -> AsyncIterator[Backend]:
    """A backend, and a host that its collector gives to it."""
    async with running_backend(command_seconds=60) as backend:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tidscope_backend", "collect", "--no-audit", *KEEP),
            *("--backend", f"ws://127.0.0.1:{backend.port}"),
            env=environment(TIDSCOPE_COLLECTOR_SECRET=SECRET, TIDSCOPE_RUNS=str(folder)),
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            yield backend
        finally:
            process.terminate()
            _, said = await process.communicate()
        assert process.returncode == 0, said.decode()


@asynccontextmanager
async def host_of_a_fleet(folder: Path) -> AsyncIterator[Backend]:
    """A backend and a host that meet at a server of NATS."""
    async with (
        Servers(folder) as servers,
        collecting(servers, folder, options=KEEP, TIDSCOPE_RUNS=str(folder)),
        running_backend(command_seconds=60, fleet=servers.settings("backend")) as backend,
    ):
        yield backend


@pytest.mark.parametrize("host", [host_of_a_backend, host_of_a_fleet], ids=["backend", "fleet"])
async def test_the_last_minutes_are_on_the_host_when_all_have_ended(
    host: Host, tmp_path: Path
) -> None:
    async with asyncio.timeout(240):
        with KnownWork() as program:
            async with (
                host(tmp_path) as backend,
                backend.page() as page,
                backend.program() as client,
            ):
                await connected(page)
                attached = await client.post("/api/v1/targets", json={"pid": program.pid})
                assert attached.is_success, attached.text
                await asyncio.to_thread(program.command, "b")
                await asyncio.to_thread(
                    wait_until, lambda: bool(ring_tracks(tmp_path / FOLDER)), LONGEST_S
                )
    (track,) = ring_tracks(tmp_path / FOLDER)
    numbers = RunReader(tmp_path / FOLDER / track.id).signals(["seq"])["seq"].to_pylist()
    assert numbers == list(range(1, len(numbers) + 1))
    made = run("runs", "cut", str(program.pid), TIDSCOPE_RUNS=str(tmp_path))
    assert made.returncode == 0, made.stderr
    path = Path(made.stdout.removeprefix("cut ").strip())
    assert RunReader(path).signals(["seq"])["seq"].to_pylist() == numbers
