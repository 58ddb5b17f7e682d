"""Connections that wait to be accepted at listening TCP sockets. Not thread-safe.

Source: net/ipv4/tcp_ipv4.c (get_tcp4_sock): the receive queue of a listening socket in
/proc/net/tcp is its number of established connections that nobody has accepted.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.ports import Listener, sockets_in
from tidscope_collector.inspection.queue_answers import ask_sockets
from tidscope_collector.procfs.files import ProcFs

MAX_PROCESSES = 64
"""Maximum processes whose descriptors are searched; later ones are not known to accept."""
MAX_SOCKETS = 64
"""Maximum sockets with rows; further ones have none."""
SEARCH_EVERY, SEARCH_AGAIN = 10, 60
"""Number of readings between two searches for sockets, if processes came or ended, and if not. A
search starts a child."""

log = logging.getLogger("tidscope.queues")
Find = Callable[[Sequence[tuple[int, int]]], list[tuple[int, str, int]]]


@dataclass(slots=True)
class _Queue:
    """A listening socket of the target.

    Attributes:
        number: number of its rows, from 1.
        address: address and port.
        owners: processes that have it open, and may accept.
    """

    number: int
    address: str
    owners: list[int] = field(default_factory=list)
    waiting: int = 0
    waiting_ns: int = 0
    some_ns: int = 0
    covered_ns: int = 0

    @property
    def file(self) -> str:
        """Name of the table that has it."""
        return "tcp6" if self.address.startswith("[") else "tcp"


class AcceptQueues:
    """Reads queues of the sockets that the target listens at.

    Args:
        procfs: root of /proc.
        find: returns inode, address and process ID of the sockets that processes listen at.
    """

    def __init__(self, procfs: ProcFs, find: Find = ask_sockets) -> None:
        self._procfs, self._find = procfs, find
        self._queues: dict[int, _Queue] = {}
        self._searched: Sequence[tuple[int, int]] | None = None
        self._rest = 0
        """Readings since the last search."""

    def read(self, members: Mapping[int, int], since_ns: int) -> None:
        """Read the queues; connections found count for the time since the reading before.

        Args:
            members: start times of the living processes of the target, by ID.
            since_ns: time since the reading before, in nanoseconds; 0 without one.
        """
        those = sorted(members.items())[:MAX_PROCESSES]
        wait = SEARCH_EVERY if those != self._searched else SEARCH_AGAIN
        self._rest += 1
        if self._searched is None or self._rest >= wait:
            self._search(those)
        found = self._read()
        for inode, queue in self._queues.items():
            listener = found.get(inode)
            queue.waiting = 0 if listener is None else listener.waiting
            queue.covered_ns += since_ns
            queue.waiting_ns += queue.waiting * since_ns
            queue.some_ns += since_ns if queue.waiting else 0

    def _search(self, those: Sequence[tuple[int, int]]) -> None:
        """Find the sockets of processes."""
        self._searched, self._rest = those, 0
        try:
            found = self._find(those)
        except (NoAnswerError, UnreadableError, DamagedError) as error:
            log.warning("listening sockets cannot be found: %s", error)
            return
        for queue in self._queues.values():
            queue.owners = []
        for inode, address, pid in found:
            queue = self._queues.get(inode) or _Queue(len(self._queues) + 1, address)
            if inode in self._queues or len(self._queues) < MAX_SOCKETS:
                self._queues[inode] = queue
                queue.owners.append(pid)

    def _read(self) -> dict[int, Listener]:
        """Return the sockets in the tables of processes that listen, by inode."""
        found: dict[int, Listener] = {}
        for inode, queue in self._queues.items():
            # A table has all sockets of a network namespace.
            if inode not in found and queue.owners:
                read = sockets_in(self._procfs, f"{queue.owners[0]}/net", (queue.file,))
                found |= {one.inode: one for one in read}
        return found

    def table(self) -> Table:
        """Return all rows of `accept_queues`."""
        rows = [
            (one.number, pid, one.waiting, one.waiting_ns, one.some_ns, one.covered_ns, one.address)
            for one in self._queues.values()
            for pid in one.owners
        ]
        return np.array(rows, dtype_of("accept_queues"))
