"""A collector's control connection: hello, welcome, then replies in, commands out.

Frames take a data connection (`frames`), which ends with this one.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Never

from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorFrames,
    CollectorGoodbye,
    CollectorHello,
    CollectorWelcome,
    FramesLost,
    Target,
    TargetChanged,
    TargetForgotten,
    TargetReply,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.announced import AnnouncedTargets, FrameReceiver
from tidscope_backend.ingest.frames import FramesSessions
from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.ingest.messages import (
    CollectorConnection,
    DisconnectedError,
    HostAuthority,
    Message,
    Reply,
    first_message,
    receive,
    unexpected,
)
from tidscope_backend.ingest.outages import CollectorOutages
from tidscope_backend.pacing import next_multiple_or
from tidscope_backend.settings import Settings

_log = logging.getLogger(__name__)
CHECK_SECONDS = 1.0
"""Maximum delay until a revoked secret ends its connection, in seconds."""
DRAIN_SECONDS = 2.0
"""How long frames are still read after the control connection broke, in seconds."""


class CollectorSessions:
    """Serves the connections of collectors; access is checked before.

    Args:
        settings: bounds and timeouts.
        registry: hosts and targets.
        links: table of connected collectors.
        ingest: destination of frames.
        unfinished: returns targets of runs that an earlier backend left unfinished; see `Recorder`.

    Attributes:
        frames: serves the data connections.
    """

    def __init__(
        self,
        settings: Settings,
        registry: HostRegistry,
        links: CollectorLinks,
        ingest: FrameReceiver,
        unfinished: Callable[[str, int], list[Target]] = lambda _, __: [],
    ) -> None:
        self._settings = settings
        self._registry = registry
        self._links = links
        self._ingest = ingest
        self._outages = CollectorOutages(registry, links.asked, unfinished)
        self.frames = FramesSessions(settings, links, ingest)

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
        if len(self._links) >= self._settings.max_collectors:
            raise CloseError(
                CloseCode.TOO_MANY, f"{self._settings.max_collectors} collectors are connected"
            )
        seconds = self._settings.hello_seconds
        hello, unknown = await first_message(connection, CollectorHello, seconds)
        if authority is not None:
            authority.claim(hello.host.id, self._links.is_connected)
        await self._serve(connection, hello, unknown, authority)

    async def _serve(
        self,
        connection: CollectorConnection,
        hello: CollectorHello,
        unknown: list[str],
        authority: HostAuthority | None,
    ) -> None:
        now_us = time.time_ns() // 1000
        ahead_us = None if hello.unix_us is None else hello.unix_us - now_us
        host = hello.host.model_copy(update={"clock_ahead_us": ahead_us})
        announced = AnnouncedTargets(host.id, self._registry, hello.targets)
        replaced = asyncio.Event()
        link = CollectorLink(
            host,
            connection.send_text,
            replaced.set,
            self._settings.command_seconds,
            self._settings.doctor_seconds,
            hello.policies,
            announced,
        )
        welcome = CollectorWelcome(protocol=PROTOCOL_VERSION, resume={}, frames=link.ticket)
        self._links.add(link)
        lost = self._outages.lost_targets(hello)
        self._registry.connect_host(host, hello.targets)
        _log.info("collector of %s (%s) connected", hello.host.name, hello.host.id)
        link.dialect.leave_out(unknown)
        reading = asyncio.create_task(self._read(connection, link))
        watching = asyncio.create_task(_until_ended(hello.host.id, replaced, authority))
        tasks: list[asyncio.Task[None] | asyncio.Task[Never]] = [reading, watching]
        try:
            await connection.send_text(welcome.model_dump_json())
            if lost:
                tasks.append(asyncio.create_task(self._outages.attach_again(link, lost)))
            done, _ = await asyncio.wait((reading, watching), return_when=asyncio.FIRST_COMPLETED)
            if watching not in done and isinstance(reading.exception(), DisconnectedError):
                # Frames that the collector sent before may still be unread.
                draining = asyncio.create_task(link.frames_ended())
                tasks.append(draining)
                await asyncio.wait(
                    (draining, watching),
                    timeout=DRAIN_SECONDS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            for ended in done:
                ended.result()
        finally:
            link.close_frames()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._links.remove(link):
                self._registry.disconnect_host(hello.host.id)
                self._outages.went(hello.host.id, goodbye=link.said_goodbye)
                _log.info("collector of %s (%s) has gone", hello.host.name, hello.host.id)

    async def _read(self, connection: CollectorConnection, link: CollectorLink) -> Never:
        while True:
            message = await receive(connection, link.dialect.message)
            if isinstance(message, bytes):
                raise unexpected(message, "control")
            self._handle(link, message)

    def _handle(self, link: CollectorLink, message: Message) -> None:
        match message:
            case TargetReply() | TargetChanged():
                if link.announced.add(message.target):
                    self._registry.update_target(message.target)
            case CollectorGoodbye():
                self._ingest.collector_ends(link.announced, message)
                link.say_goodbye()
            case CollectorHello():
                raise CloseError(CloseCode.BAD_MESSAGE, "a second hello")
            case CollectorFrames() | FramesLost() | TargetForgotten():
                raise unexpected(message, "control")
        if isinstance(message, Reply):
            link.deliver_reply(message)


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
        await next_multiple_or(replaced, CHECK_SECONDS)
    raise CloseError(CloseCode.REPLACED, f"another collector of {host_id} has connected")
