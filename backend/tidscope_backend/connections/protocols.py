"""The server's HTTP and WebSocket protocols, with deadlines and bounds on input."""

import asyncio
from typing import Any, cast

import h11
from uvicorn import Config
from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame

from tidscope_backend.connections.connection import (
    STATE_KEY,
    Awaited,
    Connection,
    MessageLimits,
)

READ_BYTES = 64 * 1024
MAX_HEAD_BYTES = 16 * 1024
FREE_CHUNKS = 256
SMALLEST_CHUNK = 64
"""Minimum mean bytes per chunk of a body, after the first chunks: each chunk has a fixed cost."""


class HttpProtocol(H11Protocol, asyncio.BufferedProtocol):
    """Serves the HTTP requests of one connection, until it ends or becomes a WebSocket.

    Reads are bounded, so that no peer's input blocks the event loop.

    Args:
        config: configuration of the server.
        server_state: state of the server.
        app_state: state of each request's scope.
        connection: served connection.
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
        """Note that the connection has ended."""
        super().connection_lost(exc)
        self._connection.end()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer for the next bytes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Process the bytes read into the buffer."""
        self._received += nbytes
        self.data_received(bytes(self._buffer[:nbytes]))

    def awaited(self) -> tuple[Awaited | None, int, int]:
        """Return the awaited part of a request, its number and the bytes received."""
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
        """Answer an incomplete request, and end the connection."""
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
        """Return the next event, as in h11."""
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


MAX_FRAGMENTS = 128
TOO_BIG = 1009
"""Message too big (RFC 6455, section 7.4.1)."""
BURST_SECONDS = 1.0

WEBSOCKET_READ_BYTES = 64 * 1024


def page_messages(max_bytes: int) -> MessageLimits:
    """Return bounds on messages of subscribers and of unauthenticated peers."""
    return MessageLimits(max_bytes, per_second=1000, read_bytes=4096)


def collector_messages(max_bytes: int) -> MessageLimits:
    """Return bounds on messages of an authenticated collector."""
    return MessageLimits(max_bytes, per_second=20_000, read_bytes=WEBSOCKET_READ_BYTES)


class WebSocketProtocol(WebSocketsSansIOProtocol, asyncio.BufferedProtocol):
    """Serves a WebSocket.

    - A message larger than the bound is refused by its announced length, before its
      bytes are read. The bound is a subscriber's until the endpoint sets another one.
    - While output to the peer waits (pongs included), nothing is read from the peer.
    - Messages beyond the rate are read later.
    - A peer that does not read can be closed. `send` waits for the transport to drain before each
      message, which is the stream's back-pressure. For a close frame to a stuck peer, it would
      wait for ever.

    Args:
        config: configuration of the server; its `ws_max_size` is the bound of subscribers.
        server_state: state of the server.
        app_state: state of each request's scope.
    """

    def __init__(
        self, config: Config, server_state: ServerState, app_state: dict[str, Any]
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._connection: Connection = app_state[STATE_KEY]
        self._limits = page_messages(config.ws_max_size)
        self._buffer = memoryview(bytearray(self._limits.read_bytes))
        self._allowance = self._limits.per_second * BURST_SECONDS
        self._allowance_s = self.loop.time()
        self._rate_limited: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to serve the WebSocket."""
        super().connection_made(transport)
        self._connection.serve(self.transport, self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection has ended."""
        if self._rate_limited is not None:
            self._rate_limited.cancel()
        super().connection_lost(exc)
        self._connection.end()

    def awaited(self) -> tuple[Awaited | None, int, int]:
        """Nothing: the server's pings detect a dead peer."""
        return None, 0, 0

    def expire(self, awaited: Awaited) -> None:
        """End the connection."""
        self.transport.abort()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer for the next bytes."""
        limits = self._connection.message_limits
        if limits is not None and limits is not self._limits:
            self._limits = limits
            self.conn.max_message_size = limits.max_bytes
            self._buffer = memoryview(bytearray(limits.read_bytes))
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Process the bytes read into the buffer."""
        self.data_received(bytes(self._buffer[:nbytes]))

    def handle_events(self) -> None:
        """Handle bytes already read, and read more when the rate allows."""
        self._spend(len(self.conn.events))
        super().handle_events()

    def handle_cont(self, event: Frame) -> None:
        """Handle a fragment; empty ones do not count towards the size of a message."""
        if self.close_sent:
            return
        if len(self.frames) >= MAX_FRAGMENTS:
            self.conn.fail(TOO_BIG, f"a message of more than {MAX_FRAGMENTS} fragments")
            self.handle_parser_exception()
            return
        super().handle_cont(event)

    def pause_writing(self) -> None:
        """Stop reading while output waits: answers to more input would wait, too."""
        super().pause_writing()
        self._read_on()

    def resume_writing(self) -> None:
        """Resume reading after the peer has read."""
        super().resume_writing()
        self._read_on()

    async def receive(self) -> ASGIReceiveEvent:
        """Return the next message."""
        message = await self.queue.get()
        if self.queue.empty():
            self.read_paused = False
            self._read_on()
        return message

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message, but close without waiting."""
        if message["type"] == "websocket.close":
            self.writable.set()
        await super().send(message)

    def _spend(self, messages: int) -> None:
        rate, now = self._limits.per_second, self.loop.time()
        earned = (now - self._allowance_s) * rate
        self._allowance = min(self._allowance + earned, rate * BURST_SECONDS) - messages
        self._allowance_s = now
        if self._allowance < 0 and self._rate_limited is None:
            self._rate_limited = self.loop.call_later(-self._allowance / rate, self._rate_allows)
            self._read_on()

    def _rate_allows(self) -> None:
        self._rate_limited = None
        self._read_on()

    def _read_on(self) -> None:
        """Read from the socket unless reading is paused."""
        if self.read_paused or self._rate_limited is not None or not self.writable.is_set():
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()
