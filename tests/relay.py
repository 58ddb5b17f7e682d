"""A stretch of network that a test can cut: passes TCP on to the same port of 127.0.0.1."""

import asyncio
from types import TracebackType
from typing import Self

RELAY_ADDRESS = "127.0.0.2"
"""A collector proves that it has reached the port that it dialled, so only the address differs."""


class Relay:
    """Listens on another address of this machine; use in an ``async with`` statement.

    Args:
        port: that it listens on, and passes connections on to.
    """

    def __init__(self, port: int) -> None:
        self._goal = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The address of /ws/collector, through it."""
        return f"ws://{RELAY_ADDRESS}:{self._goal}/ws/collector"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, RELAY_ADDRESS, self._goal)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Break all connections; new ones are passed on."""
        for writer in self._open:
            writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._goal)
        self._open |= {writer, far_writer}
        for source, goal in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pass_on(source, goal))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, source: asyncio.StreamReader, goal: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 16):
                goal.write(data)
                await goal.drain()
        except ConnectionError:
            pass
        finally:
            goal.close()
            self._open.discard(goal)
