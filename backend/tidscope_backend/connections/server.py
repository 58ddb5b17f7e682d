"""The web server, with our connections in place of its own."""

import asyncio
import socket

import uvicorn

from tidscope_backend.connections.acceptor import Acceptor
from tidscope_backend.connections.connection import Connection
from tidscope_backend.connections.http_protocol import HttpProtocol
from tidscope_backend.connections.table import Connections


class Server(uvicorn.Server):
    """The server; it accepts its connections itself.

    Args:
        config: of the server.
        connections: the table of its connections.
        check_seconds: between two looks for peers that take too long.
    """

    def __init__(
        self, config: uvicorn.Config, connections: Connections, check_seconds: float
    ) -> None:
        super().__init__(config)
        self._check_seconds = check_seconds
        self._connections = connections
        self._acceptors: list[Acceptor] = []
        self._watch: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the app, then accept connections of the sockets."""
        await super().startup(sockets=[])
        self._acceptors = [
            Acceptor(sock, self._connections, self._protocol) for sock in sockets or []
        ]
        self._watch = asyncio.create_task(self._watch_connections())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, answer what was asked, and end."""
        for acceptor in self._acceptors:
            acceptor.close()
        if self._watch is not None:
            self._watch.cancel()
        await super().shutdown(sockets)

    def _protocol(self, connection: Connection) -> HttpProtocol:
        return HttpProtocol(self.config, self.server_state, self.lifespan.state, connection)

    async def _watch_connections(self) -> None:
        while True:
            await asyncio.sleep(self._check_seconds)
            self._connections.end_overdue()
