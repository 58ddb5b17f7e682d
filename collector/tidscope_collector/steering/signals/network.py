"""Signals that need nothing of the program: what its threads move over sockets. Proxies."""

import time
from collections.abc import Callable
from typing import Literal

from tidscope_wire.generated.models import SignalKind

from tidscope_collector.steering.signals.signal import Count, SignalLostError

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
