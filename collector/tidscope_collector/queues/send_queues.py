"""TCP connections of the target whose readers are too slow. Not thread-safe."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.connections import FULL_BYTES, Reader, connections_of
from tidscope_collector.inspection.queue_answers import ask_readers
from tidscope_collector.procfs.files import ProcFs

MAX_PROCESSES = 64
"""Maximum processes whose descriptors are searched; later ones are not known to send."""
MAX_ROWS = 64
"""Maximum senders with a reader that have rows; further ones have none."""
MAX_SOCKETS = 4096
"""Maximum sockets that are remembered."""
SEARCH_EVERY = 5
"""Minimum number of readings between two searches for readers. A search starts a child, which
looks at descriptors of all processes of the host."""

log = logging.getLogger("tidscope.queues")
Find = Callable[[Sequence[tuple[int, int]]], list[Reader]]


@dataclass(slots=True)
class _Queue:
    """All connections between a process of the target and a reader."""

    number: int
    reader: Reader
    full: int = 0
    unsent: int = 0
    full_ns: int = 0
    covered_ns: int = 0


class SendQueues:
    """Reads the connections in the network namespace of the target's first process.

    Args:
        procfs: root of /proc.
        find: returns the readers of full connections of processes, by ID and start time.
    """

    def __init__(self, procfs: ProcFs, find: Find = ask_readers) -> None:
        self._procfs, self._find = procfs, find
        self._queues: dict[tuple[int, int, str], _Queue] = {}
        self._of_socket: dict[int, _Queue | None] = {}
        """Queue by inode; None of sockets of other programs."""
        self._rest = SEARCH_EVERY
        """Readings since the last search."""

    def read(self, members: Mapping[int, int], since_ns: int) -> None:
        """Read the queues; those found full count for the time since the reading before.

        Args:
            members: start times of the living processes of the target, by ID.
            since_ns: time since the reading before, in nanoseconds; 0 without one. It counts as 1,
                so that a full queue shows before the next reading, which may be late.
        """
        since_ns = max(1, since_ns)
        those = sorted(members.items())[:MAX_PROCESSES]
        self._rest += 1
        found = connections_of(self._procfs, those[0][0]) if those else []
        full = {one.inode: one.unsent for one in found if one.unsent >= FULL_BYTES}
        if self._rest >= SEARCH_EVERY and not full.keys() <= self._of_socket.keys():
            self._search(those, full)
        for queue in self._queues.values():
            queue.full = queue.unsent = 0
            queue.covered_ns += since_ns
        for inode, unsent in full.items():
            own = self._of_socket.get(inode)
            if own is not None:
                own.full += 1
                own.unsent += unsent
                own.full_ns += since_ns

    def _search(self, those: Sequence[tuple[int, int]], full: Mapping[int, int]) -> None:
        """Find whose full connections these are, and who reads them."""
        self._rest = 0
        try:
            found = self._find(those)
        except (NoAnswerError, UnreadableError, DamagedError) as error:
            log.warning("readers of full connections cannot be found: %s", error)
            return
        # An inode may be used again, by another socket.
        living = {inode: self._of_socket.get(inode) for inode in list(full)[:MAX_SOCKETS]}
        self._of_socket = living | {one.inode: self._queue_of(one) for one in found}

    def _queue_of(self, reader: Reader) -> _Queue | None:
        key = (reader.pid, reader.peer_pid, reader.address)
        if key not in self._queues and len(self._queues) < MAX_ROWS:
            self._queues[key] = _Queue(len(self._queues) + 1, reader)
        return self._queues.get(key)

    def table(self) -> Table:
        """Return all rows of `send_queues`."""
        rows = [
            (
                *(one.number, one.reader.pid, one.reader.peer_pid, one.full, one.unsent),
                *(one.full_ns, one.covered_ns, one.reader.address, one.reader.peer),
            )
            for one in self._queues.values()
        ]
        return np.array(rows, dtype_of("send_queues"))
