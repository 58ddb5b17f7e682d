"""Signals that policies steer on, and the meter that turns them into observations."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from tidscope_policies.contract import Bounds, CoreShare, Observation, Part, Peers
from tidscope_policies.proving.evidence import add_up
from tidscope_wire.generated.models import PrometheusCounter, SignalKind

from tidscope_collector.agent.client import AgentClient, AgentClientError
from tidscope_collector.inspection.own_server import (
    HOST,
    NotOwnPortError,
    NotServedError,
    ask_counter,
    fetch,
)


class SignalLostError(Exception):
    """The signal cannot be read at present; the text is a sentence for people."""


class SignalRefusedError(Exception):
    """The target cannot be steered on the signal; the text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Count:
    """Cumulative counters at one moment.

    Attributes:
        at_s: time on a monotonic clock, in seconds; only differences are meaningful.
        ops: operations so far.
        wait_s: total wait time of jobs, in seconds; None if the signal has none.
        jobs: number of jobs in `wait_s`.
    """

    at_s: float
    ops: float
    wait_s: float | None = None
    jobs: int = 0


class Signal(Protocol):
    """Counts the work of one target; used by one thread."""

    @property
    def kind(self) -> SignalKind: ...

    def read(self) -> Count:
        """Return the current count.

        Raises:
            SignalLostError: the signal is unreadable at present.
        """
        ...

    def close(self) -> None:
        """Release resources."""
        ...


PROXIES: frozenset[SignalKind] = frozenset({"network-calls", "network-bytes"})
"""Signals that only approximate useful work. The thesis found a weak correlation."""

NOTES: dict[SignalKind, str] = {
    "agent-ops": "Operations that the program counts.",
    "queue-wait": "Queue wait of the pool's jobs, and their number.",
    "prometheus": "A Prometheus counter that the program exposes.",
    "network-calls": "Socket calls of all threads that transferred data.",
    "network-bytes": "Bytes transferred over sockets by all threads.",
}


class AgentSignal:
    """Reads through the knob's agent connection.

    Args:
        client: client, closed by the knob.
        kind: kind of signal; every reading has both.

    Raises:
        SignalRefusedError: the agent does not report waits.
        SignalLostError: the agent does not answer.
    """

    def __init__(
        self, client: AgentClient, kind: Literal["agent-ops", "queue-wait"] = "agent-ops"
    ) -> None:
        self.kind: Literal["agent-ops", "queue-wait"] = kind
        self._client = client
        if kind == "queue-wait" and self.read().wait_s is None:
            raise SignalRefusedError("The agent does not report how long jobs wait.")

    def read(self) -> Count:
        """See Signal."""
        try:
            now = self._client.read()
        except AgentClientError as error:
            raise SignalLostError(str(error)) from error
        wait_s = None if now.queue_wait_ns is None else now.queue_wait_ns / 1e9
        return Count(now.monotonic_ns / 1e9, now.ops, wait_s, now.queue_waits or 0)

    def close(self) -> None:
        """Do nothing: the knob owns the connection."""


FIELDS: dict[SignalKind, tuple[str, ...]] = {
    "network-calls": ("net_read_calls", "net_write_calls"),
    "network-bytes": ("net_read_bytes", "net_write_bytes"),
}

Totals = Callable[[tuple[str, ...]], int | None]
"""Sums fields over all threads of the target, including ended ones; None if the target has ended.
"""


class NetworkSignal:
    """Counts network calls or bytes in both directions.

    Args:
        totals: asks the sampler, which reads the threads for it.
        kind: kind of signal.
    """

    def __init__(self, totals: Totals, kind: Literal["network-calls", "network-bytes"]) -> None:
        self.kind: Literal["network-calls", "network-bytes"] = kind
        self._totals = totals

    def read(self) -> Count:
        """See Signal."""
        total = self._totals(FIELDS[self.kind])
        if total is None:
            raise SignalLostError("The target is no longer sampled.")
        return Count(time.monotonic(), total)

    def close(self) -> None:
        """Do nothing: no resource is held."""


class PrometheusSignal:
    """Sums all samples of one counter.

    Args:
        where: location of the counter.
        refusal: returns why the port must not be asked now; empty if it belongs only to the target.

    Raises:
        SignalRefusedError: the port does not belong to the target, or does not serve the counter.
        SignalLostError: the port does not answer.
    """

    kind: Literal["prometheus"] = "prometheus"

    def __init__(self, where: PrometheusCounter, refusal: Callable[[], str]) -> None:
        self._where = where
        self._refusal = refusal
        self.read()

    def read(self) -> Count:
        """See Signal.

        Raises:
            SignalRefusedError: the port no longer belongs to the target, or no longer serves the
                counter.
            SignalLostError: the port does not answer with Prometheus text.
        """
        try:
            text = fetch(self._where.port, self._where.path, self._refusal, "text/plain")
            at_s = time.monotonic()
            total = ask_counter(text, self._where.metric)
        except NotOwnPortError as error:
            raise SignalRefusedError(str(error)) from error
        except NotServedError as error:
            raise SignalLostError(str(error)) from error
        if total is None:
            raise SignalRefusedError(
                f"http://{HOST}:{self._where.port}{self._where.path} has no metric "
                f"{self._where.metric}."
            )
        return Count(at_s, total)

    def close(self) -> None:
        """Do nothing: no connection stays open between readings."""


