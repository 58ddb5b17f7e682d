"""A collector's connection: hello, welcome, then frames and replies in, commands out.

Receipts confirm frames. Waking the collector costs more than a receipt saves, so one receipt covers
several seconds of frames.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Never, Protocol

from pydantic import TypeAdapter, ValidationError
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorGoodbye,
    CollectorHello,
    CollectorMessage,
    CollectorWelcome,
    DoctorReply,
    FlushReply,
    FramesLost,
    FramesReceived,
    ProcessesReply,
    RefusedReply,
    SizeAuditReply,
    SteeringOptionsReply,
    Target,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.frame_ingest import AnnouncedTargets, FrameIngest
from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.ingest.outages import CollectorOutages
from tidscope_backend.settings import Settings
from tidscope_backend.text import validation_text

Message = (
    CollectorHello
    | TargetReply
    | ProcessesReply
    | DoctorReply
    | SizeAuditReply
    | RefusedReply
    | TargetChanged
    | TargetForgotten
    | FramesLost
    | SteeringOptionsReply
    | FlushReply
    | CollectorGoodbye
)
_MESSAGE: TypeAdapter[Message] = TypeAdapter(CollectorMessage)
_log = logging.getLogger(__name__)
CHECK_SECONDS = 1.0
"""Maximum delay until a revoked secret ends its connection, in seconds."""


class DisconnectedError(Exception):
    """The peer closed the connection or vanished."""


class CollectorConnection(Protocol):
    """Messages of one connection, independent of the transport."""

    async def receive(self) -> str | bytes:
        """Wait for the next message. Raises DisconnectedError."""

    async def send_text(self, text: str, /) -> None:
        """Send a text message."""


class HostAuthority(Protocol):
    """The hosts that a collector is authorised to represent."""

    def claim(self, host_id: str, is_connected: Callable[[str], bool]) -> None:
        """Claim a host for the collector. Raises CloseError if the secret is not the host's."""

    def check(self) -> None:
        """Check the collector's secret. Raises CloseError if it is no longer valid."""


LONGEST_SECONDS = 5.0
"""Maximum delay of a receipt, in seconds."""
REST_SECONDS = 0.1
"""Minimum interval between receipts, in seconds."""
MANY_FRAMES, MUCH_BYTES = 50, 256 * 1024
"""Frames and bytes confirmed at once; the collector bounds its unconfirmed frames."""


class Receipts:
    """Receipts of one connection.

    Args:
        send: sends one text message to the collector.
    """

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._due: dict[str, int] = {}
        self._frames = self._bytes = 0
        self._noted, self._hurried = asyncio.Event(), asyncio.Event()
        self._hurries = False

    def note(self, target: str, seq: int, size: int) -> None:
        """Note that frames up to this one, of this many bytes, were received or are lost."""
        self._due[target] = seq
        self._frames += 1
        self._bytes += size
        self._noted.set()
        if self._hurries or self._frames >= MANY_FRAMES or self._bytes >= MUCH_BYTES:
            self._hurried.set()

    def hurry(self) -> None:
        """Send pending receipts now, because the collector is shutting down."""
        self._hurries = True
        self._hurried.set()

    async def run(self) -> None:
        """Send receipts until cancelled."""
        while True:
            await self._noted.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_SECONDS):
                    await self._hurried.wait()
            self._noted.clear()
            self._hurried.clear()
            due, self._due, self._frames, self._bytes = self._due, {}, 0, 0
            await self._send(FramesReceived(targets=due).model_dump_json())
            await asyncio.sleep(REST_SECONDS)


