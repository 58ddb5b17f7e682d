"""Import of spans from a document, or from a Jaeger on this machine."""

import http.client
import time
from urllib.parse import urlencode

import pyarrow.compute as pc
from tidscope_traces.spans.reading import BadTracesError, Bounds, TooManyError
from tidscope_wire.generated.limits import MAX_TRACES_BYTES
from tidscope_wire.generated.models import JaegerRequest, TracesImported
from tidscope_wire.problems import ProblemError, refusal

from tidscope_backend.traces.batches import Batch, read_batch
from tidscope_backend.traces.span_store import SpanStore

BOUNDS = Bounds.of(MAX_TRACES_BYTES)
"""Bounds of the spans of one document."""


def import_document(data: bytes, store: SpanStore) -> TracesImported:
    """Store the spans of a document; blocks.

    Raises:
        ProblemError: the document is invalid, or cannot be stored.
    """
    try:
        read = read_batch(data, BOUNDS)
    except TooManyError as error:
        raise refusal("too-large", str(error), "bring it in in several documents") from None
    except BadTracesError as error:
        raise refusal(
            "bad-request",
            str(error),
            "give what Jaeger saves as JSON, or OTLP's JSON: a document, or one a line",
        ) from None
    return store_spans(read, store)


def import_from_jaeger(asked: JaegerRequest, store: SpanStore) -> TracesImported:
    """Store traces from a Jaeger on this machine; blocks. Raises ProblemError."""
    return store_spans(fetch_traces(asked, BOUNDS), store)


def store_spans(read: Batch, store: SpanStore) -> TracesImported:
    """Store the spans of a document, and count rejected ones. Raises ProblemError."""
    store.add_table(read.table)
    store.reject(read.rejected)
    return TracesImported(
        traces=pc.count_distinct(read.table["trace_id"]).as_py(),
        spans=len(read.table),
        rejected=read.rejected,
        reasons=list(read.reasons),
    )


HOST = "127.0.0.1"
"""The only allowed host: otherwise operators could make the backend call any service."""
TIMEOUT_SECONDS = 20.0


def fetch_traces(asked: JaegerRequest, bounds: Bounds) -> Batch:
    """Request traces from Jaeger; blocks.

    Args:
        asked: port and query.
        bounds: bounds of the answer's spans.

    Raises:
        ProblemError: no service answers, or the answer is not Jaeger's.
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
