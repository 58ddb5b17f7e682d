"""A backend's session with one host over NATS, as the two connections of a collector."""

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Protocol

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.ingest.messages import CollectorConnection, DisconnectedError, HostAuthority
from tidscope_backend.ingest.session import CollectorSessions
from tidscope_backend.nats_link.bus import Bus
from tidscope_backend.nats_link.envelopes import (
    BEAT,
    CLOSE,
    CONTROL,
    DATA,
    FRAME,
    OPEN,
    Inbound,
    Outbound,
    StreamBrokenError,
)
from tidscope_backend.nats_link.relay_counts import RelayCounts
from tidscope_backend.nats_link.subjects import Subjects
from tidscope_backend.security.collector_access import NatsAuthority

_log = logging.getLogger(__name__)
SESSION_BYTES = 16
MAX_UNREAD_BYTES = 64 * 1024 * 1024
"""Maximum bytes that wait to be taken in; beyond it the session ends, and the next one resumes."""


class Serve(Protocol):
    """Serves a connection of a collector, until it ends."""

    async def __call__(self, connection: CollectorConnection, authority: HostAuthority) -> None:
        """Serve a connection. Raises CloseError, DisconnectedError."""


class _Connection:
    """One of the two connections of a session.

    Args:
        send: sends a text to the host.
    """

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._unread: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self._opened = asyncio.Event()
        self.unread_bytes = 0

    async def opened(self) -> None:
        """Wait until there is something to receive."""
        await self._opened.wait()

    async def receive(self) -> str | bytes:
        """Wait for the next message. Raises DisconnectedError."""
        message = await self._unread.get()
        if message is None:
            raise DisconnectedError("the session over NATS has ended")
        self.unread_bytes -= len(message)
        return message

    async def send_text(self, text: str, /) -> None:
        """Send a text message."""
        self._send(text)

    def deliver(self, message: str | bytes | None) -> None:
        """Have a message received; None ends the connection."""
        self._unread.put_nowait(message)
        self._opened.set()
        self.unread_bytes += 0 if message is None else len(message)


class RemoteHost:
    """One session with a host.

    Args:
        name: name of the host.
        relay: relay of the host that the session is with; another one needs another session.
        bus: connection to NATS.
        sessions: serves the two connections.
        authority: hosts that the name's key may represent.

    Attributes:
        name: name of the host.
        relay: relay of the host that the session is with.
        authority: hosts that the name's key may represent.
        heard_s: when the host was heard last, in seconds.
        counts: counts of the relay, as it said last.
    """

    def __init__(
        self,
        name: str,
        relay: str,
        bus: Bus,
        sessions: CollectorSessions,
        authority: NatsAuthority,
    ) -> None:
        self.name, self.relay = name, relay
        self._bus = bus
        self._sessions = sessions
        self.authority = authority
        session, subjects = secrets.token_hex(SESSION_BYTES), Subjects(name)
        self._to, self._from = subjects.to(session), subjects.from_(session)
        self._outbound, self._inbound = Outbound(), Inbound()
        self._control = _Connection(lambda text: self._send(CONTROL, text.encode()))
        self._data = _Connection(lambda text: self._send(DATA, text.encode()))
        self._ended = asyncio.Event()
        self._reason = ""
        self.counts = RelayCounts()
        self.heard_s = asyncio.get_running_loop().time()

    async def run(self) -> str:
        """Serve the session until it ends; return why it has."""
        self._bus.subscribe(self._from, self._receive)
        self._send(OPEN, b"")
        tasks = [
            asyncio.create_task(self._serve(self._sessions.serve, self._control)),
            asyncio.create_task(self._serve_data()),
        ]
        try:
            await self._ended.wait()
            return self._reason
        finally:
            self._bus.unsubscribe(self._from)
            self._send(CLOSE, (self._reason or "the backend ends").encode())
            for connection in (self._control, self._data):
                connection.deliver(None)
            _, late = await asyncio.wait(tasks, timeout=1)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def end(self, reason: str) -> None:
        """End the session; the first reason counts."""
        self._reason = self._reason or reason
        self._ended.set()

    def beat(self) -> None:
        """Tell the host that this backend is there, and which message was its last."""
        self._send(BEAT, b"")

    def _send(self, kind: bytes, body: bytes) -> None:
        for part in self._outbound.parts(kind, body):
            self._bus.publish(self._to, part)

    def _receive(self, _: str, payload: bytes) -> None:
        self.heard_s = asyncio.get_running_loop().time()
        try:
            message = self._inbound.take(payload)
        except StreamBrokenError as error:
            self.end(str(error))
            return
        if message is None or self._ended.is_set():
            return
        if message.kind == CLOSE:
            self.end(message.body.decode(errors="replace"))
        elif message.kind == CONTROL:
            self._control.deliver(message.body.decode(errors="replace"))
        elif message.kind == DATA:
            self._data.deliver(message.body.decode(errors="replace"))
        elif message.kind == FRAME:
            self._data.deliver(message.body)
        if self._control.unread_bytes + self._data.unread_bytes > MAX_UNREAD_BYTES:
            self.end("this backend does not keep up with the frames")

    async def _serve_data(self) -> None:
        await self._data.opened()
        await self._serve(self._sessions.frames.serve, self._data)

    async def _serve(self, serve: Serve, connection: _Connection) -> None:
        try:
            await serve(connection, self.authority)
        except CloseError as error:
            self.end(f"closed with {error.code}: {error.reason}")
        except DisconnectedError:
            pass
        except Exception as error:
            _log.exception("the session with %s failed", self.name)
            self.end(f"the session failed: {error!r}")
