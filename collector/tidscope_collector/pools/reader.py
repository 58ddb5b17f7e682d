"""Reader of one target's pools, once per second in a worker thread.

    pools = PoolReader([AgentPoolSource(procfs, pid, start_ticks)], pid, attach_ns)
    tables = pools.tables()   # from the thread of targets; never waits

Sources are tried in order, and the first one that answers is kept: one request per second at any
sampling rate. Without an answer the interval grows up to MAX_PAUSE_S. Better sources are retried at
that interval.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence

from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import TableName

from tidscope_collector.pools.agent_source import AgentPoolSource
from tidscope_collector.pools.hsperfdata import HsperfdataPoolSource
from tidscope_collector.pools.prometheus import PrometheusPoolSource
from tidscope_collector.pools.registry import PoolRegistry, PoolSource, PoolsUnreadableError
from tidscope_collector.procfs.files import ProcFs

EVERY_S = 1.0
MAX_PAUSE_S = 10.0

log = logging.getLogger("tidscope.pools")


class PoolReader:
    """The pools of one process. Thread-safe.

    Args:
        sources: sources, best first; closed by the reader.
        pid: process ID.
        attach_ns: CLOCK_MONOTONIC at attach, in nanoseconds.
        clock: CLOCK_MONOTONIC, nanoseconds.
        registry: keeps the readings, or None for a new registry.

    Attributes:
        reason: why there are no pools; empty if there are.
        answered: True if a source has answered since the program began.
    """

    def __init__(
        self,
        sources: Sequence[PoolSource],
        pid: int,
        attach_ns: int,
        clock: Callable[[], int] = time.monotonic_ns,
        registry: PoolRegistry | None = None,
    ) -> None:
        self.reason = "Pools were not looked for yet."
        self.answered = False
        self._sources = sources
        self._chosen: PoolSource | None = None
        self._better_at_ns = 0
        self._pid = pid
        self._attach_ns = attach_ns
        self._clock = clock
        self._registry = registry or PoolRegistry()
        self._pause_s = EVERY_S
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name=f"pools-{pid}", daemon=True)
        self._thread.start()

    def tables(self) -> dict[TableName, Table]:
        """Return all rows of the last reading."""
        with self._changed:
            return self._registry.tables()

    def executed(self, pid: int) -> None:
        """Start over with other pools if the process is this one."""
        if pid != self._pid:
            return
        with self._changed:
            self._registry.program += 1
            self.answered = False
            self._pause_s = EVERY_S
            self._changed.notify_all()

    def close(self) -> None:
        """Stop reading, without waiting."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread's end after `close`. Return False on timeout."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        try:
            while not self._closed:
                found = self._read()
                with self._changed:
                    pause_s = EVERY_S if found else self._pause_s
                    self._pause_s = EVERY_S if found else min(2 * pause_s, MAX_PAUSE_S)
                    self._changed.wait_for(lambda: self._closed, pause_s)
        finally:
            for source in self._sources:
                source.close()

    def _read(self) -> bool:
        """Read the first source that answers. Return False if none did."""
        reasons = []
        for source in self._tried():
            program, began_ns = self._registry.program, self._clock()
            try:
                pools = source.read()
            except PoolsUnreadableError as error:
                reasons.append(str(error))
                self._give_up(source)
                continue
            except Exception:  # sampling goes on after any error, and the source is retried
                log.exception("pools of process %d cannot be read", self._pid)
                reasons.append("The collector failed to read them; see its log.")
                self._give_up(source)
                continue
            read_ns = (began_ns + self._clock()) // 2 - self._attach_ns
            with self._changed:
                # Discard an answer of the previous program.
                if program == self._registry.program:
                    self._registry.note(source.origin, pools, self._pid, read_ns)
                    self.answered = True
            self._chosen, self.reason = source, ""
            return True
        self.reason = " ".join(reasons)
        return False

    def _tried(self) -> Sequence[PoolSource]:
        """Return the sources to read now, in order."""
        now_ns = self._clock()
        if self._chosen is None or now_ns >= self._better_at_ns:
            self._better_at_ns = now_ns + int(MAX_PAUSE_S * 1e9)
            return self._sources
        return [self._chosen]

    def _give_up(self, source: PoolSource) -> None:
        if source is self._chosen:
            self._chosen = None


class PoolReaders:
    """Opens readers for the pools of processes of one target.

    Args:
        procfs: root of /proc.
        attach_ns: CLOCK_MONOTONIC at attach, in nanoseconds.
        ask_program: True if programs without an agent may be asked at their own port.
    """

    def __init__(self, procfs: ProcFs, attach_ns: int, *, ask_program: bool) -> None:
        self._procfs = procfs
        self._attach_ns = attach_ns
        self._ask_program = ask_program

    def open(
        self,
        pid: int,
        start_ticks: int,
        registry: PoolRegistry | None = None,
        *,
        java: bool = True,
    ) -> PoolReader:
        """Start reading the pools of a process.

        Args:
            pid: process ID.
            start_ticks: start time of the process, in clock ticks since boot.
            registry: keeps the readings, or None for a new registry.
            java: True if the process is, or may become, a Java virtual machine.
        """
        found: list[PoolSource] = [AgentPoolSource(self._procfs, pid, start_ticks)]
        if self._ask_program:
            found.append(PrometheusPoolSource(pid, start_ticks))
        if java:
            found.append(HsperfdataPoolSource(pid, start_ticks))
        return PoolReader(found, pid, self._attach_ns, registry=registry)
