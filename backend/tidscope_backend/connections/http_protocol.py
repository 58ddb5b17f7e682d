"""The server's HTTP protocol, with deadlines for what a peer sends."""

import asyncio
from typing import Any, cast

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from tidscope_backend.connections.connection import STATE_KEY, Awaited, Connection

READ_BYTES = 64 * 1024
MAX_HEAD_BYTES = 16 * 1024
FREE_CHUNKS = 256
SMALLEST_CHUNK = 64
"""On average, behind the first ones: each chunk of a body costs the same, one byte or many."""


class HttpProtocol(H11Protocol, asyncio.BufferedProtocol):
    """Serves the HTTP requests of one connection, until it ends or becomes a WebSocket.

    It reads a bounded number of bytes at once, so that no peer's input holds up the event loop.

    Args:
        config: of the server.
        server_state: of the server.
        app_state: what each request finds in its scope's state.
        connection: that it serves.
    """

    _buffer = memoryview(bytearray(READ_BYTES))

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        connection: Connection,
    ) -> None:
        super().__init__(config, server_state, {**app_state, STATE_KEY: connection})
        self.conn = self._http = _BoundedHttp(h11.SERVER, MAX_HEAD_BYTES)
        self._connection = connection
        self._received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to serve."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._connection.serve(self.transport, self)

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        super().connection_lost(exc)
        self._connection.end()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes are read to."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """So many bytes have come."""
        self._received += nbytes
        self.data_received(bytes(self._buffer[:nbytes]))

    def awaited(self) -> tuple[Awaited | None, int, int]:
        """What of a request is still to come; its number; bytes received."""
        return self._awaited(), self._http.requests, self._received

    def _awaited(self) -> Awaited | None:
        state = self.conn.their_state
        if state is h11.IDLE:
            return "head"
        if state is not h11.SEND_BODY or self.cycle is None:
            return None
        if self.cycle.response_complete:
            return "discard"
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            return None
        return "body"

    def expire(self, awaited: Awaited) -> None:
        """Answer a request that has begun, and end."""
        begun = self.conn.trailing_data[0] if awaited == "head" else awaited == "body"
        if begun and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [("connection", "close"), ("content-length", "0")]
            for event in (h11.Response(status_code=408, headers=headers), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()


class _BoundedHttp(h11.Connection):
    """Refuses bodies in tiny chunks; counts requests."""

    def __init__(self, role: type[h11.SERVER], max_incomplete_event_size: int) -> None:
        super().__init__(role, max_incomplete_event_size)
        self.requests = 0
        self._chunks = 0
        self._chunk_bytes = 0

    def next_event(self) -> Any:
        """The next event, as of h11."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.requests += 1
            self._chunks = self._chunk_bytes = 0
        elif isinstance(event, h11.Data):
            self._chunks += 1
            self._chunk_bytes += len(event.data)
            if self._chunks > FREE_CHUNKS + self._chunk_bytes // SMALLEST_CHUNK:
                raise h11.RemoteProtocolError("the body comes in too small chunks")
        return event
