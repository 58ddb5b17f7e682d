"""Connections that wait to be accepted at listening TCP sockets. Not thread-safe.

Source: net/ipv4/tcp_ipv4.c (get_tcp4_sock): the receive queue of a listening socket in
/proc/net/tcp is its number of established connections that nobody has accepted.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.inspection.ports import Listener, listeners, sockets_of
from tidscope_collector.procfs.files import ProcFs

MAX_PROCESSES = 64
"""Maximum processes whose descriptors are searched; later ones are not known to accept."""
MAX_DESCRIPTORS = 4096
"""Maximum descriptors searched of a process: servers open listening sockets early."""
MAX_SOCKETS = 64
"""Maximum sockets with rows; further ones have none."""
SEARCH_EVERY = 10
"""Number of readings after which new sockets, and further processes of old ones, are looked for."""


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


class AcceptQueues:
    """Reads queues of the sockets that the target listens at.

    Args:
        procfs: root of /proc.
    """

    def __init__(self, procfs: ProcFs) -> None:
        self._procfs = procfs
        self._queues: dict[int, _Queue] = {}
        self._readings = 0
        self._searched: set[int] = set()
        """Inodes of sockets whose processes were looked for."""

    def read(self, pids: Sequence[int], since_ns: int) -> None:
        """Read the queues; connections found count for the time since the reading before.

        Args:
            pids: living processes of the target.
            since_ns: time since the reading before, in nanoseconds; 0 without one.
        """
        pids = pids[:MAX_PROCESSES]
        if self._readings % SEARCH_EVERY == 0:
            found = listeners(self._procfs, pids)
            self._search(pids, found.values())
        else:
            of = {"tcp6" if one.address.startswith("[") else "tcp" for one in self._queues.values()}
            found = listeners(self._procfs, pids, of) if of else {}
        self._readings += 1
        for inode, queue in self._queues.items():
            listener = found.get(inode)
            queue.waiting = 0 if listener is None else listener.waiting
            queue.covered_ns += since_ns
            queue.waiting_ns += queue.waiting * since_ns
            queue.some_ns += since_ns if queue.waiting else 0

    def _search(self, pids: Sequence[int], found: Collection[Listener]) -> None:
        """Find out which processes have sockets open: new sockets, and those in use."""
        due = {one.inode: one for one in found if one.waiting or one.inode not in self._searched}
        if not due:
            return
        self._searched = {one.inode for one in found}
        owners: dict[int, list[int]] = {}
        for pid in pids:
            for inode in due.keys() & set(sockets_of(self._procfs, pid, MAX_DESCRIPTORS)):
                owners.setdefault(inode, []).append(pid)
        for inode, those in owners.items():
            queue = self._queues.get(inode)
            if queue is None and len(self._queues) < MAX_SOCKETS:
                queue = _Queue(len(self._queues) + 1, due[inode].address)
                self._queues[inode] = queue
            if queue is not None:
                queue.owners = those

    def table(self) -> Table:
        """Return all rows of `accept_queues`."""
        rows = [
            (one.number, pid, one.waiting, one.waiting_ns, one.some_ns, one.covered_ns, one.address)
            for one in self._queues.values()
            for pid in one.owners
        ]
        return np.array(rows, dtype_of("accept_queues"))
