"""Deadlines of connections, and bounds on messages of WebSockets."""

import asyncio
import os
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from backend_builders import FIELDS, TARGET_ID, frame_bytes, target
from backend_server import SECRET, TOKEN, Backend, running_backend
from raw_connections import BETWEEN_SECONDS, RawConnection, raw_connection
from tidscope_backend.connections.connection import Waits
from tidscope_wire.generated.limits import MAX_PAGE_COMMAND_BYTES

WAIT = 200
SHORT = 1.0
LARGE = 32 * 1024 * 1024
HEAD = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % (
    TOKEN.encode()
)
POST = (
    b"POST /api/v1/targets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
    b"Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n"
) % TOKEN.encode()


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    (tmp_path / "large.bin").write_bytes(bytes(LARGE))
    waits = Waits(head=SHORT, body=SHORT, discard=SHORT, unsent=SHORT, check=0.1)
    async with asyncio.timeout(WAIT), running_backend(waits=waits, web_dir=tmp_path) as running:
        yield running


async def timed_out(backend: Backend) -> int:
    """Number of connections that the backend reports as timed out."""
    async with backend.program() as client:
        count = (await client.get("/api/v1/health")).json()["connections"]["timed_out"]
        assert isinstance(count, int)
        return count


async def test_a_connection_that_sends_nothing(backend: Backend) -> None:
    async with raw_connection(backend.port) as silent:
        assert await silent.rest() == b""
    assert await timed_out(backend) == 1


async def test_a_head_that_comes_a_byte_at_a_time(backend: Backend) -> None:
    async with raw_connection(backend.port) as slow:
        answer = await slow.trickle(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000)
        assert answer.startswith(b"HTTP/1.1 408 ")
    assert await timed_out(backend) == 1


async def test_a_second_request_that_comes_a_byte_at_a_time(backend: Backend) -> None:
    async with raw_connection(backend.port) as slow:
        await slow.send(HEAD)
        assert (await slow.answer()).startswith(b"HTTP/1.1 200 ")
        answer = await slow.trickle(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000)
        assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_comes_a_byte_at_a_time(backend: Backend) -> None:
    async with raw_connection(backend.port) as slow:
        await slow.send(POST)
        assert (await slow.trickle(b" ")).startswith(b"HTTP/1.1 408 ")
    assert await timed_out(backend) == 1


async def test_a_body_that_stops(backend: Backend) -> None:
    async with raw_connection(backend.port) as slow:
        await slow.send(POST + b"{")
        assert (await slow.rest()).startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_goes_on_behind_its_answer(backend: Backend) -> None:
    async with raw_connection(backend.port) as slow:
        # The missing session is refused before any of the body is read.
        await slow.send(POST.replace(b"Authorization", b"X-Nothing"))
        assert (await slow.answer()).startswith(b"HTTP/1.1 403 ")
        assert await slow.trickle(b" ") == b""


async def test_a_body_in_tiny_chunks(bounded_backend: Backend) -> None:
    async with raw_connection(bounded_backend.port) as fast:
        head = POST.replace(b"Content-Length: 60000", b"Transfer-Encoding: chunked")
        await fast.send(head + b"1\r\n \r\n" * 60_000)
        assert (await fast.rest()).startswith(b"HTTP/1.1 400 ")


