"""A peer that does not go on with its request, or with reading the answer, ends."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from backend_server import TOKEN, Backend, running_backend
from raw_connections import BETWEEN_SECONDS, raw_connection
from tidscope_backend.connections.connection import Waits

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
    """How many connections the backend says it has ended because of their slowness."""
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
        # It is refused for its missing session before any of its body is read.
        await slow.send(POST.replace(b"Authorization", b"X-Nothing"))
        assert (await slow.answer()).startswith(b"HTTP/1.1 403 ")
        assert await slow.trickle(b" ") == b""


async def test_a_body_in_tiny_chunks(backend: Backend) -> None:
    async with raw_connection(backend.port) as fast:
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
