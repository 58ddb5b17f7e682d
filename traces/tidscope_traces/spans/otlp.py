"""Reader of OTLP's JSON: the body of a request to /v1/traces, or a line of such a file.

Form: opentelemetry-proto, trace/v1/trace.proto in its JSON mapping, with identifiers as hexadecimal
digits (OTLP specification, "JSON Protobuf encoding"). Times in nanoseconds, as text or numbers.
"""

from collections.abc import Mapping
from typing import Any

from tidscope_traces.spans.model import Kind, Span
from tidscope_traces.spans.reading import (
    LONGEST_KEY,
    BadTracesError,
    Bounds,
    ReadSpans,
    bounded,
    check_times,
    failed,
    kept_of,
    list_of,
    number_of,
    object_of,
    parse_name,
    parse_text_id,
    size_of,
    text_of,
)

UNKNOWN_SERVICE = "unknown_service"
"""Service of a resource without service.name, per the specification."""

_NAMED: tuple[Kind, ...] = ("internal", "internal", "server", "client", "producer", "consumer")
"""Kind by the number of SpanKind; 0 is unspecified."""
_KINDS: dict[object, Kind] = {
    **dict(enumerate(_NAMED)),
    **{f"SPAN_KIND_{kind.upper()}": kind for kind in _NAMED},
}
_ERROR = (2, "STATUS_CODE_ERROR")


def read_otlp(document: object, bounds: Bounds | None = None) -> ReadSpans:
    """Read a document: `{"resourceSpans": [...]}`, or a list of such.

    Malformed spans are omitted and counted.

    Raises:
        BadTracesError: the document has another form.
        TooManyError: the document exceeds the bounds.
    """
    read = ReadSpans(bounds=bounds)
    for entry in document if isinstance(document, list) else [document]:
        request = object_of(entry, "the document")
        if "resourceSpans" not in request:
            msg = "the document has no resourceSpans"
            raise BadTracesError(msg)
        for part in list_of(request["resourceSpans"], "resourceSpans"):
            _read_resource(object_of(part, "a resource"), read)
    return read


def _read_resource(part: dict[str, Any], read: ReadSpans) -> None:
    resource = object_of(part.get("resource") or {}, "resource")
    attributes = _attributes(resource.get("attributes"))
    service = parse_name(attributes.get("service.name") or UNKNOWN_SERVICE, "service")
    pid = number_of(attributes.get("process.pid"))
    kept = kept_of(attributes)
    shared = size_of(service, kept)
    for scope in list_of(part.get("scopeSpans"), "scopeSpans"):
        for span in list_of(object_of(scope, "a scope").get("spans"), "spans"):
            try:
                found = _read_span(object_of(span, "a span"), service, pid, kept)
            except BadTracesError as error:
                read.reject(str(error))
            else:
                read.add(found, shared)


def _read_span(
    span: dict[str, Any], service: str, pid: int | None, resource: Mapping[str, str]
) -> Span:
    start_ns = _nanoseconds(span, "startTimeUnixNano")
    end_ns = _nanoseconds(span, "endTimeUnixNano")
    check_times(start_ns, end_ns)
    attributes = _attributes(span.get("attributes"))
    named = span.get("kind")
    kind = _KINDS.get(named, "internal") if isinstance(named, int | str) else "internal"
    status = object_of(span.get("status") or {}, "status")
    parent = span.get("parentSpanId")
    return Span(
        parse_text_id(span.get("traceId"), 32),
        parse_text_id(span.get("spanId"), 16),
        parse_text_id(parent, 16) if parent else "",
        service,
        parse_name(span.get("name"), "operation"),
        start_ns,
        end_ns,
        kind,
        status.get("code") in _ERROR or failed(attributes, kind),
        pid,
        number_of(attributes.get("thread.id")),
        False,
        bounded(attributes, resource),
    )


def _nanoseconds(span: dict[str, Any], key: str) -> int:
    value = span.get(key)
    if isinstance(value, str):
        value = int(value) if value.isdecimal() and len(value) <= 20 else None
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"{key} is no whole number of nanoseconds"
        raise BadTracesError(msg)
    return value


def _attributes(attributes: object) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in list_of(attributes, "attributes"):
        attribute = object_of(entry, "an attribute")
        key, value = attribute.get("key"), attribute.get("value")
        if isinstance(key, str) and isinstance(value, dict) and value:
            # One of stringValue, intValue, boolValue, doubleValue; lists and maps become JSON.
            found[key[:LONGEST_KEY]] = text_of(next(iter(value.values())))
    return found
