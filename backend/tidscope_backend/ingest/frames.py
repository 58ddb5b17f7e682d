"""A collector's data connection: frames in; receipts, and which frames are waited for, out."""

import asyncio
from typing import Any, Never

from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    CollectorFrames,
    CollectorWelcome,
    FramesLost,
    FramesWatched,
    TargetForgotten,
)

from tidscope_backend.connections.connection import CloseError
from tidscope_backend.ingest.announced import FrameReceiver, NotAnnouncedError
from tidscope_backend.ingest.link import CollectorLink, FramesChannel
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.ingest.messages import (
    CollectorConnection,
    HostAuthority,
    first_message,
    receive,
    unexpected,
)
from tidscope_backend.ingest.receipts import Receipts
from tidscope_backend.settings import Settings


class FramesSessions:
    """Serves the data connections of collectors; access is checked before.

    Args:
        settings: bounds and timeouts.
        links: table of connected collectors.
        ingest: destination of frames.
    """

    def __init__(self, settings: Settings, links: CollectorLinks, ingest: FrameReceiver) -> None:
        self._settings = settings
        self._links = links
        self._ingest = ingest

    async def serve(
        self, connection: CollectorConnection, authority: HostAuthority | None = None
    ) -> None:
        """Serve a connection until it or its control connection ends.

        Args:
            connection: connection with checked access.
            authority: hosts that the collector's secret allows, or None for any host.

        Raises:
            CloseError: the connection has to be closed.
            DisconnectedError: the collector disconnected.
        """
        seconds = self._settings.hello_seconds
        hello, _ = await first_message(connection, CollectorFrames, seconds)
        link = self._links.of_ticket(hello.host, hello.ticket)
        if link is None:
            raise CloseError(CloseCode.GONE, "no control connection has this ticket")
        if authority is not None:
            authority.claim(hello.host, self._links.is_connected)
        receipts = Receipts(connection.send_text)
        channel = FramesChannel(receipts.hurry)
        link.open_frames(channel)
        # First message after the hello: replay must continue after the last received frame.
        points = self._ingest.resume_points(link.announced.ids)
        welcome = CollectorWelcome(protocol=PROTOCOL_VERSION, resume=points)
        reading = asyncio.create_task(self._read(connection, link, receipts))
        closing = asyncio.create_task(channel.closing.wait())
        tasks: list[asyncio.Task[Any]] = [reading, closing, asyncio.create_task(receipts.run())]
        try:
            await connection.send_text(welcome.model_dump_json())
            tasks.append(asyncio.create_task(self._tell_watched(connection)))
            await asyncio.wait((reading, closing), return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            raise CloseError(CloseCode.GONE, "its control connection has ended")
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            channel.ended.set()

    async def _tell_watched(self, connection: CollectorConnection) -> None:
        async for now in self._ingest.watched.changes():
            watched = FramesWatched(targets=sorted(now.ids), recorded=sorted(now.recorded))
            await connection.send_text(watched.model_dump_json())

    async def _read(
        self, connection: CollectorConnection, link: CollectorLink, receipts: Receipts
    ) -> Never:
        announced, ingest, dialect = link.announced, self._ingest.ingest, link.dialect
        while True:
            message = await receive(connection, dialect.message)
            if isinstance(message, bytes):
                message = dialect.frame(message)
                try:
                    target, seq = ingest(announced, message)
                except NotAnnouncedError as error:
                    # The announcement may be under way on the control connection.
                    await announced.wait_for(error.target)
                    target, seq = ingest(announced, message)
                receipts.note(target, seq, len(message))
            elif isinstance(message, FramesLost):
                await announced.wait_for(message.target)
                self._ingest.record_loss(announced, message)
            elif isinstance(message, TargetForgotten):
                self._ingest.release_target(announced, message.target)
            else:
                raise unexpected(message, "data")
