"""Pools in the metrics that a program without an agent serves to Prometheus at its own port.

Supported are client_golang's Go runtime metrics (GOMAXPROCS, scheduling latencies), and
Micrometer's executors and HikariCP's connections of Java.
"""

import math
import time
from collections.abc import Mapping, Sequence

from pydantic import ValidationError
from tidscope_wire.generated.agent import AgentPool
from tidscope_wire.pools import BUCKETS
from tidscope_wire.prometheus_text import Sample

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.own_server import (
    NotOwnPortError,
    NotServedError,
    OwnedPort,
    ask_samples,
    fetch,
)
from tidscope_collector.inspection.reader import ask_ports
from tidscope_collector.pools.registry import PoolOrigin, PoolsUnreadableError

MAX_POOLS = 32
GOMAXPROCS = "go_sched_gomaxprocs_threads"
LATENCIES = "go_sched_latencies_seconds"
FIGURES: Mapping[str, tuple[str, str, str]] = {
    "executor_pool_max_threads": ("name", "threads", "size"),
    "executor_active_threads": ("name", "threads", "busy"),
    "executor_queued_tasks": ("name", "threads", "queue"),
    "executor_completed_tasks_total": ("name", "threads", "finished"),
    "hikaricp_connections_max": ("pool", "connections", "size"),
    "hikaricp_connections_active": ("pool", "connections", "busy"),
    "hikaricp_connections_pending": ("pool", "connections", "queue"),
}
"""Pool metrics: the label that names the pool, its kind, and the figure."""
_BUCKET = f"{LATENCIES}_bucket"
METRICS = (*FIGURES, GOMAXPROCS, _BUCKET)
"""All metrics about pools."""
PATHS = ("/metrics", "/actuator/prometheus")
MAX_PORTS = 8
SEARCH_S = 60.0
"""Interval between two port searches, in seconds."""
_NOT_SERVED = "The program serves no figures of pools to Prometheus at a port of its own."


def pools_of(samples: Sequence[Sample]) -> list[AgentPool]:
    """Return at most MAX_POOLS pools; empty if none is known.

    Args:
        samples: samples of METRICS.
    """
    found: dict[tuple[str, str], dict[str, int]] = {}
    for name, labels, value in samples:
        label, kind, figure = FIGURES.get(name, ("", "", ""))
        if label in labels and _is_count(value):
            found.setdefault((labels[label], kind), {})[figure] = int(value)
    pools = [_pool(name, kind, figures) for (name, kind), figures in found.items()]
    size = next((value for name, _, value in samples if name == GOMAXPROCS), math.nan)
    if _is_count(size):
        waits = _log2([(labels.get("le", ""), n) for name, labels, n in samples if name == _BUCKET])
        pools.insert(0, _pool("GOMAXPROCS", "gomaxprocs", {"size": int(size)}, waits))
    return [pool for pool in pools if pool is not None][:MAX_POOLS]


def _is_count(value: float) -> bool:
    return math.isfinite(value) and 0 <= value < 2**32


def _log2(counts: Sequence[tuple[str, float]]) -> list[int] | None:
    """Convert cumulative counts by upper bound in seconds to counts by powers of two.

    A bucket that spans several powers of two counts in the one below its upper bound.
    """
    made, before = [0] * BUCKETS, 0.0
    try:
        bounds = sorted((float(bound), count) for bound, count in counts)
    except ValueError:
        return None
    for bound, count in bounds:
        grown = count - before
        if not math.isfinite(grown) or grown < 0:
            return None
        ns = bound * 1e9
        last = BUCKETS - 1
        place = last if math.isinf(ns) else math.ceil(math.log2(ns / 1024)) if ns > 1024 else 0
        made[min(place, last)] += int(grown)
        before = count
    return made if bounds else None


def _pool(
    name: str, kind: str, figures: Mapping[str, int], queue_wait: list[int] | None = None
) -> AgentPool | None:
    values: dict[str, object] = dict.fromkeys(AgentPool.model_fields)
    values |= {"name": name[:64], "kind": kind, "queue_wait": queue_wait, **figures}
    try:
        return AgentPool.model_validate(values)
    except ValidationError:
        return None


class PrometheusPoolSource:
    """A `PoolSource` that reads Prometheus metrics.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
    """

    origin: PoolOrigin = "prometheus"

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._found: tuple[OwnedPort, int, str] | None = None
        self._search_at_s = 0.0

    def read(self) -> Sequence[AgentPool]:
        """See `PoolSource`; searches for the port if it is unknown."""
        try:
            if self._found is not None:
                return self._fetch(*self._found)
        except (NotServedError, NotOwnPortError) as error:
            self._found = None
            raise PoolsUnreadableError(str(error)) from error
        return self._search()

    def close(self) -> None:
        """See `PoolSource`; nothing stays open between readings."""

    def _search(self) -> Sequence[AgentPool]:
        if time.monotonic() < self._search_at_s:
            raise PoolsUnreadableError(_NOT_SERVED)
        self._search_at_s = time.monotonic() + SEARCH_S
        try:
            listening = ask_ports([(self._pid, self._start_ticks)]).get(self._pid, [])
        except NoAnswerError as error:
            raise PoolsUnreadableError(str(error)) from error
        for port in sorted(listening)[:MAX_PORTS]:
            owned = OwnedPort(self._pid, self._start_ticks, port)
            for path in PATHS:
                try:
                    pools = self._fetch(owned, port, path)
                except (NotServedError, NotOwnPortError):
                    continue
                self._found = (owned, port, path)
                return pools
        raise PoolsUnreadableError(_NOT_SERVED)

    @staticmethod
    def _fetch(owned: OwnedPort, port: int, path: str) -> Sequence[AgentPool]:
        text = fetch(port, path, owned.refusal, "text/plain")
        pools = pools_of(ask_samples(text, METRICS))
        if not pools:
            raise NotServedError(f"Port {port} serves no figures of pools at {path}.")
        return pools