async def test_an_answer_that_is_never_read(backend: Backend) -> None:
    async with raw_connection(backend.port, receive_buffer=4096) as stuck:
        stuck.stop_reading()
        await stuck.send(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while True:
            if await timed_out(backend):
                break
            await asyncio.sleep(BETWEEN_SECONDS)
        stuck.read_on()
        assert len(await stuck.rest()) < LARGE


async def test_an_answer_that_is_read_all_the_time(backend: Backend) -> None:
    async with raw_connection(backend.port) as reading:
        await reading.send(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert len(await reading.answer()) > LARGE


FINAL = 0x80
CONTINUATION, TEXT, BINARY, CLOSE, PING = 0, 1, 2, 8, 9
MESSAGE_TOO_BIG = 1009
MASK = bytes(4)
FLOOD_BYTES = 32 * 1024 * 1024


@pytest.fixture
async def bounded_backend() -> AsyncIterator[Backend]:
    async with asyncio.timeout(WAIT), running_backend() as running:
        yield running


@asynccontextmanager
async def upgraded(
    backend: Backend, path: str = "/ws/live", secret: str = TOKEN
) -> AsyncIterator[RawConnection]:
    """A WebSocket whose frames the test writes itself."""
    async with raw_connection(backend.port) as raw:
        await raw.send(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        head = await raw.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head
        yield raw


def frame(opcode: int, payload: bytes = b"", final: bool = True, announced: int = -1) -> bytes:
    """A masked frame (RFC 6455, section 5.2).

    Args:
        opcode: what it is.
        payload: what it carries.
        final: it is the last of its message.
        announced: the length that it claims, if not that of its payload.
    """
    length = len(payload) if announced < 0 else announced
    start = bytes([opcode | (FINAL if final else 0)])
    if length < 126:
        return start + bytes([0x80 | length]) + MASK + payload
    return start + bytes([0x80 | 127]) + struct.pack("!Q", length) + MASK + payload


async def close_code(raw: RawConnection) -> int:
    """Read until the backend's close frame."""
    while True:
        opcode, length = await raw.reader.readexactly(2)
        if length == 126:
            (length,) = struct.unpack("!H", await raw.reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await raw.reader.readexactly(8))
        payload = await raw.reader.readexactly(length)
        if opcode & 0x0F == CLOSE:
            (code,) = struct.unpack("!H", payload[:2])
            assert isinstance(code, int)
            return code


@pytest.mark.parametrize("opcode", [TEXT, BINARY])
async def test_a_message_that_announces_too_much(bounded_backend: Backend, opcode: int) -> None:
    async with upgraded(bounded_backend) as page:
        # Nothing of it comes: the length alone has to do.
        await page.send(frame(opcode, announced=MAX_PAGE_COMMAND_BYTES + 1))
        assert await close_code(page) == MESSAGE_TOO_BIG


async def test_a_message_of_fragments_that_becomes_too_large(bounded_backend: Backend) -> None:
    async with upgraded(bounded_backend) as page:
        half = bytes(MAX_PAGE_COMMAND_BYTES // 2)
        await page.send(frame(TEXT, half, final=False) + frame(CONTINUATION, half, final=False))
        await page.send(frame(CONTINUATION, announced=1))
        assert await close_code(page) == MESSAGE_TOO_BIG


async def test_a_message_of_empty_fragments_without_end(bounded_backend: Backend) -> None:
    async with upgraded(bounded_backend) as page:
        await page.send(frame(TEXT, b"", final=False) + frame(CONTINUATION, final=False) * 1000)
        assert await close_code(page) == MESSAGE_TOO_BIG


async def test_a_collector_has_them(bounded_backend: Backend) -> None:
    async with (
        bounded_backend.collector(targets=[target()]) as collector,
        bounded_backend.page() as page,
    ):
        await collector.greeted()
        await page.subscribe(TARGET_ID)
        large = frame_bytes(
            1,
            {tid: [tid] * len(FIELDS) for tid in range(20_000)},
            identity=dict.fromkeys(range(20000), (0, "worker")),
        )
        assert len(large) > 50 * MAX_PAGE_COMMAND_BYTES
        await collector.send(large)
        assert (await page.frame())[1] == large


@pytest.mark.parametrize(("path", "secret"), [("/ws/live", TOKEN), ("/ws/collector", SECRET)])
async def test_pings_of_a_peer_that_does_not_read_are_not_read(
    bounded_backend: Backend, path: str, secret: str
) -> None:
    pings = frame(PING, os.urandom(125)) * 512
    async with (
        upgraded(bounded_backend, path, secret) as flood,
        bounded_backend.program() as client,
    ):
        flood.stop_reading()
        sent = 0
        while sent < FLOOD_BYTES:
            flood.writer.write(pings)
            sent += len(pings)
            try:
                async with asyncio.timeout(3):
                    await flood.writer.drain()
            except TimeoutError:
                break
        assert sent < FLOOD_BYTES, "the backend has read it all, and holds the answers"
        assert (await client.get("/api/v1/health")).status_code == 200
