"""Table of all connections: bounds on their number, and eviction."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from tidscope_backend.connections.connection import Connection, Peer, Waits

_log = logging.getLogger(__name__)
AT_ONCE = 32
EVICTIONS_PER_SECOND = 1000
"""Maximum evictions per second for one peer; beyond it its silent connections are refused."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Bounds on connections.

    Attributes:
        total: maximum connections.
        peer: maximum connections of one peer.
        unauthenticated: maximum connections without a credential.
        unauthenticated_peer: maximum connections of one peer without a credential.
    """

    total: int
    peer: int
    unauthenticated: int
    unauthenticated_peer: int

    @classmethod
    def of(cls, total: int) -> "ConnectionLimits":
        """Return limits in the default proportions."""
        quarter = max(total // 4, 4)
        return cls(total, quarter, quarter, max(quarter // 4, 2))


@dataclass
class ConnectionCounts:
    """Connections now, and since the backend started.

    Attributes:
        open: open connections.
        authenticated: open connections that have shown a credential.
        evicted: connections without a credential that were ended to make room.
        refused: connections refused for lack of room.
        timed_out: connections ended because the peer exceeded a deadline.
        descriptor_shortages: times that no connection was accepted for lack of file descriptors.
    """

    open: int = 0
    authenticated: int = 0
    evicted: int = 0
    refused: int = 0
    timed_out: int = 0
    descriptor_shortages: int = 0


@dataclass
class _PeerConnections:
    open: int = 0
    # Ordered by arrival.
    unauthenticated: dict[Connection, None] = field(default_factory=dict)
    second: int = 0
    evicted: int = 0


class Connections:
    """The table of connections.

    A connection with a credential is never evicted. Beyond the bounds, the oldest connection
    without one is evicted, from the peer with the most of them. Silent connections are first, and
    connections with unread bytes are exempt. A flood therefore only evicts its own connections, and
    a client that shares the flood's address is still served.

    Args:
        limits: bounds on the number of connections.
        waits: deadlines of peers.
        clock: seconds, monotonic.

    Attributes:
        counts: counts for reporting.
        leaving: evicted connections whose sockets are not closed yet.
        at_once: maximum connections accepted, or evicted, per round of the event loop.
    """

    def __init__(self, limits: ConnectionLimits, waits: Waits, clock: Callable[[], float]) -> None:
        self.counts = ConnectionCounts()
        self.leaving = 0
        self.at_once = max(1, min(AT_ONCE, limits.total // 8))
        self._limits = limits
        self._waits = waits
        self._clock = clock
        self._peers: dict[Peer, _PeerConnections] = {}
        self._all: dict[Connection, None] = {}

    @property
    def peers(self) -> list[Peer]:
        """Return all known peers."""
        return list(self._peers)

    def admit(self, peer: Peer, speaks: bool) -> Connection | None:
        """Make room for an accepted connection.

        Args:
            peer: peer of the connection.
            speaks: whether data of the connection has arrived.

        Returns:
            The connection, or None if it must be closed for lack of room.
        """
        own = self._peers.get(peer) or _PeerConnections()
        limits, unauthenticated = self._limits, self.counts.open - self.counts.authenticated
        room = True
        if len(own.unauthenticated) >= limits.unauthenticated_peer or own.open >= limits.peer:
            room = self._evict(peer, own, speaks)
        elif unauthenticated >= limits.unauthenticated or self.counts.open >= limits.total:
            room = self.evict_one()
        if not room:
            self.counts.refused += 1
            _log.warning(
                "a new connection of %s is refused: %d connections are open, %d of them its own",
                *(peer, self.counts.open, own.open),
            )
            return None
        connection = Connection(peer, self, speaks)
        own.open += 1
        own.unauthenticated[connection] = None
        self._peers[peer] = own
        self._all[connection] = None
        self.counts.open += 1
        return connection

    def evict_one(self) -> bool:
        """Evict a connection without a credential. Return True if there was one."""
        peer = max(self._peers, key=lambda peer: len(self._peers[peer].unauthenticated), default="")
        return peer in self._peers and self._evict(peer, self._peers[peer], True)

    def authenticate(self, connection: Connection, succeeded: bool) -> None:
        """Note whether a request has shown a required credential."""
        connection.authenticated = succeeded
        own = self._peers[connection.peer]
        if succeeded:
            own.unauthenticated.pop(connection)
            self.counts.authenticated += 1
        else:
            own.unauthenticated[connection] = None
            self.counts.authenticated -= 1

    def remove(self, connection: Connection) -> None:
        """Remove a connection that has ended or is ending."""
        own = self._peers[connection.peer]
        own.open -= 1
        own.unauthenticated.pop(connection, None)
        if not own.open and own.second != int(self._clock()):
            del self._peers[connection.peer]
        del self._all[connection]
        self.counts.open -= 1
        self.counts.authenticated -= connection.authenticated

    def closed(self, connection: Connection) -> None:
        """Note that the socket of an evicted connection is closed."""
        self.leaving -= 1

    def end_overdue(self) -> None:
        """End connections whose peers exceeded a deadline; call about once a second."""
        now = self._clock()
        for connection in list(self._all):
            if connection.end_if_overdue(now, self._waits):
                self.counts.timed_out += 1
                _log.warning("a connection of %s has ended: it took too long", connection.peer)
        for peer in [peer for peer, own in self._peers.items() if not own.open]:
            del self._peers[peer]

    def _evict(self, peer: Peer, own: _PeerConnections, speaks: bool) -> bool:
        second = int(self._clock())
        if own.second != second:
            own.second, own.evicted = second, 0
        if not speaks and own.evicted >= EVICTIONS_PER_SECOND:
            return False
        victim = next((one for one in own.unauthenticated if one.stage == "silent"), None) or next(
            (one for one in own.unauthenticated if one.stage == "answering"), None
        )
        if victim is None:
            return False
        own.evicted += 1
        self.counts.evicted += 1
        _log.warning(
            "a connection of %s without a session has ended to make room: it has %d of them",
            *(peer, len(own.unauthenticated)),
        )
        self.leaving += 1
        victim.drop()
        return True
