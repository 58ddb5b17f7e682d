"""Spans of OTLP's protobuf messages (opentelemetry-proto, trace/v1/trace.proto)."""

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tidscope_traces.spans.model import Kind, Span
from tidscope_traces.spans.otlp import UNKNOWN_SERVICE
from tidscope_traces.spans.reading import (
    LONGEST_KEY,
    BadTracesError,
    ReadSpans,
    bounded,
    check_times,
    failed,
    kept_of,
    number_of,
    parse_id,
    parse_name,
    text_of,
)

_KINDS: tuple[Kind, ...] = ("internal", "internal", "server", "client", "producer", "consumer")
"""By the number of SpanKind; 0 is unspecified."""
_ERROR = 2
"""STATUS_CODE_ERROR."""
_SINGLE = ("string_value", "int_value", "bool_value", "double_value")


def read_protobuf(data: bytes) -> ReadSpans:
    """Read the body of an export request. A span with something wrong in it is left out.

    Raises:
        BadTracesError: it is no such message.
    """
    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(data)
    except DecodeError as error:
        raise BadTracesError(f"the body is no ExportTraceServiceRequest: {error}") from None
    read = ReadSpans()
    for part in request.resource_spans:
        attributes = _attributes(part.resource.attributes)
        service = attributes.get("service.name") or UNKNOWN_SERVICE
        pid = number_of(attributes.get("process.pid"))
        kept = kept_of(attributes)
        for scope in part.scope_spans:
            for span in scope.spans:
                try:
                    read.spans.append(_span(span, parse_name(service, "service"), pid, kept))
                except BadTracesError as error:
                    read.reject(str(error))
    return read


def _span(span: Any, service: str, pid: int | None, resource: Mapping[str, str]) -> Span:
    check_times(span.start_time_unix_nano, span.end_time_unix_nano)
    attributes = _attributes(span.attributes)
    kind: Kind = _KINDS[span.kind] if 0 <= span.kind < len(_KINDS) else "internal"
    return Span(
        parse_id(span.trace_id.hex(), 32),
        parse_id(span.span_id.hex(), 16),
        parse_id(span.parent_span_id.hex(), 16) if span.parent_span_id else "",
        service,
        parse_name(span.name, "operation"),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        kind,
        span.status.code == _ERROR or failed(attributes, kind),
        pid,
        number_of(attributes.get("thread.id")),
        False,
        bounded(attributes, resource),
    )


def _attributes(attributes: Iterable[Any]) -> dict[str, str]:
    return {one.key[:LONGEST_KEY]: text_of(_value(one.value)) for one in attributes}


def _value(value: Any) -> object:
    which = value.WhichOneof("value")
    if which is None:
        return ""
    if which in _SINGLE:
        return getattr(value, which)
    if which == "bytes_value":
        return value.bytes_value.hex()
    # Lists and maps as their JSON.
    found: Mapping[str, object] = MessageToDict(value)
    return next(iter(found.values()), "")
