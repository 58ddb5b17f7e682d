"""A collector's connection: hello, welcome, then frames and replies in, commands out."""

import asyncio
import logging
from typing import Protocol

from pydantic import TypeAdapter, ValidationError
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorHello,
    CollectorMessage,
    CollectorWelcome,
    DoctorReply,
    FramesLost,
    ProcessesReply,
    RefusedReply,
    SteeringOptionsReply,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)

from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.frame_ingest import FrameIngest
from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.ingest.receipts import Receipts
from tidscope_backend.settings import Settings
from tidscope_backend.validation import validation_text
from tidscope_backend.websocket_close import CloseError

Message = (
    CollectorHello
    | TargetReply
    | ProcessesReply
    | DoctorReply
    | RefusedReply
    | TargetChanged
    | TargetForgotten
    | FramesLost
    | SteeringOptionsReply
)
_MESSAGE: TypeAdapter[Message] = TypeAdapter(CollectorMessage)
_log = logging.getLogger(__name__)


class DisconnectedError(Exception):
    """The peer has closed the connection, or is gone."""


class CollectorConnection(Protocol):
    """Messages of one connection, whatever carries them."""

    async def receive(self) -> str | bytes:
        """Wait for the next message. Raises DisconnectedError."""

    async def send_text(self, text: str, /) -> None:
        """Send a text message."""


class CollectorSessions:
    """Serves the connections of collectors; access was checked before.

    Args:
        settings: bounds and time-outs.
        registry: hosts and targets.
        links: where connected collectors are found.
        ingest: where their frames go.
    """

    def __init__(
        self, settings: Settings, registry: HostRegistry, links: CollectorLinks, ingest: FrameIngest
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._links = links
        self._ingest = ingest

    async def serve(self, connection: CollectorConnection) -> None:
        """Serve a connection until it ends.

        Raises:
            CloseError: it has to be closed.
            DisconnectedError: the collector has gone.
        """
        await self._serve(connection, await self._hello(connection))

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
        strangers = [t.id for t in message.targets if t.host != message.host.id]
        if strangers:
            raise CloseError(
                CloseCode.BAD_MESSAGE, f"target {strangers[0]} is not of host {message.host.id}"
            )
        return message

    async def _serve(self, connection: CollectorConnection, hello: CollectorHello) -> None:
        replaced = asyncio.Event()
        link = CollectorLink(
            hello.host,
            connection.send_text,
            replaced.set,
            self._settings.command_seconds,
            self._settings.doctor_seconds,
            hello.policies,
        )
        # Before anything else is sent: what is replayed has to follow what is here.
        points = self._ingest.resume_points(hello)
        welcome = CollectorWelcome(protocol=PROTOCOL_VERSION, resume=points)
        self._links.add(link)
        self._registry.connect_host(hello.host, hello.targets)
        _log.info("collector of %s (%s) connected", hello.host.name, hello.host.id)
        receipts = Receipts(connection.send_text)
        reading = asyncio.create_task(self._read(connection, link, receipts))
        waiting = asyncio.create_task(replaced.wait())
        confirming = asyncio.create_task(receipts.run())
        try:
            await connection.send_text(welcome.model_dump_json())
            await asyncio.wait((reading, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                raise CloseError(
                    CloseCode.REPLACED, f"another collector of {hello.host.id} has connected"
                )
            reading.result()
        finally:
            tasks = (reading, waiting, confirming)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._links.remove(link):
                self._registry.disconnect_host(hello.host.id)
                _log.info("collector of %s (%s) has gone", hello.host.name, hello.host.id)

    async def _read(
        self, connection: CollectorConnection, link: CollectorLink, receipts: Receipts
    ) -> None:
        while True:
            message = await self._receive(connection)
            if isinstance(message, bytes):
                receipts.note(*self._ingest.ingest(link.host.id, message))
            else:
                self._handle(link, message)

    def _handle(self, link: CollectorLink, message: Message) -> None:
        match message:
            case TargetReply() | TargetChanged():
                if message.target.host != link.host.id:
                    raise CloseError(
                        CloseCode.BAD_MESSAGE, f"{message.target.id} is not of {link.host.id}"
                    )
                self._registry.update_target(message.target)
            case FramesLost():
                self._ingest.record_loss(link.host.id, message)
            case TargetForgotten():
                self._ingest.release_target(link.host.id, message.target)
            case CollectorHello():
                raise CloseError(CloseCode.BAD_MESSAGE, "a second hello")
        if isinstance(
            message,
            TargetReply | ProcessesReply | DoctorReply | SteeringOptionsReply | RefusedReply,
        ):
            link.deliver_reply(message)

    @staticmethod
    async def _receive(connection: CollectorConnection) -> Message | bytes:
        """Wait for the next message.

        Raises:
            CloseError: it does not fit its schema.
            DisconnectedError: the collector has gone.
        """
        message = await connection.receive()
        if isinstance(message, bytes):
            return message
        try:
            return _MESSAGE.validate_json(message)
        except ValidationError as error:
            raise CloseError(CloseCode.BAD_MESSAGE, validation_text(error)) from None