class ResponseTimes:
    """Reads response times through the connection of the knob or signal.

    Args:
        client: client, closed by its opener.
    """

    def __init__(self, client: AgentClient) -> None:
        self._client = client

    def missing(self) -> str:
        """Why there are no response times; empty if there are."""
        try:
            pools = self._client.read_pools().pools
        except AgentClientError as error:
            return str(error)[:256]
        reported = any(pool.response is not None for pool in pools)
        return "" if reported else "The agent reports no response times."

    def read(self) -> tuple[int, ...]:
        """Return finished jobs of all pools of the program, by response time.

        Raises:
            AgentClientError: the agent does not answer.
        """
        pools = self._client.read_pools().pools
        return add_up([pool.response for pool in pools if pool.response is not None])

    def run_s(self) -> float | None:
        """Return the time of all finished jobs from start to end, in seconds; None if unknown.

        Raises:
            AgentClientError: the agent does not answer.
        """
        runs = [pool.run_ns for pool in self._client.read_pools().pools]
        known = [run for run in runs if run is not None]
        return sum(known) / 1e9 if known else None


class IntervalMeter:
    """Meter of one interval; make a new one for each.

    The interval starts with its own count once the size is in effect. Work done before, or while
    the size changed, belongs to no size.

    Args:
        first: count at the start.
        size: size set for the interval.
        times: finished jobs by response time at the start, as in an observation.
        cpu_s: CPU time of the program at the start; None if unknown.
    """

    def __init__(
        self, first: Count, size: int, times: Sequence[int] = (), cpu_s: float | None = None
    ) -> None:
        self._first = first
        self._cpu_s = cpu_s
        self._times = times
        self._last = first
        self._size = size
        self._parts: list[Part] = []
        self._fell = False

    def add_part(self, count: Count) -> None:
        """Add the count at the end of a part."""
        seconds, ops = count.at_s - self._last.at_s, count.ops - self._last.ops
        self._last = count
        if ops < 0:
            # A counter that falls shows that the counting part of the program was restarted.
            self._fell = True
        elif seconds > 0:
            self._parts.append(Part(seconds, ops))

    def responses(self, times: Sequence[int]) -> tuple[int, ...]:
        """Return jobs finished in the interval by response time; empty if the counts restarted.

        Args:
            times: finished jobs by response time at the end.
        """
        before = [*self._times, *[0] * (len(times) - len(self._times))]
        found = tuple(now - then for now, then in zip(times, before, strict=False))
        return found if min(found, default=0) >= 0 else ()

    def end(
        self,
        size: int,
        bounds: Bounds,
        *,
        original: int | None = None,
        paused: bool = False,
        probing_elsewhere: bool = False,
        peers: Peers | None = None,
        cores: CoreShare | None = None,
        cpu_s: float | None = None,
    ) -> Observation:
        """End the interval with the last part. Return the observation.

        Args:
            size: size in effect now; another program changed it if it differs from the set size.
            bounds: bounds of the size.
            original: size that the program had before it was steered; None if unknown.
            paused: True if the target was stopped during the interval.
            probing_elsewhere: True if another steered program probes sizes.
            peers: reports of the other targets.
            cores: the target's share of the cores.
            cpu_s: CPU time of the program; None if unknown.
        """
        first, last = self._first, self._last
        elapsed_s = max(0.0, last.at_s - first.at_s)
        if cores is not None and cpu_s is not None and self._cpu_s is not None and elapsed_s:
            cores = replace(cores, used=max(0.0, cpu_s - self._cpu_s) / elapsed_s)
        waits = None
        jobs = last.jobs - first.jobs
        if first.wait_s is not None and last.wait_s is not None and jobs >= 0:
            waits = max(0.0, last.wait_s - first.wait_s) / jobs if jobs else 0.0
        return Observation(
            at_s=last.at_s,
            elapsed_s=elapsed_s,
            ops=max(0.0, last.ops - first.ops),
            size=size,
            bounds=bounds,
            parts=tuple(self._parts),
            moved_by_other=size != self._size,
            probing_elsewhere=probing_elsewhere,
            paused=paused or self._fell,
            mean_wait_s=waits,
            jobs=max(0, jobs),
            peers=peers,
            cores=cores,
            original=original,
        )
