"""Pools that a program without an agent serves to Prometheus, at a port of its own."""

import time
from collections.abc import Sequence

from tidscope_wire.generated.agent import AgentPool

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.own_server import (
    NotOwnPortError,
    NotServedError,
    OwnedPort,
    ask_samples,
    fetch,
)
from tidscope_collector.inspection.reader import ask_ports
from tidscope_collector.pools.prometheus_pools import METRICS, pools_of
from tidscope_collector.pools.source import PoolOrigin, PoolsUnreadableError

PATHS = ("/metrics", "/actuator/prometheus")
MAX_PORTS = 8
SEARCH_S = 60.0
"""Between two looks at ports."""

_NOT_SERVED = "The program serves no figures of pools to Prometheus at a port of its own."


class PrometheusPoolSource:
    """A `PoolSource`.

    Args:
        pid: of the process.
        start_ticks: its start.
    """

    origin: PoolOrigin = "prometheus"

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._found: tuple[OwnedPort, int, str] | None = None
        self._search_at_s = 0.0

    def read(self) -> Sequence[AgentPool]:
        """See PoolSource; looks for the port where none is known."""
        try:
            if self._found is not None:
                return self._fetch(*self._found)
        except (NotServedError, NotOwnPortError) as error:
            self._found = None
            raise PoolsUnreadableError(str(error)) from error
        return self._search()

    def close(self) -> None:
        """Nothing stays open between two readings."""

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
