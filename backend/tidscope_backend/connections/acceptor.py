"""Accepts connections from a listening socket, as long as there is room for them."""

import asyncio
import logging
import socket
from collections.abc import Callable

from tidscope_backend.connections.connection import Connection
from tidscope_backend.connections.peer import PeerLookup
from tidscope_backend.connections.table import Connections
from tidscope_backend.descriptors import is_exhausted

_log = logging.getLogger(__name__)
RETRY_SECONDS = 0.2


class Acceptor:
    """Accepts connections; asyncio's own server knows no bound on them.

    Args:
        sock: which listens.
        connections: the table that they are listed in.
        make_protocol: makes the protocol that serves a connection.
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
                return  # Their descriptors are free when the event loop has come round.
            try:
                sock, address = self._sock.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if is_exhausted(error):
                    self._out_of_descriptors(error)
                    return
                # That of one connection, such as a peer that has gone (accept(2)).
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
            # Its peer has gone meanwhile.
            connection.end()
            sock.close()

    def _out_of_descriptors(self, error: OSError) -> None:
        """Have one freed, or try again a little later: the kernel keeps who connects waiting."""
        self._connections.counts.descriptor_shortages += 1
        _log.warning("no connection can be accepted for now: %s", error.strerror)
        if not self._connections.evict_one():
            self._loop.remove_reader(self._sock)
            self._retry = self._loop.call_later(RETRY_SECONDS, self._start)


def _speaks(sock: socket.socket) -> bool:
    """Whether bytes of a connection, or its end, have arrived."""
    try:
        sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        pass  # Whoever reads it finds out.
    return True
