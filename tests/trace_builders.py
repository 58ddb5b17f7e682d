"""Made spans and traces: times are in milliseconds after one moment."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from tidscope_traces.spans.model import Kind, Span, Trace, make_trace

EPOCH_NS = 1_700_000_000_000_000_000
MS = 1_000_000
TRACE_ID = f"{7:032x}"


def made_span(
    name: str,
    start: float,
    end: float,
    parent: str = "",
    *,
    span_id: str | None = None,
    trace_id: str = TRACE_ID,
    service: str = "shop",
    kind: Kind = "internal",
    error: bool = False,
    follows: bool = False,
    attributes: Mapping[str, str] | None = None,
) -> Span:
    """A span of this operation; its id and its parent's are made of their names."""
    return Span(
        trace_id,
        made_id(span_id or name),
        parent and made_id(parent),
        service,
        name,
        EPOCH_NS + round(start * MS),
        EPOCH_NS + round(end * MS),
        kind,
        error,
        None,
        None,
        follows,
        attributes or {},
    )


def made_id(name: str) -> str:
    """A span id that is the same for the same name."""
    return name.encode().hex().zfill(16)[-16:]


def made_trace(*spans: Span) -> Trace:
    """A trace of these spans."""
    return make_trace(spans[0].trace_id, spans)


@st.composite
def any_spans(draw: st.DrawFn, most: int = 24) -> list[Span]:
    """Spans of one trace: overlapping, overflowing, async, failing, without parent, in circles."""
    count = draw(st.integers(1, most))
    spans = []
    for number in range(count):
        start = draw(st.integers(0, 60)) / 4
        # Mostly a caller that came before, sometimes none, one that is not here, or a circle.
        parent = draw(st.integers(-2, count if draw(st.integers(0, 9)) == 0 else number - 1))
        spans.append(
            made_span(
                draw(st.sampled_from("abcde")),
                start,
                start + draw(st.integers(0, 40)) / 4,
                "" if parent < 0 or number == 0 else f"s{parent}",
                span_id=f"s{number}",
                service=draw(st.sampled_from(("shop", "bank"))),
                kind=draw(st.sampled_from(("internal", "server", "client", "consumer"))),
                error=draw(st.booleans()),
                follows=draw(st.integers(0, 9)) == 0,
            )
        )
    return spans


def jaeger_document(*traces: Trace) -> dict[str, Any]:
    """Answer of Jaeger's query service with these traces; times are in microseconds."""
    return {"data": [_jaeger_trace(trace) for trace in traces]}


def _jaeger_trace(trace: Trace) -> dict[str, Any]:
    services = sorted({span.service for span in trace.spans})
    return {
        "traceID": trace.trace_id,
        "spans": [
            {
                "traceID": trace.trace_id,
                "spanID": span.span_id,
                "operationName": span.operation,
                "references": [
                    {
                        "refType": "FOLLOWS_FROM" if span.follows else "CHILD_OF",
                        "traceID": trace.trace_id,
                        "spanID": span.parent_id,
                    }
                ]
                if span.parent_id
                else [],
                "startTime": span.start_ns // 1000,
                "duration": (span.end_ns - span.start_ns) // 1000,
                "tags": [
                    {"key": "span.kind", "type": "string", "value": span.kind},
                    {"key": "error", "type": "bool", "value": span.error},
                    *(
                        {"key": key, "type": "string", "value": value}
                        for key, value in span.attributes.items()
                    ),
                ],
                "logs": [],
                "processID": f"p{services.index(span.service)}",
            }
            for span in trace.spans
        ],
        "processes": {
            f"p{place}": {"serviceName": service, "tags": []}
            for place, service in enumerate(services)
        },
    }
