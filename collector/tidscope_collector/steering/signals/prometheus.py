"""A counter that the target serves to Prometheus, read from the target itself.

It is asked over loopback, at a port on which the target itself listens, so that nobody can make the
collector ask somebody else.
"""

import http.client
import math
import time
from collections.abc import Collection
from typing import Literal

from tidscope_wire.generated.models import PrometheusCounter

from tidscope_collector.steering.signals.signal import Count, SignalLostError, SignalRefusedError

TIMEOUT_S = 1.0
MOST_BYTES = 4 << 20
HOST = "127.0.0.1"


class PrometheusSignal:
    """Adds up all samples of one name.

    Args:
        where: the counter.
        ports: TCP ports on which the target listens.

    Raises:
        SignalRefusedError: the target does not listen there, or does not serve the counter.
        SignalLostError: nobody answers.
    """

    kind: Literal["prometheus"] = "prometheus"

    def __init__(self, where: PrometheusCounter, ports: Collection[int]) -> None:
        if where.port not in ports:
            listens = ", ".join(str(port) for port in sorted(ports)) or "none"
            raise SignalRefusedError(
                f"The target does not listen on port {where.port}; its ports are: {listens}."
            )
        self._where = where
        self.read()

    def read(self) -> Count:
        """See Signal.

        Raises:
            SignalRefusedError: what it serves does not have the counter.
        """
        text = self._fetch()
        at_s = time.monotonic()
        total = add_up(text, self._where.metric)
        if total is None:
            raise SignalRefusedError(
                f"http://{HOST}:{self._where.port}{self._where.path} has no metric "
                f"{self._where.metric}."
            )
        return Count(at_s, total)

    def _fetch(self) -> str:
        connection = http.client.HTTPConnection(HOST, self._where.port, timeout=TIMEOUT_S)
        address = f"http://{HOST}:{self._where.port}{self._where.path}"
        try:
            connection.request("GET", self._where.path, headers={"Accept": "text/plain"})
            answer = connection.getresponse()
            body = answer.read(MOST_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            raise SignalLostError(f"{address} does not answer: {error}.") from error
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise SignalLostError(f"{address} answers {answer.status} {answer.reason}.")
        if len(body) > MOST_BYTES:
            raise SignalLostError(f"{address} serves more than {MOST_BYTES} bytes.")
        return body.decode("utf-8", "replace")

    def close(self) -> None:
        """Nothing stays open between two readings."""


def add_up(text: str, name: str) -> float | None:
    """Sum of the samples of a counter, over all labels; None if there are none.

    Args:
        text: in the Prometheus text format.
        name: of the samples, such as http_requests_total.

    Raises:
        SignalLostError: it is not in that format, or a sample is no number.
    """
    # Loaded with the modules of an HTTP server, so only by a collector that uses this signal.

    # Loaded with the modules of an HTTP server, so only by a collector that uses this signal.
    from prometheus_client.parser import text_string_to_metric_families

    try:
        found = [
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == name
        ]
    except (ValueError, KeyError, IndexError) as error:
        raise SignalLostError(f"The target's answer is not Prometheus text: {error}.") from error
    if not found:
        return None
    total = math.fsum(found) if all(map(math.isfinite, found)) else math.nan
    if not math.isfinite(total) or total < 0:
        raise SignalLostError(f"The counter {name} is {total}.")
    return total
