"""What a page sends is bounded before it is read: message, fragments, control frames."""

import asyncio
import os
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from backend_builders import FIELDS, TARGET_ID, frame_bytes, target
from backend_server import SECRET, TOKEN, Backend, running_backend
from raw_connections import RawConnection, raw_connection
from tidscope_wire.generated.limits import MAX_PAGE_COMMAND_BYTES

WAIT = 200
FINAL = 0x80
CONTINUATION, TEXT, BINARY, CLOSE, PING = 0, 1, 2, 8, 9
MESSAGE_TOO_BIG = 1009
MASK = bytes(4)
FLOOD_BYTES = 32 * 1024 * 1024


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
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
async def test_a_message_that_announces_too_much(backend: Backend, opcode: int) -> None:
    async with upgraded(backend) as page:
        # Nothing of it comes: the length alone has to do.
        await page.send(frame(opcode, announced=MAX_PAGE_COMMAND_BYTES + 1))
        assert await close_code(page) == MESSAGE_TOO_BIG


async def test_a_message_of_fragments_that_becomes_too_large(backend: Backend) -> None:
    async with upgraded(backend) as page:
        half = bytes(MAX_PAGE_COMMAND_BYTES // 2)
        await page.send(frame(TEXT, half, final=False) + frame(CONTINUATION, half, final=False))
        await page.send(frame(CONTINUATION, announced=1))
        assert await close_code(page) == MESSAGE_TOO_BIG


async def test_a_message_of_empty_fragments_without_end(backend: Backend) -> None:
    async with upgraded(backend) as page:
        await page.send(frame(TEXT, b"", final=False) + frame(CONTINUATION, final=False) * 1000)
        assert await close_code(page) == MESSAGE_TOO_BIG


async def test_a_collector_has_them(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector, backend.page() as page:
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
    backend: Backend, path: str, secret: str
) -> None:
    pings = frame(PING, os.urandom(125)) * 512
    async with upgraded(backend, path, secret) as flood, backend.program() as client:
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
