"""HTTP pages and Prometheus counters that a program serves at its own port, read over loopback.

A port is asked only while the program alone listens on it, so the collector cannot be redirected to
another server. Each request has one deadline, even if the answer arrives slowly. A limited child
parses Prometheus text.
"""

import http.client
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from tidscope_wire.prometheus_text import LONGEST_LINE, MAX_BYTES, Sample

from tidscope_collector.inspection.answering import Arguments
from tidscope_collector.inspection.asking import (
    Line,
    NoAnswerError,
    UnreadableError,
    ask_text,
    read_lines,
)
from tidscope_collector.inspection.prometheus_text import PARSE_S
from tidscope_collector.inspection.reader import ask_port

DEADLINE_S = 1.5
HOST = "127.0.0.1"


class NotServedError(Exception):
    """The port does not serve the requested page; the text is a sentence for people."""


class TooSlowError(NotServedError):
    """The port does not answer in time; it may serve the page nevertheless."""


class NotOwnPortError(Exception):
    """The port must not be asked; the text says why."""


def fetch(port: int, path: str, refusal: Callable[[], str], accept: str) -> bytes:
    """Return the page at a path.

    Args:
        port: port of the program.
        path: path of the page.
        refusal: returns why the port must not be asked now; empty if it belongs only to the
            program.
        accept: value of the Accept header.

    Raises:
        NotOwnPortError: the port does not, or no longer, belong to the program.
        NotServedError: no answer within DEADLINE_S, or no page of at most MAX_BYTES.
    """
    address = f"http://{HOST}:{port}{path}"
    _check(refusal)
    connection = http.client.HTTPConnection(HOST, port)
    connection.sock = opened = _Connection(time.monotonic() + DEADLINE_S)
    try:
        opened.connect((HOST, port))
        # The owner is checked before and after connecting, so it is the one that accepts.
        _check(refusal)
        connection.request("GET", path, headers={"Accept": accept})
        answer = connection.getresponse()
        body = answer.read(MAX_BYTES + 1)
    except TimeoutError as error:
        raise TooSlowError(f"{address} does not answer within {DEADLINE_S:g} s.") from error
    except (OSError, http.client.HTTPException) as error:
        raise NotServedError(f"{address} does not answer: {error}.") from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise NotServedError(f"{address} answers {answer.status} {answer.reason}.")
    if len(body) > MAX_BYTES:
        raise NotServedError(f"{address} serves more than {MAX_BYTES} bytes.")
    return body


def _check(refusal: Callable[[], str]) -> None:
    why = refusal()
    if why:
        raise NotOwnPortError(why)


class _Connection(socket.socket):
    """A TCP connection with one deadline for all calls.

    Args:
        deadline_s: deadline on the clock time.monotonic(), in seconds.
    """

    def __init__(self, deadline_s: float) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_STREAM)
        self._deadline_s = deadline_s
        self.settimeout(DEADLINE_S)

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """Receive as a socket does; http.client uses no other method to read."""
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self.settimeout(left_s)
        return super().recv_into(buffer, nbytes, flags)


class OwnedPort:
    """A TCP port in the collector's network namespace that must belong to one process.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        port: port number.
    """

    def __init__(self, pid: int, start_ticks: int, port: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._port = port

    def refusal(self) -> str:
        """Return why the port must not be asked now; empty if only this process listens on it."""
        try:
            return ask_port(self._pid, self._start_ticks, self._port)
        except (NoAnswerError, UnreadableError) as error:
            return f"Whose port {self._port} is cannot be found out: {error}"


class _TotalLine(Line):
    total: float | None = Field(ge=0, allow_inf_nan=False)


class _SampleLine(Line):
    name: str = Field(max_length=LONGEST_LINE)
    labels: dict[str, str]
    value: Annotated[float, Field(strict=False)]


def ask_counter(text: bytes, name: str) -> float | None:
    """Return the sum of a counter's samples over all labels, or None without samples.

    Args:
        text: text that the program serves.
        name: name of the samples, such as http_requests_total.

    Raises:
        NotServedError: the text is not in Prometheus format, has too many samples, or its parser
            does not answer.
    """
    try:
        asked = Arguments(metrics=[name])
        found = read_lines(ask_text("prometheus_counter", asked, PARSE_S, text), _TotalLine)
    except NoAnswerError as error:
        raise _not_served(error) from error
    return found[0].total if found else None


def ask_samples(text: bytes, names: Sequence[str]) -> list[Sample]:
    """Return samples of some metrics, in the order of the text.

    Args:
        text: text that the program serves.
        names: names of the samples.

    Raises:
        NotServedError: as for `ask_counter`.
    """
    try:
        asked = Arguments(metrics=list(names))
        found = read_lines(ask_text("prometheus_samples", asked, PARSE_S, text), _SampleLine)
    except NoAnswerError as error:
        raise _not_served(error) from error
    return [Sample(one.name, one.labels, one.value) for one in found]


def _not_served(error: NoAnswerError) -> NotServedError:
    return NotServedError(f"The target's answer is not read as Prometheus text. {error}")
