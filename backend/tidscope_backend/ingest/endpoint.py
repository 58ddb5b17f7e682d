"""/ws/collector: hello, welcome, then frames and replies in, commands out."""

import asyncio
import logging

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
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
from tidscope_backend.settings import Settings
from tidscope_backend.validation import validation_text
from tidscope_backend.websocket_close import CloseError, close

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


class CollectorEndpoint:
    """The endpoint of collectors; access was checked before.

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
        self.router = APIRouter()
        self.router.add_api_websocket_route("/ws/collector", self._collector)

    async def _collector(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            hello = await self._hello(socket)
            await self._serve(socket, hello)
        except CloseError as error:
            _log.warning("collector closed with %d: %s", error.code, error.reason)
            await close(socket, error.code, error.reason)
        except WebSocketDisconnect:
            pass

    async def _hello(self, socket: WebSocket) -> CollectorHello:
        if len(self._links) >= self._settings.max_collectors:
            raise CloseError(
                CloseCode.TOO_MANY, f"{self._settings.max_collectors} collectors are connected"
            )
        seconds = self._settings.hello_seconds
        try:
            async with asyncio.timeout(seconds):
                message = await self._receive(socket)
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

    async def _serve(self, socket: WebSocket, hello: CollectorHello) -> None:
        replaced = asyncio.Event()
        link = CollectorLink(
            hello.host,
            socket.send_text,
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
        reading = asyncio.create_task(self._read(socket, link))
        waiting = asyncio.create_task(replaced.wait())
        try:
            await socket.send_text(welcome.model_dump_json())
            await asyncio.wait((reading, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                raise CloseError(
                    CloseCode.REPLACED, f"another collector of {hello.host.id} has connected"
                )
            reading.result()
        finally:
            reading.cancel()
            waiting.cancel()
            await asyncio.gather(reading, waiting, return_exceptions=True)
            if self._links.remove(link):
                self._registry.disconnect_host(hello.host.id)
                _log.info("collector of %s (%s) has gone", hello.host.name, hello.host.id)

    async def _read(self, socket: WebSocket, link: CollectorLink) -> None:
        while True:
            message = await self._receive(socket)
            if isinstance(message, bytes):
                self._ingest.ingest(link.host.id, message)
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
    async def _receive(socket: WebSocket) -> Message | bytes:
        """Wait for the next message.

        Raises:
            CloseError: it does not fit its schema.
            WebSocketDisconnect: the collector has gone.
        """
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        data: bytes | None = message.get("bytes")
        if data is not None:
            return data
        try:
            return _MESSAGE.validate_json(message["text"])
        except ValidationError as error:
            raise CloseError(CloseCode.BAD_MESSAGE, validation_text(error)) from None
