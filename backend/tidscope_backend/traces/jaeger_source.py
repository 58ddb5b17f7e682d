"""Traces of a Jaeger on this machine, by its query service."""

import http.client
import time
from urllib.parse import urlencode

from tidscope_traces.spans.reading import BadTracesError, Bounds
from tidscope_wire.generated.limits import MAX_TRACES_BYTES
from tidscope_wire.generated.models import JaegerRequest
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.traces.batches import Batch, read_batch

HOST = "127.0.0.1"
"""Nothing else is asked: an operator could make the backend call any service it reaches."""
TIMEOUT_SECONDS = 20.0


def fetch_traces(asked: JaegerRequest, bounds: Bounds) -> Batch:
    """Ask for traces; blocks.

    Args:
        asked: where, and for which.
        bounds: on the spans of the answer.

    Raises:
        ProblemError: nothing answers there, or what answers is no Jaeger.
    """
    now_us = time.time_ns() // 1000
    query = urlencode(
        {
            "service": asked.service,
            "limit": asked.limit,
            "start": now_us - round(asked.lookback_s * 1e6),
            "end": now_us,
        }
    )
    connection = http.client.HTTPConnection(HOST, asked.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", f"/api/traces?{query}", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        data = answer.read(MAX_TRACES_BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        raise _refused(asked.port, f"it does not answer: {error}") from None
    finally:
        connection.close()
    if answer.status != 200:
        raise _refused(asked.port, f"it answers with status {answer.status}")
    if len(data) > MAX_TRACES_BYTES:
        raise _refused(asked.port, f"it answers with more than {MAX_TRACES_BYTES} bytes")
    try:
        return read_batch(data, bounds)
    except BadTracesError as error:
        raise _refused(asked.port, str(error)) from None


def _refused(port: int, reason: str) -> ProblemError:
    return refusal(
        "bad-request",
        f"no traces from port {port} of this machine: {reason}",
        "give the port of Jaeger's query service, usually 16686, and a name of one of its services",
    )
