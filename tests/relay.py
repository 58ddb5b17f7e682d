"""A stretch of network that a test can cut: passes TCP on to a port of this machine."""

import asyncio
from types import TracebackType
from typing import Self


class Relay:
    """Listens on a port of the kernel's choice; use in an ``async with`` statement.

    Args:
        port: where it passes connections on to.
    """

    def __init__(self, port: int) -> None:
        self._goal = port
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
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
