"""A counter that the target serves to Prometheus, read from the target itself.

It is asked over loopback, at a port on which the target itself and nobody else listens, so that
nobody can make the collector ask somebody else. The target may answer as it likes: a reading is
over at its deadline, whatever trickles in until then.
"""

import http.client
import math
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from tidscope_wire.generated.models import PrometheusCounter

from tidscope_collector.steering.signals.signal import Count, SignalLostError, SignalRefusedError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

DEADLINE_S = 1.5
MOST_BYTES = 4 << 20
MOST_SAMPLES = 10_000
LONGEST_LINE = 8192
HOST = "127.0.0.1"


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
        address = f"http://{HOST}:{self._where.port}{self._where.path}"
        self._check_port()
        connection = http.client.HTTPConnection(HOST, self._where.port)
        connection.sock = opened = _Connection(time.monotonic() + DEADLINE_S)
        try:
            opened.connect((HOST, self._where.port))
            # Who listened before and after the connection was made is who accepts it.
            self._check_port()
            connection.request("GET", self._where.path, headers={"Accept": "text/plain"})
            answer = connection.getresponse()
            body = answer.read(MOST_BYTES + 1)
        except TimeoutError as error:
            raise SignalLostError(f"{address} does not answer within {DEADLINE_S:g} s.") from error
        except (OSError, http.client.HTTPException) as error:
            raise SignalLostError(f"{address} does not answer: {error}.") from error
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise SignalLostError(f"{address} answers {answer.status} {answer.reason}.")
        if len(body) > MOST_BYTES:
            raise SignalLostError(f"{address} serves more than {MOST_BYTES} bytes.")
        return body.decode("utf-8", "replace")

    def _check_port(self) -> None:
        why = self._refusal()
        if why:
            raise SignalRefusedError(why)

    def close(self) -> None:
        """Nothing stays open between two readings."""


class _Connection(socket.socket):
    """A TCP connection of which all calls together have one deadline.

    Args:
        deadline_s: of time.monotonic().
    """

    def __init__(self, deadline_s: float) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._deadline_s = deadline_s
        self.settimeout(DEADLINE_S)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """As a socket does; http.client reads through nothing else."""
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self.settimeout(left_s)
        return super().recv_into(buffer, nbytes, flags)


def add_up(text: str, name: str) -> float | None:
    """Sum of the samples of a counter, over all labels; None if there are none.

    Args:
        text: in the Prometheus text format.
        name: of the samples, such as http_requests_total.

    Raises:
        SignalLostError: it is not in that format, or a sample is no number, or there are too many.
    """
    # Loaded with the modules of an HTTP server, so only by a collector that uses this signal.
    from prometheus_client.parser import text_string_to_metric_families

    # A counter whose samples lack the ending gets it when it is parsed.
    family = name.removesuffix("_total")
    wanted = (family, f"# TYPE {family}")
    lines = [line for line in text.split("\n") if line.startswith(wanted)]
    if len(lines) > MOST_SAMPLES or any(len(line) > LONGEST_LINE for line in lines):
        raise SignalLostError(
            f"The target serves {name} with more than {MOST_SAMPLES} labels, or longer than "
            f"{LONGEST_LINE} characters."
        )
    try:
        found = [
            sample.value
            for metric in text_string_to_metric_families("\n".join(lines) + "\n")
            for sample in metric.samples
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
