"""/ws/collector and /ws/collector/frames: WebSockets of a collector."""

import logging
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from tidscope_wire.proof import PROOF_SCHEME

from tidscope_backend.connections.connection import CloseError, close, connection_of
from tidscope_backend.connections.protocols import collector_messages
from tidscope_backend.ingest.messages import (
    CollectorConnection,
    DisconnectedError,
    HostAuthority,
)
from tidscope_backend.ingest.session import CollectorSessions
from tidscope_backend.security.collector_access import authority_of

_log = logging.getLogger(__name__)
Serve = Callable[[CollectorConnection, HostAuthority | None], Awaitable[None]]


class CollectorEndpoint:
    """WebSocket endpoint of collectors; access is checked before.

    Args:
        sessions: serves the connections.
        max_message_bytes: maximum size of a received message, in bytes.
    """

    def __init__(self, sessions: CollectorSessions, max_message_bytes: int) -> None:
        self._sessions = sessions
        self._limits = collector_messages(max_message_bytes)
        self.router = APIRouter()
        self.router.add_api_websocket_route("/ws/collector", self._control)
        self.router.add_api_websocket_route("/ws/collector/frames", self._frames)

    async def _control(self, socket: WebSocket) -> None:
        await self._serve(socket, self._sessions.serve)

    async def _frames(self, socket: WebSocket) -> None:
        await self._serve(socket, self._sessions.frames.serve)

    async def _serve(self, socket: WebSocket, serve: Serve) -> None:
        connection_of(socket.scope).message_limits = self._limits
        authority = authority_of(socket.scope)
        await socket.accept(headers=[(PROOF_SCHEME.lower().encode(), authority.accepted.encode())])
        try:
            await serve(_Connection(socket), authority)
        except CloseError as error:
            _log.warning("collector closed with %d: %s", error.code, error.reason)
            await close(socket, error.code, error.reason)
        except (DisconnectedError, WebSocketDisconnect):
            pass


class _Connection:
    """Adapter for a WebSocket of the server."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send_text(self, text: str, /) -> None:
        """Send a text message. Raises DisconnectedError."""
        try:
            await self._socket.send_text(text)
        except (RuntimeError, WebSocketDisconnect) as error:
            raise DisconnectedError(str(error)) from error

    async def receive(self) -> str | bytes:
        """Wait for the next message. Raises DisconnectedError."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise DisconnectedError(f"closed with {message.get('code', 1005)}")
        data: bytes | None = message.get("bytes")
        return str(message["text"]) if data is None else data
