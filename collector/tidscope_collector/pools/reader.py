"""Reader of one target's pools, once per second in a worker thread.

    pools = PoolReader([AgentPoolSource(procfs, pid, start_ticks)], pid, attach_ns)
    tables = pools.tables()   # from the thread of targets; never waits

Sources are tried in order, and the first one that answers is kept: one request per second at any
sampling rate. Without an answer the interval grows up to MAX_PAUSE_S. Better sources are retried at
that interval.

A Java virtual machine without an agent counts its own workers (garbage collectors, compilers,
safepoints) and its threads in its performance counters. It does not count jobs of the program's
executors.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from pydantic import ValidationError
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.agent import AgentPool
from tidscope_wire.generated.models import TableName

from tidscope_collector.agent.client import AgentClient, AgentClientError, open_agent
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.conversation import JavaCounters, JavaCountersReader
from tidscope_collector.pools.prometheus import PrometheusPoolSource
from tidscope_collector.pools.registry import (
    PoolOrigin,
    PoolRegistry,
    PoolSource,
    PoolsUnreadableError,
)
from tidscope_collector.procfs.files import ProcFs

MAX_COLLECTORS = 10
_MAX_FREQUENCY = 1 << 63
Figures = Mapping[str, int | None]


def pools_of(counters: JavaCounters) -> list[AgentPool]:
    """Return the machine's pools, each name once; missing figures are null."""
    numbers = counters.numbers
    tick_ns = 1e9 / numbers["sun.os.hrt.frequency"] if _frequency(numbers) else None
    pools = [*_threads(numbers), *_workers(counters, tick_ns)]
    found: dict[str, AgentPool] = {}
    for name, kind, figures in pools:
        known = {key: value for key, value in figures.items() if value is not None}
        values: dict[str, object] = dict.fromkeys(AgentPool.model_fields)
        values |= {"name": name[:64], "kind": kind, **known}
        try:
            pool = AgentPool.model_validate(values)
        except ValidationError:
            continue
        if known:
            found.setdefault(pool.name, pool)
    return list(found.values())


def _threads(numbers: Mapping[str, int]) -> Iterator[tuple[str, str, Figures]]:
    """Yield live platform threads, daemon threads, and the peak."""
    live, started = numbers.get("java.threads.live"), numbers.get("java.threads.started")
    ended = None if live is None or started is None else started - live
    yield "Java threads", "java-threads", {"size": live, "started": started, "finished": ended}
    yield "Java daemon threads", "java-threads", {"size": numbers.get("java.threads.daemon")}
    yield "Java threads at most", "java-threads", {"size": numbers.get("java.threads.livePeak")}


def _workers(counters: JavaCounters, tick_ns: float | None) -> Iterator[tuple[str, str, Figures]]:
    numbers = counters.numbers

    def time_of(name: str) -> int | None:
        ticks = numbers.get(name)
        return None if ticks is None or tick_ns is None else round(ticks * tick_ns)

    for place in range(MAX_COLLECTORS):
        stem = f"sun.gc.collector.{place}"
        name = counters.texts.get(f"{stem}.name")
        if name:
            done = numbers.get(f"{stem}.invocations")
            yield name, "gc", {"finished": done, "run_ns": time_of(f"{stem}.time")}
    yield (
        "JIT compiler",
        "jit",
        {
            "size": numbers.get("sun.ci.threads"),
            "finished": numbers.get("sun.ci.totalCompiles"),
            "failed": numbers.get("sun.ci.totalBailouts"),
            "run_ns": time_of("java.ci.totalTime"),
        },
    )
    yield (
        "Safepoints",
        "safepoints",
        {
            "finished": numbers.get("sun.rt.safepoints"),
            "run_ns": time_of("sun.rt.safepointTime"),
        },
    )


def _frequency(numbers: Mapping[str, int]) -> bool:
    return 0 < numbers.get("sun.os.hrt.frequency", 0) < _MAX_FREQUENCY


class HsperfdataPoolSource:
    """A `PoolSource` that reads the counters' file through a child, without asking the machine.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
    """

    origin: PoolOrigin = "hsperfdata"

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._reader: JavaCountersReader | None = None

    def read(self) -> Sequence[AgentPool]:
        """See `PoolSource`; starts the child if necessary."""
        try:
            if self._reader is None:
                self._reader = JavaCountersReader(self._pid, self._start_ticks)
            pools = pools_of(self._reader.read())
        except NoAnswerError as error:
            self.close()
            raise PoolsUnreadableError(str(error)) from error
        if not pools:
            self.close()
            raise PoolsUnreadableError("The Java virtual machine counts nothing of its workers.")
        return pools

    def close(self) -> None:
        """See `PoolSource`."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None


class AgentPoolSource:
    """A `PoolSource` with its own connection, so it can read while another client steers.

    Args:
        procfs: root of /proc.
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
    """

    origin: PoolOrigin = "agent"

    def __init__(self, procfs: ProcFs, pid: int, start_ticks: int) -> None:
        self._procfs = procfs
        self._pid = pid
        self._start_ticks = start_ticks
        self._client: AgentClient | None = None

    def read(self) -> Sequence[AgentPool]:
        """See `PoolSource`; connects if necessary."""
        try:
            if self._client is None:
                self._client = open_agent(self._procfs, self._pid, self._start_ticks)
            # Discard notices, which are meant for the steering client.
            self._client.restart_requested()
            return self._client.read_pools().pools
        except AgentClientError as error:
            self.close()
            raise PoolsUnreadableError(str(error)) from error

    def close(self) -> None:
        """See `PoolSource`."""
        if self._client is not None:
            self._client.close()
            self._client = None


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