class CollectorSessions:
    """Serves the connections of collectors; access is checked before.

    Args:
        settings: bounds and timeouts.
        registry: hosts and targets.
        links: table of connected collectors.
        ingest: destination of frames.
        unfinished: returns targets of runs that an earlier backend left unfinished; see `Recorder`.
    """

    def __init__(
        self,
        settings: Settings,
        registry: HostRegistry,
        links: CollectorLinks,
        ingest: FrameIngest,
        unfinished: Callable[[str, int], list[Target]] = lambda _, __: [],
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._links = links
        self._ingest = ingest
        self._outages = CollectorOutages(registry, links.asked, unfinished)

    async def serve(
        self, connection: CollectorConnection, authority: HostAuthority | None = None
    ) -> None:
        """Serve a connection until it ends.

        Args:
            connection: connection with checked access.
            authority: hosts that the collector's secret allows, or None for any host.

        Raises:
            CloseError: the connection has to be closed.
            DisconnectedError: the collector disconnected.
        """
        hello = await self._hello(connection)
        if authority is not None:
            authority.claim(hello.host.id, self._links.is_connected)
        await self._serve(connection, hello, authority)

    async def _hello(self, connection: CollectorConnection) -> CollectorHello:
        if len(self._links) >= self._settings.max_collectors:
            raise CloseError(
                CloseCode.TOO_MANY, f"{self._settings.max_collectors} collectors are connected"
            )
        seconds = self._settings.hello_seconds
        try:
            async with asyncio.timeout(seconds):
                message = await self._receive(connection)
        except TimeoutError:
            raise CloseError(CloseCode.TIMED_OUT, f"no hello within {seconds:g} s") from None
        if not isinstance(message, CollectorHello):
            kind = "a frame" if isinstance(message, bytes) else f"a {message.type}"
            raise CloseError(CloseCode.BAD_MESSAGE, f"the first message is {kind}, not a hello")
        if message.protocol != PROTOCOL_VERSION:
            raise CloseError(
                CloseCode.PROTOCOL_VERSION,
                f"the collector speaks version {message.protocol}, the backend {PROTOCOL_VERSION}",
            )
        return message

    async def _serve(
        self,
        connection: CollectorConnection,
        hello: CollectorHello,
        authority: HostAuthority | None,
    ) -> None:
        announced = AnnouncedTargets(hello.host.id, self._registry, hello.targets)
        replaced = asyncio.Event()
        link = CollectorLink(
            hello.host,
            connection.send_text,
            replaced.set,
            self._settings.command_seconds,
            self._settings.doctor_seconds,
            hello.policies,
        )
        # First message after the hello: replay must continue after the last received frame.
        points = self._ingest.resume_points(hello)
        welcome = CollectorWelcome(protocol=PROTOCOL_VERSION, resume=points)
        self._links.add(link)
        lost = self._outages.lost_targets(hello)
        self._registry.connect_host(hello.host, hello.targets)
        _log.info("collector of %s (%s) connected", hello.host.name, hello.host.id)
        receipts = Receipts(connection.send_text)
        reading = asyncio.create_task(self._read(connection, link, announced, receipts))
        watching = asyncio.create_task(_until_ended(hello.host.id, replaced, authority))
        confirming = asyncio.create_task(receipts.run())
        tasks: list[asyncio.Task[None] | asyncio.Task[Never]] = [reading, watching, confirming]
        try:
            await connection.send_text(welcome.model_dump_json())
            if lost:
                tasks.append(asyncio.create_task(self._outages.attach_again(link, lost)))
            done, _ = await asyncio.wait((reading, watching), return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._links.remove(link):
                self._registry.disconnect_host(hello.host.id)
                self._outages.went(hello.host.id, goodbye=link.said_goodbye)
                _log.info("collector of %s (%s) has gone", hello.host.name, hello.host.id)

    async def _read(
        self,
        connection: CollectorConnection,
        link: CollectorLink,
        announced: AnnouncedTargets,
        receipts: Receipts,
    ) -> None:
        while True:
            message = await self._receive(connection)
            if isinstance(message, bytes):
                receipts.note(*self._ingest.ingest(announced, message), len(message))
            else:
                self._handle(link, announced, message)
                if link.said_goodbye:
                    receipts.hurry()

    def _handle(self, link: CollectorLink, announced: AnnouncedTargets, message: Message) -> None:
        match message:
            case TargetReply() | TargetChanged():
                announced.add(message.target)
                self._registry.update_target(message.target)
            case CollectorGoodbye():
                link.said_goodbye = True
                self._ingest.collector_ends(announced, message)
            case FramesLost():
                self._ingest.record_loss(announced, message)
            case TargetForgotten():
                self._ingest.release_target(announced, message.target)
            case CollectorHello():
                raise CloseError(CloseCode.BAD_MESSAGE, "a second hello")
        if isinstance(
            message,
            TargetReply
            | ProcessesReply
            | DoctorReply
            | SizeAuditReply
            | SteeringOptionsReply
            | FlushReply
            | RefusedReply,
        ):
            link.deliver_reply(message)

    @staticmethod
    async def _receive(connection: CollectorConnection) -> Message | bytes:
        """Wait for the next message.

        Raises:
            CloseError: the message does not match its schema.
            DisconnectedError: the collector disconnected.
        """
        message = await connection.receive()
        if isinstance(message, bytes):
            return message
        try:
            return _MESSAGE.validate_json(message)
        except ValidationError as error:
            raise CloseError(CloseCode.BAD_MESSAGE, validation_text(error)) from None


async def _until_ended(
    host_id: str, replaced: asyncio.Event, authority: HostAuthority | None
) -> Never:
    """Wait until the connection is replaced or its secret is revoked.

    Raises:
        CloseError: always, with the reason.
    """
    while not replaced.is_set():
        if authority is not None:
            authority.check()
        with suppress(TimeoutError):
            async with asyncio.timeout(CHECK_SECONDS):
                await replaced.wait()
    raise CloseError(CloseCode.REPLACED, f"another collector of {host_id} has connected")
