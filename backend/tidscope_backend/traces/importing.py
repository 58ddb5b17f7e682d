"""Spans come in: of a document, or of a Jaeger on this machine."""

from tidscope_traces.spans.reading import BadTracesError, ReadSpans
from tidscope_wire.generated.models import JaegerRequest, TracesImported
from tidscope_wire.problems import refusal

from tidscope_backend.traces.documents import read_document
from tidscope_backend.traces.jaeger_source import fetch_traces
from tidscope_backend.traces.span_store import SpanStore


def import_document(data: bytes, store: SpanStore) -> TracesImported:
    """Store the spans of a document; blocks.

    Raises:
        ProblemError: it is none, or cannot be stored.
    """
    try:
        read = read_document(data)
    except BadTracesError as error:
        raise refusal(
            "bad-request",
            str(error),
            "give what Jaeger saves as JSON, or OTLP's JSON: a document, or one a line",
        ) from None
    return store_spans(read, store)


def import_from_jaeger(asked: JaegerRequest, store: SpanStore) -> TracesImported:
    """Store traces of a Jaeger on this machine; blocks. Raises ProblemError."""
    return store_spans(fetch_traces(asked), store)


def store_spans(read: ReadSpans, store: SpanStore) -> TracesImported:
    """Store what was read, and count the rest. Raises ProblemError."""
    store.add(read.spans)
    store.reject(read.rejected)
    return TracesImported(
        traces=len({span.trace_id for span in read.spans}),
        spans=len(read.spans),
        rejected=read.rejected,
        reasons=read.reasons,
    )
