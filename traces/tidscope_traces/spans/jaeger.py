"""Reader of Jaeger's JSON, as returned by /api/traces and saved by Jaeger's page.

Form: `{"data": [{"traceID", "spans": [...], "processes": {"p1": {"serviceName", "tags"}}}]}`, times
in microseconds (jaegertracing/jaeger, internal/uimodel/model.go).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tidscope_traces.spans.model import Span
from tidscope_traces.spans.reading import (
    LONGEST_KEY,
    BadTracesError,
    Bounds,
    ReadSpans,
    bounded,
    check_times,
    failed,
    kept_of,
    kind_of,
    list_of,
    number_of,
    object_of,
    parse_name,
    parse_text_id,
    size_of,
    text_of,
)

_PID = ("process.pid", "pid")


def read_jaeger(document: object, bounds: Bounds | None = None) -> ReadSpans:
    """Read a document: the answer of the query service, its `data`, or one trace.

    Malformed spans are omitted and counted.

    Raises:
        BadTracesError: the document has another form.
        TooManyError: the document exceeds the bounds.
    """
    if isinstance(document, dict):
        traces = document.get("data", [document])
    elif isinstance(document, list):
        traces = document
    else:
        msg = "the document is neither an object nor a list"
        raise BadTracesError(msg)
    read = ReadSpans(bounds=bounds)
    for entry in list_of(traces, "data"):
        trace = object_of(entry, "a trace")
        if "spans" not in trace:
            msg = "a trace has no spans"
            raise BadTracesError(msg)
        own = object_of(trace.get("processes") or {}, "processes")
        processes = {key: _Process(object_of(value, "a process")) for key, value in own.items()}
        for span in list_of(trace["spans"], "spans"):
            try:
                found, shared = _read_span(object_of(span, "a span"), processes)
            except BadTracesError as error:
                read.reject(str(error))
            else:
                read.add(found, shared)
    return read


class _Process:
    def __init__(self, process: Mapping[str, Any]) -> None:
        tags = _tags(process.get("tags"))
        self.service = parse_name(process.get("serviceName"), "service")
        # Name used by Jaeger's clients.
        self.kept = kept_of({"host.name": tags.get("hostname", ""), **tags})
        self.shared = size_of(self.service, self.kept)
        self.pid = next((pid for key in _PID if (pid := number_of(tags.get(key)))), None)


def _read_span(span: dict[str, Any], processes: Mapping[str, _Process]) -> tuple[Span, int]:
    """Return a span, and the number of characters copied from its process."""
    trace_id = parse_text_id(span.get("traceID"), 32)
    process = processes.get(str(span.get("processID")))
    if process is None:
        inline = span.get("process")
        if not isinstance(inline, dict):
            msg = f"no process {str(span.get('processID'))[:40]!r}"
            raise BadTracesError(msg)
        process = _Process(inline)
    attributes = _tags(span.get("tags"))
    kind = kind_of(attributes.get("span.kind"))
    start_ns, duration_ns = _nanoseconds(span, "startTime"), _nanoseconds(span, "duration")
    check_times(start_ns, start_ns + duration_ns)
    parent_id, follows = _parent(span, trace_id)
    found = Span(
        trace_id,
        parse_text_id(span.get("spanID"), 16),
        parent_id,
        process.service,
        parse_name(span.get("operationName"), "operation"),
        start_ns,
        start_ns + duration_ns,
        kind,
        failed(attributes, kind),
        process.pid,
        number_of(attributes.get("thread.id")),
        follows,
        bounded(attributes, process.kept),
    )
    return found, process.shared


def _nanoseconds(span: Mapping[str, Any], key: str) -> int:
    value = span.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"{key} is no whole number of microseconds"
        raise BadTracesError(msg)
    return value * 1000


def _parent(span: Mapping[str, Any], trace_id: str) -> tuple[str, bool]:
    """Return the span that caused this one, and whether it does not wait."""
    followed = ""
    for entry in list_of(span.get("references"), "references"):
        reference = object_of(entry, "a reference")
        if parse_text_id(reference.get("traceID", trace_id), 32) != trace_id:
            continue
        parent_id = parse_text_id(reference.get("spanID"), 16)
        if reference.get("refType") == "CHILD_OF":
            return parent_id, False
        followed = followed or parent_id
    if followed:
        return followed, True
    old = span.get("parentSpanID")
    return (parse_text_id(old, 16) if old else ""), False


def _tags(tags: Iterable[Any] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for tag in list_of(tags, "tags"):
        key = object_of(tag, "a tag").get("key")
        if isinstance(key, str):
            found[key[:LONGEST_KEY]] = text_of(tag.get("value"))
    return found
