"""Messages of a page beyond the rate are read later, whatever they are."""

import asyncio
from typing import Any

from tidscope_backend.connections.connection import STATE_KEY, Connection
from tidscope_backend.connections.protocols import BURST_SECONDS, WebSocketProtocol
from uvicorn import Config
from uvicorn.server import ServerState

UPGRADE = (
    b"GET /ws/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
PONG = b"\x8a\x80" + bytes(4)
MANY = 1_000_000


class Transport(asyncio.Transport):
    """Remembers whether it would be read from."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = asyncio.Event()
        self.reading.set()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def pause_reading(self) -> None:
        self.reading.clear()

    def resume_reading(self) -> None:
        self.reading.set()

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass


async def _accept(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    await receive()


async def test_pongs_without_end_are_read_at_a_bounded_rate() -> None:
    config = Config(_accept, ws_max_size=4096, log_config=None, ws_per_message_deflate=False)
    config.load()
    protocol = WebSocketProtocol(config, ServerState(), {STATE_KEY: Connection("")})
    transport = Transport()
    protocol.connection_made(transport)

    def receive(data: bytes) -> None:
        buffer = protocol.get_buffer(len(data))
        buffer[: len(data)] = data
        protocol.buffer_updated(len(data))

    receive(UPGRADE)
    assert len(protocol.get_buffer(-1)) <= 4096
    sent = 0
    while transport.reading.is_set():
        receive(PONG * 100)
        sent += 100
        assert sent < MANY, "nothing stops it"
    assert sent >= 1000 * BURST_SECONDS
    await transport.reading.wait()
    protocol.connection_lost(None)
