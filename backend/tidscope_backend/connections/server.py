"""The web server: accepts connections within bounds, and limits log lines caused by peers."""

import asyncio
import logging
import socket
from collections.abc import Callable

import uvicorn

from tidscope_backend.connections.connection import Connection, PeerLookup
from tidscope_backend.connections.protocols import HttpProtocol
from tidscope_backend.connections.table import Connections
from tidscope_backend.pacing import next_multiple, next_multiple_or
from tidscope_backend.processes import is_exhausted

TICK_SECONDS = 1.0


class Server(uvicorn.Server):
    """Server that accepts its connections itself.

    Args:
        config: configuration of the server.
        connections: table of the server's connections.
        check_seconds: interval between checks of deadlines.
    """

    def __init__(
        self, config: uvicorn.Config, connections: Connections, check_seconds: float
    ) -> None:
        self._exits = False
        self._exiting = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        super().__init__(config)
        self._check_seconds = check_seconds
        self._connections = connections
        self._acceptors: list[Acceptor] = []
        self._watch: asyncio.Task[None] | None = None

    @property
    def should_exit(self) -> bool:
        """True if the server has to end."""
        return self._exits

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        # Signal handlers set it, also while the event loop sleeps.
        self._exits = value
        if value and self._loop is not None:
            self._loop.call_soon_threadsafe(self._exiting.set)

    async def main_loop(self) -> None:
        """Wait until the server has to end; uvicorn's own loop looks ten times a second."""
        self._loop = asyncio.get_running_loop()
        # Tick 0 refreshes the Date header.
        while not await self.on_tick(0):
            await next_multiple_or(self._exiting, TICK_SECONDS)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the app, then accept connections of the sockets."""
        await super().startup(sockets=[])
        self._acceptors = [
            Acceptor(sock, self._connections, self._protocol) for sock in sockets or []
        ]
        self._watch = asyncio.create_task(self._watch_connections())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, finish pending answers, and end."""
        for acceptor in self._acceptors:
            acceptor.close()
        if self._watch is not None:
            self._watch.cancel()
        await super().shutdown(sockets)

    def _protocol(self, connection: Connection) -> HttpProtocol:
        return HttpProtocol(self.config, self.server_state, self.lifespan.state, connection)

    async def _watch_connections(self) -> None:
        while True:
            await next_multiple(self._check_seconds)
            self._connections.end_overdue()


_log = logging.getLogger(__name__)
RETRY_SECONDS = 0.2


class Acceptor:
    """Acceptor of connections; asyncio's own server has no bound on them.

    Args:
        sock: listening socket.
        connections: table of accepted connections.
        make_protocol: makes the protocol of a connection.
    """

    def __init__(
        self,
        sock: socket.socket,
        connections: Connections,
        make_protocol: Callable[[Connection], asyncio.BaseProtocol],
    ) -> None:
        self._sock = sock
        self._connections = connections
        self._make_protocol = make_protocol
        self._peers = PeerLookup()
        self._loop = asyncio.get_running_loop()
        self._retry: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        sock.setblocking(False)
        self._start()

    def close(self) -> None:
        """Accept no more; the listening socket stays open."""
        if self._retry is not None:
            self._retry.cancel()
        self._loop.remove_reader(self._sock)
        self._peers.close()

    def _start(self) -> None:
        self._retry = None
        self._loop.add_reader(self._sock, self._accept)

    def _accept(self) -> None:
        for _ in range(self._connections.at_once):
            if self._connections.leaving >= self._connections.at_once:
                return  # Evicted descriptors are free after the next round of the event loop.
            try:
                sock, address = self._sock.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if is_exhausted(error):
                    self._out_of_descriptors(error)
                    return
                # Error of one connection, such as a disconnected peer (accept(2)).
                continue
            connection = self._connections.admit(self._peers.peer(sock, address), _speaks(sock))
            if connection is None:
                sock.close()
                continue
            sock.setblocking(False)
            task = self._loop.create_task(self._serve(sock, connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _serve(self, sock: socket.socket, connection: Connection) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: self._make_protocol(connection), sock)
        except OSError:
            # The peer disconnected meanwhile.
            connection.end()
            sock.close()

    def _out_of_descriptors(self, error: OSError) -> None:
        """Free a descriptor, or retry after a delay; the kernel queues new connections."""
        self._connections.counts.descriptor_shortages += 1
        _log.warning("no connection can be accepted for now: %s", error.strerror)
        if not self._connections.evict_one():
            self._loop.remove_reader(self._sock)
            self._retry = self._loop.call_later(RETRY_SECONDS, self._start)


def _speaks(sock: socket.socket) -> bool:
    """Return True if data of a connection, or its end, has arrived."""
    try:
        sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        pass  # The protocol's read reports the error.
    return True


PERIOD_SECONDS = 60.0


class LogLimit(logging.Filter):
    """Log filter that passes one line per kind and period, with the number of suppressed lines.

    A kind is a message without its arguments. Lines with a traceback always pass.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._passed_s: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if a line is logged."""
        if record.exc_info or not isinstance(record.msg, str):
            return True
        kind, now = record.msg, self._clock()
        passed = self._passed_s.get(kind)
        if passed is not None and now - passed < PERIOD_SECONDS:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return False
        self._passed_s[kind] = now
        left_out = self._left_out.pop(kind, 0)
        if left_out:
            record.msg = f"{record.getMessage()} ({left_out} more like it since the last such line)"
            record.args = None
        return True
