"""Pools in the performance counters of a Java virtual machine without an agent.

A virtual machine counts its own workers (garbage collectors, compilers, safepoints) and its
threads. It does not count jobs of the program's executors.
"""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError
from tidscope_wire.generated.agent import AgentPool

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.conversation import JavaCounters, JavaCountersReader
from tidscope_collector.pools.registry import PoolOrigin, PoolsUnreadableError

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
