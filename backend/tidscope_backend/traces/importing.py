"""Spans come in: of a document, or of a Jaeger on this machine."""

import pyarrow.compute as pc
from tidscope_traces.spans.reading import BadTracesError, Bounds, TooManyError
from tidscope_wire.generated.limits import MAX_TRACES_BYTES
from tidscope_wire.generated.models import JaegerRequest, TracesImported
from tidscope_wire.problems import refusal

from tidscope_backend.traces.batches import Batch, read_batch
from tidscope_backend.traces.jaeger_source import fetch_traces
from tidscope_backend.traces.span_store import SpanStore

BOUNDS = Bounds.of(MAX_TRACES_BYTES)
"""On the spans of one document."""


def import_document(data: bytes, store: SpanStore) -> TracesImported:
    """Store the spans of a document; blocks.

    Raises:
        ProblemError: it is none, or cannot be stored.
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
    """Store traces of a Jaeger on this machine; blocks. Raises ProblemError."""
    return store_spans(fetch_traces(asked, BOUNDS), store)


def store_spans(read: Batch, store: SpanStore) -> TracesImported:
    """Store what was read, and count the rest. Raises ProblemError."""
    store.add_table(read.table)
    store.reject(read.rejected)
    return TracesImported(
        traces=pc.count_distinct(read.table["trace_id"]).as_py(),
        spans=len(read.table),
        rejected=read.rejected,
        reasons=list(read.reasons),
    )
