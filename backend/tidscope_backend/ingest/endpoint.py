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

from tidscope_backend.ingest.intake import Intake
from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.settings import Settings
from tidscope_backend.site import Site
from tidscope_backend.validation import complaint
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
    """The collectors' door; who may come in was decided before.

    Args:
        settings: bounds and time-outs.
        site: hosts and targets.
        links: where connected collectors are found.
        intake: where their frames go.
    """

    def __init__(
        self, settings: Settings, site: Site, links: CollectorLinks, intake: Intake
    ) -> None:
        self._settings = settings
        self._site = site
        self._links = links
        self._intake = intake
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
        welcome = CollectorWelcome(protocol=PROTOCOL_VERSION, resume=self._intake.resume(hello))
        self._links.add(link)
        self._site.connected(hello.host, hello.targets)
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
                self._site.lost(hello.host.id)
                _log.info("collector of %s (%s) has gone", hello.host.name, hello.host.id)

    async def _read(self, socket: WebSocket, link: CollectorLink) -> None:
        while True:
            message = await self._receive(socket)
            if isinstance(message, bytes):
                self._intake.frame(link.host.id, message)
            else:
                self._handle(link, message)

    def _handle(self, link: CollectorLink, message: Message) -> None:
        match message:
            case TargetReply() | TargetChanged():
                if message.target.host != link.host.id:
                    raise CloseError(
                        CloseCode.BAD_MESSAGE, f"{message.target.id} is not of {link.host.id}"
                    )
                self._site.put(message.target)
            case FramesLost():
                self._intake.lost(link.host.id, message)
            case TargetForgotten():
                self._intake.forgotten(link.host.id, message.target)
            case CollectorHello():
                raise CloseError(CloseCode.BAD_MESSAGE, "a second hello")
        if isinstance(
            message,
            TargetReply | ProcessesReply | DoctorReply | SteeringOptionsReply | RefusedReply,
        ):
            link.replied(message)

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
            raise CloseError(CloseCode.BAD_MESSAGE, complaint(error)) from None
