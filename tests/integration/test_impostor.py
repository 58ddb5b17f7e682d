"""Whoever takes the port first learns nothing: real collectors and commands, and an impostor."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from backend_server import SECRET, TOKEN, Backend, running_backend
from capabilities import needs
from impostor import Answer, Impostor, invented, nothing_there, reflected, some_page
from processes import stop, wait_until
from programs.known_work import KnownWork
from receiver import connected
from tidscope_backend.cli import backend_client, main
from tidscope_backend.cli.backend_client import (
    BackendClient,
    UnavailableError,
    UntrustedError,
)
from tidscope_processes import CollectorProcess, free_port, served
from tidscope_wire.generated.models import HealthResponse, RunManifest
from uplink_harness import RELAY_ADDRESS

pytestmark = needs("root")
CHOSEN = "a secret that a person chose"
ANSWERS = (invented, reflected, some_page, nothing_there)


async def start(
    verb: str, port: int, *arguments: str, runs: Path | None = None, token: str = TOKEN
) -> asyncio.subprocess.Process:
    """Start a command of ours for a backend at this port."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TIDSCOPE_")}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tidscope_backend", verb, "--port", str(port), *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            **kept,
            "TIDSCOPE_TOKEN": token,
            **({} if runs is None else {"TIDSCOPE_RUNS": str(runs)}),
        },
    )


@pytest.mark.parametrize(
    ("answer", "secret"),
    [*((answer, SECRET) for answer in ANSWERS), (reflected, CHOSEN)],
    ids=[*(answer.__name__ for answer in ANSWERS), "reflected, chosen by a person"],
)
async def test_a_collector_says_nothing_to_an_impostor(answer: Answer, secret: str) -> None:
    async with (
        Impostor(answer) as impostor,
        CollectorProcess(impostor.port, secret=secret) as collector,
    ):
        await collector.says(f"the program at 127.0.0.1:{impostor.port} does not know the secret")
    impostor.assert_learned_nothing(secret)
    # The collector waits before it asks again.
    assert len(impostor.received) == 1


async def test_a_collector_says_nothing_to_who_takes_the_port_later() -> None:
    port = free_port()
    async with CollectorProcess(port) as collector:
        async with served(port):
            await collector.says("connected to the backend")
        async with Impostor(port=port) as impostor:
            await collector.says(f"the program at 127.0.0.1:{port} does not know the secret")
        impostor.assert_learned_nothing(SECRET)
        async with served(port):
            await collector.says("connected to the backend", times=2)


@pytest.mark.parametrize("answer", ANSWERS)
async def test_steer_says_nothing_to_an_impostor(
    answer: Answer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TIDSCOPE_TOKEN", TOKEN)
    async with Impostor(answer) as impostor:
        asked = ["steer", "--port", str(impostor.port), "--pid", str(os.getpid()), "--options"]
        assert await asyncio.to_thread(main, asked) == 1
    errors = capsys.readouterr().err
    assert f"the program at 127.0.0.1:{impostor.port} does not know the token" in errors
    impostor.assert_learned_nothing(TOKEN)


async def test_an_impostor_that_sends_byte_by_byte_holds_no_command_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backend_client, "SIGN_IN_SECONDS", 0.3)

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not reader.at_eof():
                writer.write(b".")
                await writer.drain()
                await asyncio.sleep(0.02)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        client = BackendClient(f"127.0.0.1:{server.sockets[0].getsockname()[1]}", TOKEN)
        with pytest.raises((UnavailableError, UntrustedError)):
            await asyncio.to_thread(client.request, "/health")


async def test_record_names_an_impostor_and_records_without_it(tmp_path: Path) -> None:
    async with Impostor() as impostor:
        process = await start("record", impostor.port, "--json", "--", "true", runs=tmp_path)
        _, errors = await process.communicate()
    assert process.returncode == 0
    warning, last = errors.decode().strip().split("\n")
    assert f"the program at 127.0.0.1:{impostor.port} does not know the token" in warning
    assert RunManifest.model_validate_json(last).counts.frames > 0
    impostor.assert_learned_nothing(TOKEN)


async def test_a_command_says_nothing_to_who_takes_the_port_later(tmp_path: Path) -> None:
    """The session is open by then, and valid when the backend is back."""
    port = free_port()
    with KnownWork() as work:
        async with (
            served(port, TIDSCOPE_RUNS=str(tmp_path)) as backend,
            CollectorProcess(port) as collector,
        ):
            await collector.says("connected to the backend")
            process = await start("record", port, "--pid", str(work.pid), runs=tmp_path)
            await asyncio.to_thread(wait_until, lambda: any(tmp_path.glob("r-*/manifest.json")))
            # The client asks nobody while the port changes hands.
            await asyncio.to_thread(stop, process.pid)
            backend.kill()
            await backend.wait()
            async with Impostor(port=port) as impostor:
                process.send_signal(signal.SIGCONT)
                _, errors = await process.communicate()
    assert process.returncode == 1
    assert f"the program at 127.0.0.1:{port} does not know the token" in errors.decode()
    impostor.assert_learned_nothing(TOKEN, SECRET)


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with running_backend(allow_hosts=(RELAY_ADDRESS,)) as running:
        yield running


class PassedOn:
    """A program that has taken a port, and passes on to the backend at another one."""

    def __init__(self, backend: Backend) -> None:
        self._goal = backend.port
        self.received = b""
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._goal)
        for source, goal in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._copy(source, goal, keep=source is reader))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _copy(
        self, source: asyncio.StreamReader, goal: asyncio.StreamWriter, *, keep: bool
    ) -> None:
        try:
            while data := await source.read(1 << 16):
                self.received += data if keep else b""
                goal.write(data)
                await goal.drain()
        except ConnectionError:
            pass
        finally:
            goal.close()


async def test_who_passes_on_to_the_backends_port_is_found_out(backend: Backend) -> None:
    """8787 was taken, so tidscope runs at 8788; who asks at 8787 is not to be passed on to it."""
    between = PassedOn(backend)
    async with await asyncio.start_server(between, "127.0.0.1", 0) as server:
        port: int = server.sockets[0].getsockname()[1]
        async with CollectorProcess(port) as collector:
            await collector.says(f"the program at 127.0.0.1:{port} does not know the secret")
        process = await start("steer", port, "--pid", str(os.getpid()), "--options")
        _, errors = await process.communicate()
    assert f"the program at 127.0.0.1:{port} does not know the token" in errors.decode()
    assert b"POST /api/v1/proof " in between.received
    assert b"Upgrade" not in between.received
    assert b"/session" not in between.received


async def test_a_viewers_token_works_for_what_viewers_may(backend: Backend) -> None:
    token = backend.settings.view_token
    async with CollectorProcess(backend.port), backend.page() as page:
        await connected(page)
        process = await start(
            "steer", backend.port, "--pid", str(os.getpid()), "--options", token=token
        )
        out, errors = await process.communicate()
    # It is known, and may ask how a program could be steered, which attaches nothing.
    assert process.returncode == 0, errors
    assert b"knob    go-agent" in out
    async with backend.viewer() as client:
        answer = await client.get("/api/v1/health")
    assert HealthResponse.model_validate_json(answer.content).collectors == 0
