"""Spans of OTLP's protobuf messages (opentelemetry-proto, trace/v1/trace.proto).

A protobuf decoder makes an object of 50 to 90 bytes from a message of two. 16 MiB of empty messages
would therefore become a gigabyte. Only resources and spans are decoded, one at a time. The levels
above are parsed in the wire format (protobuf.dev, "Encoding") and counted.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from tidscope_traces.spans.model import Kind, Span
from tidscope_traces.spans.otlp import UNKNOWN_SERVICE
from tidscope_traces.spans.reading import (
    LONGEST_KEY,
    LONGEST_VALUE,
    BadTracesError,
    Bounds,
    ReadSpans,
    TooManyError,
    bounded,
    check_times,
    failed,
    kept_of,
    number_of,
    parse_id,
    parse_name,
    size_of,
    text_of,
)

from tidscope_backend.traces.batches import Batch

SHORT_BYTES = 16 * 1024
"""Maximum length of a message decoded with its unread fields, in bytes."""
MAX_READ = 1024
"""Maximum attributes read per span or resource; further ones are ignored."""
MAX_FIELDS = 2048
"""Maximum fields of a long span or resource; one with more is malformed."""

_KINDS: tuple[Kind, ...] = ("internal", "internal", "server", "client", "producer", "consumer")
"""Kind by the number of SpanKind; 0 is unspecified."""
_ERROR = 2
"""STATUS_CODE_ERROR in trace.proto."""
_SINGLE = ("string_value", "int_value", "bool_value", "double_value")

# Field numbers: ExportTraceServiceRequest, ResourceSpans, ScopeSpans, Resource, Span, KeyValue,
# AnyValue.
_RESOURCE_SPANS = 1
_RESOURCE, _SCOPE_SPANS = 1, 2
_SPANS = 2
_RESOURCE_ATTRIBUTES = 1
_SPAN_ATTRIBUTES, _SPAN_EVENTS, _SPAN_LINKS = 9, 11, 13
_KEY, _VALUE = 1, 2
_STRING_VALUE = 1
_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5

_Field = tuple[int, int, int, int]
"""Number, start, and start and end of the content; empty unless a message, text or bytes."""


def read_protobuf(data: bytes, bounds: Bounds | None = None) -> ReadSpans:
    """Read the body of an export request. Malformed spans are omitted.

    Raises:
        BadTracesError: the body is not such a message.
        TooManyError: the body exceeds the bounds.
    """
    read = ReadSpans(bounds=bounds)
    try:
        _read_request(data, read)
    except (DecodeError, IndexError) as error:
        why = "it ends too early" if isinstance(error, IndexError) else str(error)
        raise BadTracesError(f"the body is no ExportTraceServiceRequest: {why}") from None
    return read


def read_protobuf_batch(data: bytes, bounds: Bounds) -> Batch:
    """Read the body of an export request as a table."""
    return Batch.of(read_protobuf(data, bounds))


def _read_request(data: bytes, read: ReadSpans) -> None:
    groups = 0
    for number, _, start, end in _fields(data, 0, len(data)):
        groups = _counted(groups, read.bounds)
        if number != _RESOURCE_SPANS:
            continue
        scopes: list[tuple[int, int]] = []
        # A repeated message field is one message, of the concatenated bytes.
        resource: list[bytes] = []
        for inner, _, begin, stop in _fields(data, start, end):
            groups = _counted(groups, read.bounds)
            if inner == _RESOURCE:
                resource.append(data[begin:stop])
            elif inner == _SCOPE_SPANS:
                scopes.append((begin, stop))
        if scopes:
            _read_scopes(data, scopes, _attributes_of_resource(b"".join(resource)), read)


def _counted(groups: int, bounds: Bounds | None) -> int:
    """Count a resource or a scope; their number is bounded like that of spans."""
    if bounds is not None and groups >= bounds.spans:
        raise TooManyError(f"it has more than {bounds.spans} resources and scopes; divide it")
    return groups + 1


def _attributes_of_resource(content: bytes) -> dict[str, str]:
    return _attributes(
        Resource.FromString(_without_excess(content, _RESOURCE_ATTRIBUTES)).attributes
    )


def _read_scopes(
    data: bytes, scopes: Iterable[tuple[int, int]], resource: Mapping[str, str], read: ReadSpans
) -> None:
    service = resource.get("service.name") or UNKNOWN_SERVICE
    pid = number_of(resource.get("process.pid"))
    kept = kept_of(resource)
    shared = size_of(service, kept)
    for scope in scopes:
        for number, _, start, end in _fields(data, *scope):
            if number != _SPANS:
                continue
            try:
                message = SpanMessage.FromString(_without_excess(data[start:end], _SPAN_ATTRIBUTES))
                found = _span(message, parse_name(service, "service"), pid, kept)
            except BadTracesError as error:
                read.reject(str(error))
            else:
                read.add(found, shared)


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
    return {
        one.key[:LONGEST_KEY]: text_of(_value(one.value)) for one in islice(attributes, MAX_READ)
    }


def _value(value: Any) -> object:
    which = value.WhichOneof("value")
    if which is None:
        return ""
    if which in _SINGLE:
        return getattr(value, which)
    if which == "bytes_value":
        return value.bytes_value[:LONGEST_VALUE].hex()
    # Lists and maps as JSON.
    found: Mapping[str, object] = MessageToDict(value)
    return next(iter(found.values()), "")


def _without_excess(content: bytes, attributes: int) -> bytes:
    """Return a span or a resource; if it is long, without its unread fields.

    Args:
        content: encoded message.
        attributes: field number of attributes.

    Raises:
        BadTracesError: the message has more than MAX_FIELDS fields.
    """
    if len(content) <= SHORT_BYTES:
        return content
    unread = (_SPAN_EVENTS, _SPAN_LINKS) if attributes == _SPAN_ATTRIBUTES else ()
    parts = []
    for count, (number, at, start, end) in enumerate(_fields(content, 0, len(content)), 1):
        if count > MAX_FIELDS:
            raise BadTracesError(f"{len(content)} bytes and more than {MAX_FIELDS} fields")
        if number == attributes and end - start > SHORT_BYTES:
            parts.append(_delimited(number, _cut_attribute(content, start, end)))
        elif number not in unread:
            parts.append(content[at:end])
    return b"".join(parts)


def _cut_attribute(content: bytes, start: int, end: int) -> bytes:
    """Return a long KeyValue with truncated text, or without a value of another type."""
    key = text = b""
    for count, (number, _, begin, stop) in enumerate(_fields(content, start, end)):
        if count >= MAX_FIELDS:
            break
        if number == _KEY:
            key = _beginning(content[begin:stop], LONGEST_KEY)
        elif number == _VALUE:
            inner = next(_fields(content, begin, stop), None)
            if inner is not None and inner[0] == _STRING_VALUE:
                text = _beginning(content[inner[2] : inner[3]], LONGEST_VALUE)
    return _delimited(_KEY, key) + _delimited(_VALUE, _delimited(_STRING_VALUE, text))


def _beginning(text: bytes, characters: int) -> bytes:
    """Return the first characters of UTF-8, which has at most four bytes per character."""
    return text[: 4 * characters].decode("utf-8", "ignore")[:characters].encode()


def _fields(data: bytes, start: int, end: int) -> Iterator[_Field]:
    """Yield the fields of a message between two offsets.

    Raises:
        BadTracesError: the bytes are not a message.
        IndexError: the bytes end within a number.
    """
    at = start
    while at < end:
        tag, begin = _varint(data, at)
        wire = tag & 7
        if wire == _DELIMITED:
            size, begin = _varint(data, begin)
            stop = begin + size
        elif wire == _VARINT:
            begin = stop = _varint(data, begin)[1]
        elif wire in (_FIXED64, _FIXED32):
            begin = stop = begin + (8 if wire == _FIXED64 else 4)
        else:
            raise BadTracesError(f"the body is no ExportTraceServiceRequest: wire type {wire}")
        if stop > end:
            raise BadTracesError("the body is no ExportTraceServiceRequest: a field is too long")
        yield tag >> 3, at, begin, stop
        at = stop


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and its end offset."""
    byte = data[at]
    if byte < 128:
        return byte, at + 1
    number = shift = 0
    while byte >= 128 and shift < 63:
        number |= (byte & 127) << shift
        shift += 7
        at += 1
        byte = data[at]
    return number | byte << shift, at + 1


def _delimited(number: int, content: bytes) -> bytes:
    """Encode a field with its content; the field number must be below 16."""
    head, left = [number << 3 | _DELIMITED], len(content)
    while left >= 128:
        head.append(left & 127 | 128)
        left >>= 7
    return bytes([*head, left]) + content
