"""Rate of a counter that a command serves to Prometheus while it runs."""

import http.client
import socket
import threading
import time
from contextlib import suppress
from typing import Self

from tidscope_wire.generated.models import PrometheusCounter
from tidscope_wire.prometheus_text import MAX_BYTES, PrometheusTextError, add_up

from tidscope_backend.experiments.workload import RepeatError

HOST = "127.0.0.1"
PERIOD_S = 0.1
"""Interval between readings, in seconds."""
TIMEOUT_S = 2.0
"""Longest time without an answer, in seconds."""
LEAST_S = 0.5
"""Least time between the first and the last reading, in seconds."""


class CounterRate:
    """Reads a counter over loopback from the context's beginning to its end.

    Nothing may listen on the port before: another program's counter would be read.

    Args:
        where: port, path and name of the counter.

    Raises:
        RepeatError: on entering the context, if the port is in use.
    """

    def __init__(self, where: PrometheusCounter) -> None:
        self._where = where
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read_on, name="counter", daemon=True)
        self._first: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None
        self._problem = "nothing answered"

    def __enter__(self) -> Self:
        with suppress(OSError), socket.create_connection((HOST, self._where.port), TIMEOUT_S):
            raise RepeatError(
                f"port {self._where.port} is in use by another program; end it, or use another port"
            )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def per_second(self) -> float:
        """Return the counter's growth a second between the first and the last reading.

        Raises:
            RepeatError: it was served for too short a time, or it fell.
        """
        where = f"{self._where.metric} at http://{HOST}:{self._where.port}{self._where.path}"
        if self._first is None or self._last is None or self._last[0] - self._first[0] < LEAST_S:
            raise RepeatError(f"{where} was served for less than {LEAST_S:g} s: {self._problem}")
        (began_s, before), (ended_s, after) = self._first, self._last
        if after < before:
            raise RepeatError(
                f"{where} fell from {before:g} to {after:g}; the command restarted it"
            )
        return (after - before) / (ended_s - began_s)

    def _read_on(self) -> None:
        while not self._ended.wait(PERIOD_S):
            try:
                found = self._total()
            except (OSError, http.client.HTTPException, PrometheusTextError) as error:
                self._problem = str(error)
                continue
            self._last = found
            self._first = self._first or found

    def _total(self) -> tuple[float, float]:
        """Return the time, and the counter's sum over all labels."""
        connection = http.client.HTTPConnection(HOST, self._where.port, timeout=TIMEOUT_S)
        try:
            connection.request("GET", self._where.path, headers={"Accept": "text/plain"})
            answer = connection.getresponse()
            body = answer.read(MAX_BYTES + 1)
        finally:
            connection.close()
        at_s = time.monotonic()
        if answer.status != http.client.OK or len(body) > MAX_BYTES:
            raise PrometheusTextError(f"it answered {answer.status} with {len(body)} bytes")
        total = add_up(body, self._where.metric)
        if total is None:
            raise PrometheusTextError("there is no such counter")
        return at_s, total
