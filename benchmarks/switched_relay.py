"""Passes TCP on between services, slower, elsewhere or not at all, in a process of its own."""

import asyncio
import multiprocessing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Self


@dataclass(frozen=True)
class Way:
    """Route of connections.

    Attributes:
        port: port of 127.0.0.1.
        delay_s: delay of each piece of an answer, in seconds.
        broken: connections end as soon as something is asked.
    """

    port: int
    delay_s: float = 0.0
    broken: bool = False


class SwitchedRelay:
    """Use it in a ``with`` statement.

    Args:
        ways: initial destination of connections, by name.

    Attributes:
        ports: ports that it listens on, by name.
    """

    def __init__(self, ways: dict[str, Way]) -> None:
        context = multiprocessing.get_context("spawn")
        self._own, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, ways), daemon=True)
        self.ports: dict[str, int] = {}

    def set(self, name: str, way: Way) -> None:
        """Switch new connections to a destination, and end open ones."""
        self._own.send((name, way))
        self._own.recv()

    def __enter__(self) -> Self:
        self._process.start()
        self.ports = self._own.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()


def _serve(commands: Connection, ways: dict[str, Way]) -> None:
    asyncio.run(_Relay(commands, ways).serve())


class _Relay:
    def __init__(self, commands: Connection, ways: dict[str, Way]) -> None:
        self._commands = commands
        self._ways = ways
        self._open: dict[str, set[asyncio.StreamWriter]] = {name: set() for name in ways}

    async def serve(self) -> None:
        """Until the process is killed."""
        servers = {
            name: await asyncio.start_server(
                lambda *ends, name=name: self._connected(name, *ends), "127.0.0.1", 0
            )
            for name in self._ways
        }
        self._commands.send(
            {name: one.sockets[0].getsockname()[1] for name, one in servers.items()}
        )
        asyncio.get_running_loop().add_reader(self._commands.fileno(), self._obey)
        await asyncio.Event().wait()

    def _obey(self) -> None:
        name, self._ways[name] = self._commands.recv()
        for writer in self._open[name]:
            writer.transport.abort()
        self._commands.send(None)

    async def _connected(
        self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        way = self._ways[name]
        if way.broken:
            await reader.read(1)
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", way.port)
        ends = {writer, far_writer}
        self._open[name] |= ends
        await asyncio.gather(
            _pass_on(reader, far_writer, 0.0), _pass_on(far_reader, writer, way.delay_s)
        )
        self._open[name] -= ends


async def _pass_on(
    source: asyncio.StreamReader, goal: asyncio.StreamWriter, delay_s: float
) -> None:
    try:
        while data := await source.read(1 << 16):
            if delay_s:
                await asyncio.sleep(delay_s)
            goal.write(data)
            await goal.drain()
    except ConnectionError:
        pass
    finally:
        goal.close()
