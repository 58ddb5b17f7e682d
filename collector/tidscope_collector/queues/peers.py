"""Processes at the other ends of the target's TCP connections. Not thread-safe."""

import logging
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.connections import FULL_BYTES, Peer, connections_of
from tidscope_collector.inspection.queue_answers import ask_peers
from tidscope_collector.procfs.files import ProcFs

MAX_PROCESSES = 64
"""Maximum processes whose descriptors are searched; later ones are not known to have peers."""
MAX_ROWS = 64
"""Maximum pairs of processes that have rows; further ones have none."""
MAX_SOCKETS = 4096
"""Maximum sockets that are remembered."""
SEARCH_EVERY, SEARCH_AGAIN = 5, 80
"""Minimum number of readings between two searches for peers, and between those for connections
that are not full: it doubles with each search that finds nobody new. A search starts a child, which
looks at descriptors of all processes of the host."""

log = logging.getLogger("tidscope.queues")
Find = Callable[[Sequence[tuple[int, int]]], list[Peer]]


@dataclass(slots=True)
class _Pair:
    """All connections between a process of the target and another one."""

    number: int
    peer: Peer
    opened: int = 0
    full: int = 0
    unsent: int = 0
    full_ns: int = 0
    covered_ns: int = 0


class Peers:
    """Reads the connections in the network namespace of the target's first process.

    Args:
        procfs: root of /proc.
        find: returns the peers of processes, by ID and start time.
    """

    def __init__(self, procfs: ProcFs, find: Find = ask_peers) -> None:
        self._procfs, self._find = procfs, find
        self._pairs: dict[tuple[int, int, str], _Pair] = {}
        self._of_socket: dict[int, _Pair | None] = {}
        """Pair by inode; None of sockets of other programs."""
        self._rest = self._wait = SEARCH_EVERY
        """Readings since the last search, and until the next one for connections that are not
        full."""

    def read(self, members: Mapping[int, int], since_ns: int) -> None:
        """Read the connections; those found full count for the time since the reading before.

        Args:
            members: start times of the living processes of the target, by ID.
            since_ns: time since the reading before, in nanoseconds; 0 without one. It counts as 1,
                so that a full connection shows before the next reading, which may be late.
        """
        since_ns = max(1, since_ns)
        those = sorted(members.items())[:MAX_PROCESSES]
        self._rest += 1
        found = connections_of(self._procfs, those[0][0]) if those else []
        full = {one.inode: one.unsent for one in found if one.unsent >= FULL_BYTES}
        matter = {one.inode for one in found if one.matters}
        unknown = matter - self._of_socket.keys()
        wait = self._wait if unknown.isdisjoint(full) else SEARCH_EVERY
        if unknown and self._rest >= wait:
            self._search(those, matter, full.keys())
        for pair in self._pairs.values():
            pair.full = pair.unsent = 0
            pair.covered_ns += since_ns
        for inode, unsent in full.items():
            own = self._of_socket.get(inode)
            if own is not None:
                own.full += 1
                own.unsent += unsent
                own.full_ns += since_ns

    def _search(self, those: Sequence[tuple[int, int]], matter: Set[int], full: Set[int]) -> None:
        """Find whose connections these are, and who is at the other ends."""
        self._rest = 0
        try:
            found = self._find(those)
        except (NoAnswerError, UnreadableError, DamagedError) as error:
            log.warning("peers cannot be found: %s", error)
            return
        known = len(self._pairs)
        # An inode may be used again, by another socket.
        living = {inode: self._of_socket.get(inode) for inode in sorted(matter)[:MAX_SOCKETS]}
        self._of_socket = living | {
            one.inode: self._pair_of(one, full=one.inode in full) for one in found
        }
        for pair in self._pairs.values():
            pair.opened = 0
        for one in found:
            own = self._of_socket[one.inode]
            if own is not None:
                own.opened += one.opened
        again = min(SEARCH_AGAIN, 2 * self._wait)
        self._wait = SEARCH_EVERY if len(self._pairs) > known else again

    def _pair_of(self, peer: Peer, *, full: bool) -> _Pair | None:
        key = (peer.pid, peer.peer_pid, peer.address)
        tells = full or peer.peer_pid > 0
        if key not in self._pairs and tells and len(self._pairs) < MAX_ROWS:
            self._pairs[key] = _Pair(len(self._pairs) + 1, peer)
        return self._pairs.get(key)

    def table(self) -> Table:
        """Return all rows of `peers`."""
        rows = [
            (
                *(one.number, one.peer.pid, one.peer.peer_pid, one.opened, one.full, one.unsent),
                *(one.full_ns, one.covered_ns, one.peer.address, one.peer.name),
            )
            for one in self._pairs.values()
        ]
        return np.array(rows, dtype_of("peers"))
