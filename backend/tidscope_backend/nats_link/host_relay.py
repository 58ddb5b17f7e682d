"""The host's end of a fleet: the only backend that its collector knows, for all backends over NATS.

The collector connects to it as to any backend, by a Unix socket. Frames leave the host for those
backends alone that watch or record their target; totals by role always do.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from socket import socket
from typing import Any, NamedTuple

from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.models import (
    CollectorFrames,
    CollectorWelcome,
    FramesWatched,
    RefusedReply,
)
from tidscope_wire.problems import make_problem
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tidscope_backend.ingest.receipts import Receipts
from tidscope_backend.nats_link.bus import Bus
from tidscope_backend.nats_link.envelopes import (
    BEAT,
    CLOSE,
    CONTROL,
    DATA,
    OPEN,
    Message,
    StreamBrokenError,
    read_head,
)
from tidscope_backend.nats_link.host_ring import HostRing, is_for_ring
from tidscope_backend.nats_link.kept_frames import KeptFrames, header_of, read_frame
from tidscope_backend.nats_link.relay_counts import RelayCounts
from tidscope_backend.nats_link.relay_session import RelaySession
from tidscope_backend.nats_link.subjects import Subjects, session_of
from tidscope_backend.settings import FleetSettings

_log = logging.getLogger(__name__)
FRAMES = "/frames"
"""End of the path of a data connection."""
MAX_SESSIONS = 64
"""Maximum connected backends; further ones are refused."""
AGAIN_SECONDS = 1.0
"""Pause before a backend whose session has ended is invited to begin another one, in seconds."""
MAX_PENDING = 1000
"""Maximum commands that wait for a reply; the oldest is forgotten, and times out at its backend."""
NO_RING = make_problem(
    "no-ring",
    "this host does not keep its last minutes",
    "start its collector with --keep-minutes 60",
)
_ROLE_OMITS: Mapping[str, Any] = {"tables": None, "events": [], "kind": "delta"}
"""Members of a header that are left out where its totals travel alone."""
Json = dict[str, Any]


class _Collector(NamedTuple):
    """The connected collector.

    Attributes:
        connection: its control connection.
        hello: its hello.
        targets: its targets by ID.
        ticket: opens its data connection.
    """

    connection: ServerConnection
    hello: Json
    targets: dict[str, Json]
    ticket: str


class HostRelay:
    """Passes messages between one collector and any number of backends.

    Args:
        name: name of the host, which its key is for.
        bus: connection to NATS.
        settings: intervals.
        ring: the ring of the host; None without one.
    """

    def __init__(
        self, name: str, bus: Bus, settings: FleetSettings, ring: HostRing | None = None
    ) -> None:
        self._ring = ring
        self._subjects = Subjects(name)
        self._bus = bus
        self._settings = settings
        self._id = secrets.token_hex(8)
        self._collector: _Collector | None = None
        self._sessions: dict[str, RelaySession] = {}
        self._kept: dict[str, KeptFrames] = {}
        self._roles: dict[str, bytes] = {}
        self._pending: dict[int, tuple[str, int]] = {}
        self._number = 0
        self._watched: frozenset[str] = frozenset()
        self._changed = asyncio.Event()
        self._counts = RelayCounts()

    @property
    def counts(self) -> RelayCounts:
        """Counts of the relay until now."""
        bus = self._bus
        return self._counts._replace(
            dropped=bus.dropped,
            sent_bytes=bus.sent_bytes,
            reconnects=max(0, bus.connections - 1),
        )

    async def run(self, sock: socket) -> None:
        """Serve the collector on a listening Unix socket, and backends, until cancelled."""
        self._bus.subscribe(self._subjects.to_all, self._receive)
        connecting = asyncio.create_task(self._bus.run())
        try:
            async with (
                serve(self._connected, sock=sock, compression=None, max_size=None),
                asyncio.TaskGroup() as tasks,
            ):
                tasks.create_task(self._beat())
                tasks.create_task(self._send_roles())
        finally:
            self._close_all("the host's relay ends")
            await self._bus.flush()
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)

    async def _connected(self, connection: ServerConnection) -> None:
        is_data = connection.request is not None and connection.request.path.endswith(FRAMES)
        with suppress(ConnectionClosed, asyncio.CancelledError):
            await (self._serve_frames if is_data else self._serve_control)(connection)

    async def _serve_control(self, connection: ServerConnection) -> None:
        hello = json.loads(await connection.recv())
        targets = {one["id"]: one for one in hello["targets"]}
        self._kept = {one: kept for one, kept in self._kept.items() if one in targets}
        ticket = secrets.token_hex(16)
        self._collector = collector = _Collector(connection, hello, targets, ticket)
        welcome = CollectorWelcome(protocol=PROTOCOL_VERSION, resume={}, frames=ticket)
        try:
            await connection.send(welcome.model_dump_json())
            self._say_here()
            async for text in connection:
                self._take(collector, json.loads(text))
        finally:
            if self._collector is collector:
                self._collector = None
                self._close_all("the collector has disconnected from the host's relay")

    def _take(self, collector: _Collector, message: Json) -> None:
        """Pass a message of the collector on: a reply to who asked, everything else to all."""
        kind = message["type"]
        if kind in ("target_reply", "target_changed"):
            collector.targets[message["target"]["id"]] = message["target"]
        asked = self._pending.pop(message["request_id"], None) if "request_id" in message else None
        if asked is not None:
            self._send_to(asked[0], CONTROL, {**message, "request_id": asked[1]})
        if kind == "target_reply":
            message = {"type": "target_changed", "target": message["target"]}
        if "request_id" not in message:
            for name in self._sessions:
                if asked is None or name != asked[0]:
                    self._send_to(name, CONTROL, message)

    async def _serve_frames(self, connection: ServerConnection) -> None:
        hello = json.loads(await connection.recv())
        collector = self._collector
        if collector is None or hello.get("ticket") != collector.ticket:
            return
        resume = {target: kept.last_seq for target, kept in self._kept.items() if kept.last_seq}
        welcome = CollectorWelcome(protocol=PROTOCOL_VERSION, resume=resume)
        await connection.send(welcome.model_dump_json())
        receipts = Receipts(connection.send)
        helpers = [
            asyncio.create_task(receipts.run()),
            asyncio.create_task(self._tell_watched(connection)),
        ]
        try:
            async for message in connection:
                if isinstance(message, bytes):
                    self._take_frame(message, receipts)
                else:
                    self._take_fact(collector, json.loads(message))
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)

    async def _tell_watched(self, connection: ServerConnection) -> None:
        while True:
            self._changed.clear()
            watched = FramesWatched(targets=sorted(self._watched))
            await connection.send(watched.model_dump_json())
            await self._changed.wait()

    def _take_frame(self, data: bytes, receipts: Receipts) -> None:
        frame = read_frame(data)
        receipts.note(frame.target, frame.seq, len(data))
        kept = self._kept.setdefault(frame.target, KeptFrames())
        if not kept.add(frame):
            return
        if frame.roles:
            self._roles[frame.target] = data
        watched = frame.target in self._watched
        self._counts = self._counts._replace(
            taken=self._counts.taken + 1, unwatched=self._counts.unwatched + (not watched)
        )
        if watched:
            for session in self._sessions.values():
                self._advance(session, (frame.target,))

    def _take_fact(self, collector: _Collector, message: Json) -> None:
        """Take a text of the data connection; what is lost shows in the numbers of frames."""
        if message["type"] != "target_forgotten":
            return
        target = message["target"]
        kept = self._kept.pop(target, None)
        self._roles.pop(target, None)
        collector.targets.pop(target, None)
        for name, session in self._sessions.items():
            session.forget(target, 0 if kept is None else kept.last_seq)
            self._send_to(name, DATA, message)

    def _receive(self, subject: str, payload: bytes) -> None:
        """Take a message of a backend."""
        name = session_of(subject)
        try:
            if read_head(payload)[0] == OPEN:
                self._open(name)
            session = self._sessions.get(name)
            if session is None:
                raise StreamBrokenError("the host does not know this session")
            session.heard_s = asyncio.get_running_loop().time()
            message = session.inbound.take(payload)
            if message is not None:
                self._obey(name, session, message)
        except (StreamBrokenError, ValueError, KeyError) as error:
            self._close(name, str(error))

    def _open(self, name: str) -> None:
        if self._collector is None:
            raise StreamBrokenError("the collector of this host is not connected")
        if len(self._sessions) >= MAX_SESSIONS:
            raise StreamBrokenError(f"{MAX_SESSIONS} backends are connected to this host")
        subject = self._subjects.from_(name)
        now_s = asyncio.get_running_loop().time()
        session = RelaySession(lambda part: self._bus.publish(subject, part), now_s)
        self._sessions[name] = session
        known = {"targets": [*self._collector.targets.values()], "unix_us": time.time_ns() // 1000}
        hello = {**self._collector.hello, **known}
        session.send(CONTROL, json.dumps(hello).encode())
        _log.info("backend %s has connected", name)

    def _obey(self, name: str, session: RelaySession, message: Message) -> None:
        if message.kind == CLOSE:
            self._remove(name)
            _log.info("backend %s has gone: %s", name, message.body.decode(errors="replace"))
        elif message.kind in (CONTROL, DATA):
            text = json.loads(message.body)
            if message.kind == DATA:
                self._watch(session, text)
            elif text["type"] == "collector_welcome":
                self._greet(session, text["frames"])
            elif is_for_ring(text):
                _keep(asyncio.ensure_future(self._answer_from_ring(name, text)))
            else:
                self._command(name, text)

    def _greet(self, session: RelaySession, ticket: str) -> None:
        """Open the data connection of a session that the backend has welcomed."""
        if self._collector is None:
            return
        host = self._collector.hello["host"]["id"]
        hello = CollectorFrames(protocol=PROTOCOL_VERSION, host=host, ticket=ticket)
        session.send(DATA, hello.model_dump_json().encode())

    def _watch(self, session: RelaySession, text: Json) -> None:
        """Take a message of the data connection: what a backend has, and what it watches."""
        if text["type"] == "collector_welcome":
            session.resume(text["resume"])
        elif text["type"] == "frames_received":
            session.confirm(text["targets"])
            self._advance(session, session.watched)
        elif text["type"] == "frames_watched":
            session.watch(text["targets"], text.get("recorded", ()))
            self._advance(session, session.watched)
            self._update_watched()

    def _advance(self, session: RelaySession, targets: Iterable[str]) -> None:
        """Send and count the frames that a backend lacks, as far as its window has room."""
        sent = session.advance(self._kept, targets)
        self._counts = self._counts._replace(sent=self._counts.sent + sent)

    def _command(self, name: str, command: Json) -> None:
        """Pass a command on to the collector, under a number of the relay's own."""
        if self._collector is None:
            return
        if "request_id" in command:
            self._number += 1
            self._pending[self._number] = name, command["request_id"]
            while len(self._pending) > MAX_PENDING:
                del self._pending[next(iter(self._pending))]
            command = {**command, "request_id": self._number}
        connection = self._collector.connection
        _keep(asyncio.ensure_future(_give(connection, json.dumps(command))))

    async def _answer_from_ring(self, name: str, command: Json) -> None:
        refused = RefusedReply(request_id=command["request_id"], problem=NO_RING)
        reply = refused if self._ring is None else await self._ring.answer(command)
        self._send_to(name, CONTROL, reply.model_dump(mode="json"))

    def _send_to(self, name: str, kind: bytes, message: Mapping[str, Any]) -> None:
        session = self._sessions.get(name)
        if session is not None:
            session.send(kind, json.dumps(message).encode())

    def _close(self, name: str, reason: str) -> None:
        """End a session, and tell its backend."""
        session = self._remove(name)
        if session is None:
            now_s = asyncio.get_running_loop().time()
            subject = self._subjects.from_(name)
            session = RelaySession(lambda part: self._bus.publish(subject, part), now_s)
        session.send(CLOSE, reason.encode())
        _log.info("the session of backend %s ends: %s", name, reason)

    def _remove(self, name: str) -> RelaySession | None:
        session = self._sessions.pop(name, None)
        self._update_watched()
        asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._say_here)
        return session

    def _close_all(self, reason: str) -> None:
        for name in [*self._sessions]:
            self._close(name, reason)

    def _update_watched(self) -> None:
        watched = frozenset().union(*(one.watched for one in self._sessions.values()))
        if watched != self._watched:
            self._watched = watched
            self._changed.set()

    def _say_here(self) -> None:
        if self._collector is not None:
            here = {"relay": self._id, **self.counts._asdict()}
            self._bus.publish(self._subjects.here, json.dumps(here).encode())

    async def _beat(self) -> None:
        """Say that the host is there, and end sessions of silent backends."""
        while True:
            # A server that cannot be reached has nothing to pass on.
            if self._bus.is_connected:
                self._say_here()
                now_s = asyncio.get_running_loop().time()
                for name, session in [*self._sessions.items()]:
                    if now_s - session.heard_s > self._settings.silent_s:
                        self._close(name, f"it is silent for {self._settings.silent_s:g} s")
                    else:
                        session.send(BEAT, b"")
            await asyncio.sleep(self._settings.beat_s)

    async def _send_roles(self) -> None:
        """Publish the newest totals by role of each target, once an interval."""
        while True:
            await asyncio.sleep(self._settings.roles_s)
            roles, self._roles = self._roles, {}
            for frame in roles.values():
                text = json.dumps({**header_of(frame), **_ROLE_OMITS})
                self._bus.publish(self._subjects.roles, text.encode())


_TASKS: set[asyncio.Future[None]] = set()
"""Messages that are being sent to a collector, and answers that the ring makes."""


def _keep(task: asyncio.Future[None]) -> None:
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)


async def _give(connection: ServerConnection, text: str) -> None:
    with suppress(ConnectionClosed):
        await connection.send(text)
