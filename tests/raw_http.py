"""A TCP connection to the backend that a test writes byte by byte."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

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
        port: of the backend.
        receive_buffer: of the socket, bytes, and nothing is read ahead; None: the kernel chooses.
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
