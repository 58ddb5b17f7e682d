"""Connections that a test writes byte by byte: TCP to the backend, and the socket of an agent."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from schema_check import check

BETWEEN_SECONDS = 0.02


@dataclass(frozen=True)
class RawConnection:
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)
        await self.writer.drain()

    async def trickle(self, data: bytes) -> bytes:
        """Send a byte at a time, again and again, until the backend ends; what it answered."""
        answer = asyncio.create_task(self.rest())
        at = 0
        while not answer.done():
            self.writer.write(data[at % len(data) :][:1])
            at += 1
            await asyncio.wait((answer,), timeout=BETWEEN_SECONDS)
        return await answer

    async def answer(self) -> bytes:
        """Head and body of an answer whose length is announced."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        (length,) = (
            int(line.partition(b":")[2])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        return head + await self.reader.readexactly(length)

    def stop_reading(self) -> None:
        """Read nothing, so that the backend finds the window full."""
        cast("asyncio.Transport", self.writer.transport).pause_reading()

    def read_on(self) -> None:
        """Read again."""
        cast("asyncio.Transport", self.writer.transport).resume_reading()

    async def rest(self) -> bytes:
        """All that comes until the backend ends the connection."""
        got = b""
        try:
            while chunk := await self.reader.read(65536):
                got += chunk
        except ConnectionError:
            pass
        return got


@asynccontextmanager
async def raw_connection(
    port: int, receive_buffer: int | None = None
) -> AsyncIterator[RawConnection]:
    """Connect.

    Args:
        port: port of the backend.
        receive_buffer: receive buffer in bytes, without reading ahead; None: kernel default.
    """
    sock = socket.socket()
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=sock, limit=receive_buffer or 65536)
    try:
        yield RawConnection(reader, writer)
    finally:
        writer.transport.abort()


class RawAgent:
    """A connection to an agent's socket; what comes back is compared with the schemas."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(120)
        self.socket.connect(str(path))
        self._lines = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        """Send as much of it as the agent takes."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The peer has closed; its earlier output can still be read.

    def answer(self) -> Any:
        """The next line that it sends; None at the end."""
        try:
            text = self._lines.readline()
        except ConnectionResetError:
            return None  # The peer closed without reading all input.
        if not text:
            return None
        assert text.endswith(b"\n")
        message = json.loads(text)
        kind = "AgentFailure" if "error" in message else "AgentAnswer"
        check("AgentNotice" if "id" not in message else kind, message)
        return message

    def call(self, method: str, number: int = 1, **members: Any) -> Any:
        """Make a call; its answer."""
        message = {"jsonrpc": "2.0", "id": number, "method": method, **members}
        self.send(json.dumps(message).encode() + b"\n")
        return self.answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        self.socket.close()
