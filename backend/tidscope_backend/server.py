"""Running the app: the server and its settings."""

import logging
import signal
import socket

import uvicorn
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tidscope_backend.app import create_app
from tidscope_backend.settings import Settings


class StreamProtocol(WebSocketsSansIOProtocol):
    """The server's WebSocket protocol, able to close a peer that does not read.

    Its `send` waits for the transport to drain before each message. That is the back-pressure that
    the stream rests on, and for a close frame to a peer that is stuck it would wait for ever.
    """

    async def send(self, message: ASGISendEvent) -> None:
        """Send as usual, but close without waiting."""
        if message["type"] == "websocket.close":
            self.writable.set()
        await super().send(message)


def make_server(settings: Settings) -> uvicorn.Server:
    """Make a server of a new app; `run` or `serve` it with a listening socket."""
    config = uvicorn.Config(
        create_app(settings),
        http="h11",
        loop="asyncio",
        ws=StreamProtocol,
        ws_max_size=settings.max_message_bytes,
        # Frames are dense counters: deflating them costs more than it saves on a local network.
        ws_per_message_deflate=False,
        ws_ping_interval=20,
        ws_ping_timeout=settings.stall_seconds + 30,
        # Its lines would hold tickets of downloads.
        access_log=False,
        # The server would believe X-Forwarded-For and -Proto of any program on this machine.
        proxy_headers=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    return uvicorn.Server(config)


def serve(settings: Settings, sock: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    # Its lines about connections would hold addresses with queries.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    server = make_server(settings)
    # The server raises the signal that ended it once more, for whoever started it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    server.run(sockets=[sock])
