"""The server of the HTTP receiver, with the bounds on connections of the backend's own."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from tidscope_backend.connections.connection import Waits
from tidscope_backend.connections.http_protocol import HttpProtocol
from tidscope_backend.connections.server import Server
from tidscope_backend.connections.table import ConnectionLimits, Connections

MAX_CONNECTIONS = 256
EACH = 128
"""Of one peer: programs keep theirs open."""


class _InnerServer(Server):
    """A server beside another one, which has the signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """None are."""
        yield


@asynccontextmanager
async def serving(app: ASGIApp, sock: socket.socket | None) -> AsyncIterator[None]:
    """Serve an app while this lasts; None: nothing is served."""
    if sock is None:
        yield
        return
    waits = Waits()
    limits = ConnectionLimits(MAX_CONNECTIONS, EACH, MAX_CONNECTIONS, EACH)
    config = uvicorn.Config(
        app,
        http=HttpProtocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        access_log=False,
        proxy_headers=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = _InnerServer(config, Connections(limits, waits, time.monotonic), waits.check)
    task = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        yield
    finally:
        server.should_exit = True
        await task
        sock.close()
