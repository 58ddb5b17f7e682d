"""Whoever takes the port first learns nothing: real collectors and commands, and an impostor."""

import asyncio
import base64
import hashlib
import json
import os
import re
import signal
import sys
import urllib.parse
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Self

import pytest
from backend_server import SECRET, TOKEN, Backend, running_backend
from capabilities import needs
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
from tidscope_wire.generated.models import HealthResponse, ProofRequest, ProofResponse, RunManifest
from tidscope_wire.proof import PROOF_SCHEME, collector_subject, stretch
from uplink_harness import RELAY_ADDRESS

Answer = Callable[[ProofRequest], bytes]
CLIENT_HELLO = b"\x16\x03\x01"
"""Begin of a TLS handshake."""
SUBJECTS = ("operator", "viewer", collector_subject("default"))


def http(body: bytes, status: str = "200 OK", kind: str = "application/json") -> bytes:
    """An HTTP answer that ends with the connection."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def invented(_: ProofRequest) -> bytes:
    """Reply of a program that knows the protocol, but no secret."""
    proofs = ["12" * 32, "34" * 32]
    return http(ProofResponse(nonce="ab" * 40, proofs=proofs).model_dump_json().encode())


def reflected(request: ProofRequest) -> bytes:
    """Reply of a program that echoes its input."""
    return http(
        ProofResponse(nonce=request.nonce[:80].ljust(80, "0"), proofs=[request.nonce] * 2)
        .model_dump_json()
        .encode()
    )


def some_page(_: ProofRequest) -> bytes:
    """Reply of an unrelated web server."""
    return http(b"<h1>It works!</h1>", kind="text/html")


def nothing_there(_: ProofRequest) -> bytes:
    """Reply of another web server."""
    return http(b"not found", "404 Not Found", "text/plain")


class Impostor:
    """Listens on a port; use in an ``async with`` statement.

    Args:
        answer: reply to a request for its proof.
        port: port that it takes; 0: one of the kernel's choice.

    Attributes:
        port: port on which it listens.
        received: all that it got, connection by connection.
    """

    def __init__(self, answer: Answer = invented, port: int = 0) -> None:
        self._answer = answer
        self.port = port
        self._server: asyncio.Server | None = None
        self._asked = asyncio.Event()
        self.received: list[bytes] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    async def asked(self) -> None:
        """Wait until somebody asks for its proof again."""
        self._asked.clear()
        await self._asked.wait()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.received)
        self.received.append(b"")
        request = b""
        try:
            while part := await reader.read(1 << 16):
                self.received[number] += part
                request += part
                head, _, body = request.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: (\d+)", head)
                if not head or (length and len(body) < int(length[1])):
                    continue
                request = b""
                if not head.startswith(b"POST /api/v1/proof "):
                    # Further requests would be answered too.
                    writer.write(http(b"{}"))
                    continue
                writer.write(self._answer(ProofRequest.model_validate_json(body)))
                await writer.drain()
                self._asked.set()
                if b"HTTP/1.0" in head:
                    return
        except ConnectionError:
            pass
        finally:
            writer.close()

    def assert_learned_nothing(self, *secrets: str) -> None:
        """Check that it received the request for its proof and nothing else, no secret at all."""
        assert self.received
        for text in self.received:
            # A client that is asked nothing goes without a word.
            for request in text.split(b"POST ")[1:]:
                head, _, body = request.partition(b"\r\n\r\n")
                assert head.startswith(b"/api/v1/proof HTTP/1."), request
                (shown,) = re.findall(rb"(?im)^authorization: *(.*?)\r?$", head)
                assert shown == PROOF_SCHEME.encode()
                assert set(json.loads(body)) == {"subject", "nonce", "port"}
            # Collectors try whether a port that refuses them speaks TLS, without a secret.
            assert text.startswith((b"POST ", CLIENT_HELLO)) or not text, text
            for derived in (one for secret in secrets for one in _derived(secret)):
                assert derived not in text


def _derived(secret: str) -> set[bytes]:
    """A secret, and what a program could send in its place by mistake."""
    raw = secret.encode()
    keys = [stretch(subject, secret) for subject in SUBJECTS]
    hashes = [hashlib.new(name, raw).digest() for name in ("md5", "sha1", "sha256", "sha512")]
    return {
        raw,
        secret.rpartition(".")[2].encode(),
        urllib.parse.quote(secret).encode(),
        *(form(one) for one in (raw, *keys, *hashes) for form in _FORMS),
    }


def _hex(raw: bytes) -> bytes:
    return raw.hex().encode()


_FORMS = (_hex, base64.b64encode, base64.urlsafe_b64encode)


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
    assert len([text for text in impostor.received if text.startswith(b"POST ")]) == 1


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
    # A known peer may ask how a program could be steered; that attaches nothing.
    assert process.returncode == 0, errors
    assert b"knob    go-agent" in out
    async with backend.viewer() as client, asyncio.timeout(120):
        # The backend notices the end of a connection somewhat later.
        collectors = 1
        while collectors:
            answer = await client.get("/api/v1/health")
            assert answer.status_code == 200
            collectors = HealthResponse.model_validate_json(answer.content).collectors
