"""Inputs that break careless readers: names, and small requests that become huge spans.

Requests have 16 MiB of messages of two bytes.
"""

from collections.abc import Callable

SIZE = 16 * 1024 * 1024 - 4096
IDS = b"\x0a\x10" + b"\1" * 16 + b"\x12\x08" + b"\2" * 8 + b"\x2a\x01n"
TIMES = b"\x39" + (10).to_bytes(8, "little") + b"\x41" + (20).to_bytes(8, "little")
SPAN = IDS + TIMES
"""The fields of a good span."""
EMPTY_JSON = b"{}," * (SIZE // 3) + b"{}"


def field(number: int, content: bytes) -> bytes:
    """A field of a message, text or bytes."""
    head, left = [number << 3 | 2], len(content)
    while left >= 128:
        head.append(left & 127 | 128)
        left >>= 7
    return bytes([*head, left]) + content


def request(spans: bytes, resource: bytes = b"") -> bytes:
    """An ExportTraceServiceRequest of encoded spans."""
    return field(1, field(1, resource) + field(2, spans))


def attribute(key: bytes, value: bytes) -> bytes:
    """The content of a KeyValue whose value is text."""
    return field(1, key) + field(2, field(1, value))


def empty(number: int, size: int = SIZE) -> bytes:
    """Empty messages in a field."""
    return field(number, b"") * (size // 2)


def _repeated() -> bytes:
    keys = (b"service.name", b"host.name", b"container.id", b"service.version", b"k8s.pod.name")
    resource = b"".join(field(1, attribute(key, b"v" * 256)) for key in keys)
    return request(field(2, SPAN) * (SIZE // (len(SPAN) + 2)), resource)


PROTOBUF: dict[str, Callable[[], bytes]] = {
    "spans": lambda: request(empty(2)),
    "attributes": lambda: request(field(2, SPAN + empty(9))),
    "events": lambda: request(field(2, SPAN + empty(11))),
    "links": lambda: request(field(2, SPAN + empty(13))),
    "many-attributes": lambda: request(field(2, SPAN + empty(9, 16_000)) * (SIZE // 16_100)),
    "values": lambda: request(field(2, SPAN + field(9, field(2, field(5, empty(1)))))),
    "attributes-of-a-resource": lambda: request(field(2, SPAN), empty(1)),
    "resources": lambda: empty(1),
    "scopes": lambda: field(1, empty(2)),
    "small-spans": lambda: request(field(2, SPAN) * (SIZE // (len(SPAN) + 2))),
    "repeated-resource": _repeated,
}
"""Oversized inputs, by the exceeded bound."""

JSON: dict[str, Callable[[], bytes]] = {
    "objects": lambda: b"[" + EMPTY_JSON + b"]",
    "spans": lambda: b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + EMPTY_JSON + b"]}]}]}",
    "attributes": lambda: (
        b'{"resourceSpans":[{"resource":{"attributes":['
        + EMPTY_JSON
        + b']},"scopeSpans":[{"spans":[]}]}]}'
    ),
    "of-jaeger": lambda: b'{"data":[{"spans":[' + EMPTY_JSON + b"]}]}",
    "lines": lambda: b"{}\n" * (SIZE // 3),
    "depth": lambda: b"[" * (SIZE // 2) + b"]" * (SIZE // 2),
}


NAMES = (
    'quote"',
    "back\\slash",
    "line\n# HELP forged",
    "return\r\n",
    "escape\x1b]0;t\x07",
    "nel\x85\u2028\u2029",
    "bidi\u202eab\u2066",
    "zero\u200b\ufeff",
    "not utf-8 \ufffd",
    '},evil="1',
    "nul\0",
    " blanks ",
    "🧵 é e\u0301",
    "\\n is no line",
)
"""All differ. What is not UTF-8 has become U+FFFD in the collector."""
