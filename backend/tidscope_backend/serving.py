"""Running the app: the listening socket and the server's settings."""

import errno
import logging
import os
import signal
import socket

import uvicorn
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tidscope_backend.app import create_app
from tidscope_backend.settings import Settings

BACKLOG = 128
UNACKNOWLEDGED_MS = 60_000


class SocketError(Exception):
    """The address cannot be listened on; the text says why and what to do."""


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


def open_socket(host: str, port: int) -> socket.socket:
    """Listen on an address.

    Raises:
        SocketError: it is taken, not permitted, or not an address of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SocketError(f"--host {host}: {error.strerror or error}") from None
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted connections inherit it: one whose peer takes nothing ends, with its buffers.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)
        sock.bind(address)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise SocketError(_explain(error, host, port)) from None
    return sock


def _explain(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken by another program (maybe another tidscope); "
            f"end it, or choose another port: --port {port + 1}"
        )
    if error.errno == errno.EACCES:
        return f"port {port} needs root; choose one above 1023: --port 8787"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine; use --host 127.0.0.1"
    return f"cannot listen on {host} port {port}: {os.strerror(error.errno or 0)}"


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
        # Its lines would hold the token of `GET /?token=…`.
        access_log=False,
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
