"""Queues of one target, read by one thread.

    queues = QueueReader(members, rate_hz=10)
    tables = queues.tables()   # from the thread of targets; never waits

What is found counts for the time since the reading before, so short waits are missed or counted
long, and their mean is right.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping

from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import TableName

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.queues.accept_queues import AcceptQueues
from tidscope_collector.queues.devices import Devices
from tidscope_collector.queues.file_locks import FileLocks
from tidscope_collector.queues.send_queues import SendQueues

EVERY_S = 0.5
"""Interval between two readings, in seconds."""
REST = 300
"""Minimum pause after a reading, as a multiple of the CPU time that it took."""
LONGEST_GAP_S = 5.0
"""Maximum age of the previous reading, in seconds; the time since an older one is not covered."""
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
        self._sending = SendQueues(procfs)
        self._devices = Devices(procfs)
        self._now: Mapping[int, int] = {}
        self._changed = threading.Condition()
        self._tables: dict[TableName, Table] = {}
        self._read_ns = 0
        self._closed = False
        self._thread: threading.Thread | None = None

    def set_rate(self, rate_hz: float) -> None:
        """Note the sampling rate of the target."""
        with self._changed:
            self._rate_hz = rate_hz
            self._changed.notify_all()

    def tables(self) -> dict[TableName, Table]:
        """Return all rows of `accept_queues`, `send_queues`, `file_locks` and `devices`."""
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
            began_s = time.thread_time()
            try:
                made = self._read(members)
            except Exception:  # a file of an unknown form; other tables go on
                log.exception("queues cannot be read")
                return
            with self._changed:
                self._tables = made
            pause_s = max(EVERY_S, REST * (time.thread_time() - began_s))

    def _read(self, members: Mapping[int, int]) -> dict[TableName, Table]:
        now_ns = time.monotonic_ns()
        since_ns = now_ns - self._read_ns if self._read_ns else 0
        since_ns = since_ns if since_ns <= LONGEST_GAP_S * 1e9 else 0
        self._read_ns = now_ns
        self._accepting.read(members, since_ns)
        self._sending.read(members, since_ns)
        self._locks.read(members, since_ns)
        self._devices.read()
        made: dict[TableName, Table] = {
            "accept_queues": self._accepting.table(),
            "send_queues": self._sending.table(),
            "file_locks": self._locks.table(),
            "devices": self._devices.table(),
        }
        return {name: rows for name, rows in made.items() if len(rows)}
