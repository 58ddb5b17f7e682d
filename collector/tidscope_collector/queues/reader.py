"""Queues of one target, read by one thread.

    queues = QueueReader(members, rate_hz=10)
    tables = queues.tables()   # from the thread of targets; never waits

What is found counts for the time since the reading before, so short waits are missed or counted
long, and their mean is right.
"""

import logging
import threading
from collections.abc import Callable, Mapping

from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import TableName

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.queues.accept_queues import AcceptQueues
from tidscope_collector.queues.devices import Devices
from tidscope_collector.queues.file_locks import FileLocks
from tidscope_collector.queues.pace import Pace
from tidscope_collector.queues.peers import Peers

EVERY_S = 0.5
"""Interval between two readings, in seconds."""
PEERS_S = 1.0
"""Interval of connections, of which a table may have many."""
IDLE_HZ = 1.0
"""Sampling rate up to which nothing is read: nobody looks at the target."""

log = logging.getLogger("tidscope.queues")


class QueueReader:
    """Reads queues of connections, locks of files, and devices. Thread-safe.

    Args:
        members: returns start times of the living processes of the target, by ID; the thread of
            targets calls it.
        rate_hz: sampling rate of the target.
        procfs: root of /proc.
    """

    def __init__(
        self, members: Callable[[], Mapping[int, int]], rate_hz: float, procfs: ProcFs
    ) -> None:
        self._members = members
        self._rate_hz = rate_hz
        self._accepting, self._locks = AcceptQueues(procfs), FileLocks(procfs)
        self._peers = Peers(procfs)
        self._devices = Devices(procfs)
        self._now: Mapping[int, int] = {}
        self._changed = threading.Condition()
        self._tables: dict[TableName, Table] = {}
        self._often, self._seldom = Pace(EVERY_S), Pace(PEERS_S, first_s=PEERS_S)
        self._closed = False
        self._thread: threading.Thread | None = None

    def set_rate(self, rate_hz: float) -> None:
        """Note the sampling rate of the target."""
        with self._changed:
            self._rate_hz = rate_hz
            self._changed.notify_all()

    def tables(self) -> dict[TableName, Table]:
        """Return all rows of `accept_queues`, `peers`, `file_locks` and `devices`."""
        members = self._members()
        with self._changed:
            self._now = members
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._work, name="queues", daemon=True)
                self._thread.start()
            return self._tables

    def close(self) -> None:
        """Stop reading, without waiting."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        pause_s = 0.0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed, pause_s)
                self._changed.wait_for(lambda: self._closed or self._rate_hz > IDLE_HZ)
                if self._closed:
                    return
                members = self._now
            try:
                made = self._read(members)
            except Exception:  # a file of an unknown form; other tables go on
                log.exception("queues cannot be read")
                return
            with self._changed:
                self._tables = made
            pause_s = min(self._often.left_s(), self._seldom.left_s())

    def _read(self, members: Mapping[int, int]) -> dict[TableName, Table]:
        self._often.read(lambda since_ns: self._read_often(members, since_ns))
        self._seldom.read(lambda since_ns: self._peers.read(members, since_ns))
        made: dict[TableName, Table] = {
            "accept_queues": self._accepting.table(),
            "peers": self._peers.table(),
            "file_locks": self._locks.table(),
            "devices": self._devices.table(),
        }
        return {name: rows for name, rows in made.items() if len(rows)}

    def _read_often(self, members: Mapping[int, int], since_ns: int) -> None:
        self._accepting.read(members, since_ns)
        self._locks.read(members, since_ns)
        self._devices.read()
