"""A counter that the target serves to Prometheus, read from the target itself."""

import time
from collections.abc import Callable
from typing import Literal

from tidscope_wire.generated.models import PrometheusCounter

from tidscope_collector.inspection.own_server import (
    HOST,
    NotOwnPortError,
    NotServedError,
    ask_counter,
    fetch,
)
from tidscope_collector.steering.signals.signal import Count, SignalLostError, SignalRefusedError


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
