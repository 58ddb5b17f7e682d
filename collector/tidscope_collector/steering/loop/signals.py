"""Signals that a policy steers on, and the meter that makes observations of them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
        at_s: the moment, on a clock that never steps; only differences mean something.
        ops: operations so far.
        wait_s: time that jobs have waited so far; None where the signal does not tell.
        jobs: how many jobs that is of.
    """

    at_s: float
    ops: float
    wait_s: float | None = None
    jobs: int = 0


class Signal(Protocol):
    """Counts what one target does; used by one thread."""

    @property
    def kind(self) -> SignalKind: ...

    def read(self) -> Count:
        """Count so far.

        Raises:
            SignalLostError: it cannot be read at present.
        """
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


PROXIES: frozenset[SignalKind] = frozenset({"network-calls", "network-bytes"})
"""Signals that stand in for what matters. The thesis found them related to it weakly."""

NOTES: dict[SignalKind, str] = {
    "agent-ops": "Operations that the program counts.",
    "queue-wait": "Queue wait of the pool's jobs, and their number.",
    "prometheus": "A Prometheus counter that the program exposes.",
    "network-calls": "Socket calls of all threads that transferred data.",
    "network-bytes": "Bytes transferred over sockets by all threads.",
}


class AgentSignal:
    """Reads through the connection that the knob has, too.

    Args:
        client: closed by the knob.
        kind: what is steered on; both are in every reading.

    Raises:
        SignalRefusedError: the agent does not tell of waits.
        SignalLostError: it does not answer.
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
        """Nothing of its own is open."""


FIELDS: dict[SignalKind, tuple[str, ...]] = {
    "network-calls": ("net_read_calls", "net_write_calls"),
    "network-bytes": ("net_read_bytes", "net_write_bytes"),
}

Totals = Callable[[tuple[str, ...]], int | None]
"""Sum of some fields over all threads of the target, the ended ones included; None: it has gone."""


class NetworkSignal:
    """Counts calls or bytes in both directions.

    Args:
        totals: asks the sampler, which reads the threads for it.
        kind: what to count.
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
        """Nothing is open."""


class PrometheusSignal:
    """Adds up all samples of one name.

    Args:
        where: the counter.
        refusal: why the port must not be asked now; empty: it is the target's, and only its.

    Raises:
        SignalRefusedError: the port is not the target's, or does not serve the counter.
        SignalLostError: nobody answers.
    """

    kind: Literal["prometheus"] = "prometheus"

    def __init__(self, where: PrometheusCounter, refusal: Callable[[], str]) -> None:
        self._where = where
        self._refusal = refusal
        self.read()

    def read(self) -> Count:
        """See Signal.

        Raises:
            SignalRefusedError: the port is not the target's any more, or what it serves does not
                have the counter.
            SignalLostError: nobody answers, or not with Prometheus text.
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
        """Nothing stays open between two readings."""


class ResponseTimes:
    """Reads through the connection that the knob or the signal has, too.

    Args:
        client: closed by who opened it.
    """

    def __init__(self, client: AgentClient) -> None:
        self._client = client

    def missing(self) -> str:
        """Why there are none; empty: there are."""
        try:
            pools = self._client.read_pools().pools
        except AgentClientError as error:
            return str(error)[:256]
        reported = any(pool.response is not None for pool in pools)
        return "" if reported else "The agent reports no response times."

    def read(self) -> tuple[int, ...]:
        """Finished jobs of all pools of the program, by response time.

        Raises:
            AgentClientError: the agent does not answer.
        """
        pools = self._client.read_pools().pools
        return add_up([pool.response for pool in pools if pool.response is not None])


class IntervalMeter:
    """One interval; a new one for each.

    It begins when the size is in effect, with a count of its own: what was done before, and while
    the size changed, belongs to no size.

    Args:
        first: the count at its beginning.
        size: that was set for it.
        times: finished jobs by response time until then, as an observation has them.
    """

    def __init__(self, first: Count, size: int, times: Sequence[int] = ()) -> None:
        self._first = first
        self._times = times
        self._last = first
        self._size = size
        self._parts: list[Part] = []
        self._fell = False

    def add_part(self, count: Count) -> None:
        """A part has ended."""
        seconds, ops = count.at_s - self._last.at_s, count.ops - self._last.ops
        self._last = count
        if ops < 0:
            # The counter started again: the program's part that counts was started again.
            self._fell = True
        elif seconds > 0:
            self._parts.append(Part(seconds, ops))

    def responses(self, times: Sequence[int]) -> tuple[int, ...]:
        """Jobs that finished in it by response time; empty if the program's counts started again.

        Args:
            times: those until its end.
        """
        before = [*self._times, *[0] * (len(times) - len(self._times))]
        found = tuple(now - then for now, then in zip(times, before, strict=False))
        return found if min(found, default=0) >= 0 else ()

    def end(
        self,
        size: int,
        bounds: Bounds,
        *,
        paused: bool = False,
        probing_elsewhere: bool = False,
        peers: Peers | None = None,
        cores: CoreShare | None = None,
    ) -> Observation:
        """The interval ends with the last part.

        Args:
            size: in effect now; if it is another than was set somebody else changed it.
            bounds: what sizes there may be.
            paused: the target stood still in it.
            probing_elsewhere: another steered program tries sizes out.
            peers: the others.
            cores: what it may have of the machine.
        """
        first, last = self._first, self._last
        waits = None
        jobs = last.jobs - first.jobs
        if first.wait_s is not None and last.wait_s is not None and jobs >= 0:
            waits = max(0.0, last.wait_s - first.wait_s) / jobs if jobs else 0.0
        return Observation(
            at_s=last.at_s,
            elapsed_s=max(0.0, last.at_s - first.at_s),
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
        )
