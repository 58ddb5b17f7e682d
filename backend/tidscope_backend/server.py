"""The server that runs the app, and its settings.

Importing the app starts threads of libraries, and rights are per thread: `tidscope serve` imports
this module after it has given up root's rights.
"""

import logging
import signal
import socket
import time

import uvicorn

from tidscope_backend.app import create_app
from tidscope_backend.connections.protocols import HttpProtocol, WebSocketProtocol
from tidscope_backend.connections.server import LogLimit, Server
from tidscope_backend.connections.table import ConnectionLimits, Connections
from tidscope_backend.processes import (
    connection_descriptors,
    keep_what_is_loaded,
    raise_descriptor_limit,
)
from tidscope_backend.settings import KEEP_ALIVE_SECONDS, Settings

PEER_LOGS = (
    "asyncio",
    "uvicorn.error",
    "tidscope_backend.connections.server",
    "tidscope_backend.connections.table",
)
"""Loggers to which any client could add lines without limit."""


def make_server(settings: Settings) -> Server:
    """Make a server with a new app; `run` or `serve` it with a listening socket."""
    total = min(settings.max_connections, connection_descriptors())
    connections = Connections(ConnectionLimits.of(total), settings.waits, time.monotonic)
    config = uvicorn.Config(
        create_app(settings, connections.counts),
        http=HttpProtocol,
        loop="asyncio",
        ws=WebSocketProtocol,
        ws_max_size=settings.max_command_bytes,
        # Frames are dense counters: compression costs more than it saves on a local network.
        ws_per_message_deflate=False,
        ws_ping_interval=20,
        ws_ping_timeout=settings.stall_seconds + 30,
        # Access log lines would contain tickets of downloads.
        access_log=False,
        # The server would trust X-Forwarded-For and -Proto of any local program.
        proxy_headers=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=3,
    )
    return Server(config, connections, settings.waits.check)


def serve(settings: Settings, sock: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM."""
    # Log lines about connections would contain addresses with queries.
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    for name in PEER_LOGS:
        logging.getLogger(name).addFilter(LogLimit(time.monotonic))
    raise_descriptor_limit()
    server = make_server(settings)
    keep_what_is_loaded()
    # The server raises the signal that ended it again, for its caller.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    server.run(sockets=[sock])
