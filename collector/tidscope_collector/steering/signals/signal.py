"""The contract between the control loop and what it steers on."""

from dataclasses import dataclass
from typing import Protocol

from tidscope_wire.generated.models import SignalKind


class SignalLostError(Exception):
    """It cannot be read at present; the text is a sentence for people."""


class SignalRefusedError(Exception):
    """The target cannot be steered on it; the text is a sentence for people."""


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
