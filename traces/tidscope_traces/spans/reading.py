"""What readers of trace documents share: bounds, identifiers, attributes that have a meaning."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidscope_traces.spans.model import NO_ATTRIBUTES, Kind, Span

LONGEST_NAME = 256
"""Characters of a service or an operation; longer ones are cut."""
MAX_ATTRIBUTES = 64
LONGEST_KEY, LONGEST_VALUE = 128, 256
KEPT_OF_RESOURCE = (
    *("host.name", "container.id", "service.version", "service.namespace", "service.instance.id"),
    *("deployment.environment", "deployment.environment.name"),
    *("k8s.namespace.name", "k8s.pod.name"),
)
"""Resource attributes that are kept with each span: where it ran, and which version it is of."""
BYTES_PER_SPAN = 256
"""A bounded document may hold a span for each of these bytes. Spans that SDKs send take more."""
SHARED_PER_BYTE = 2
"""Characters that spans of a bounded document may take over from resources, per byte."""
LATEST_NS = 1 << 62
"""In the year 2116: what is later is not a time."""

_KINDS: dict[object, Kind] = {
    kind: kind for kind in ("internal", "server", "client", "producer", "consumer")
}
_HEX = frozenset("0123456789abcdef")
LONGEST_ID = 64
"""Characters of an id that is no hexadecimal number."""
_ID_FIRST = frozenset("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ID = _ID_FIRST | frozenset(".:~+=@-")
"""Characters of such an id. They need no escape in a URL's path."""
_GRPC_STATUS = ("rpc.grpc.status_code", "grpc.status_code")
_HTTP_STATUS = ("http.response.status_code", "http.status_code")


class BadTracesError(ValueError):
    """A document does not have the form of its format."""


class TooManyError(BadTracesError):
    """A document holds more than is accepted of one."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one document may hold.

    Attributes:
        spans: number of spans, malformed ones included.
        shared: characters that spans take over from their resources; a resource counts once for
            each of its spans, as each span keeps a copy.
    """

    spans: int
    shared: int

    @classmethod
    def of(cls, size: int) -> "Bounds":
        """Bounds of documents of at most `size` bytes."""
        return cls(size // BYTES_PER_SPAN, SHARED_PER_BYTE * size)


@dataclass(slots=True)
class ReadSpans:
    """What was read of a document.

    Attributes:
        spans: in the order of the document.
        rejected: spans left out because something in them was wrong.
        reasons: what was wrong in the first of them, at most 10.
        bounds: how much the document may hold; None: as much as it has.
        shared: characters that spans took over from their resources so far.
    """

    spans: list[Span] = field(default_factory=list)
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)
    bounds: Bounds | None = None
    shared: int = 0

    def add(self, span: Span, shared: int) -> None:
        """Keep a span.

        Args:
            span: as it was read.
            shared: characters that it took over from its resource.

        Raises:
            TooManyError: the document holds more than its bounds.
        """
        self.spans.append(span)
        self.shared += shared
        self._check()

    def reject(self, reason: str) -> None:
        """Count a span that is left out. Raises TooManyError: there are too many."""
        self.rejected += 1
        if len(self.reasons) < 10:
            self.reasons.append(reason)
        self._check()

    def _check(self) -> None:
        bounds = self.bounds
        if bounds is None:
            return
        if len(self.spans) + self.rejected > bounds.spans:
            msg = f"it has more than {bounds.spans} spans; divide it"
            raise TooManyError(msg)
        if self.shared > bounds.shared:
            msg = (
                f"resources say more than {bounds.shared >> 20} MiB of their spans, "
                "counted once for each span; divide it"
            )
            raise TooManyError(msg)


def parse_id(value: object, most_digits: int) -> str:
    """An identifier as lower-case hexadecimal digits, zeros before it where it is short.

    Raises:
        BadTracesError: it is no hexadecimal number, is 0, or is longer than most_digits.
    """
    text = value.lower() if isinstance(value, str) else ""
    if not 0 < len(text) <= most_digits or not _HEX.issuperset(text) or not text.strip("0"):
        msg = f"{str(value)[:40]!r} is not an id of up to {most_digits} hexadecimal digits"
        raise BadTracesError(msg)
    return text.zfill(most_digits)


def parse_text_id(value: object, most_digits: int) -> str:
    """An identifier in a document: as `parse_id`, or the text itself if it is no such number.

    Raises:
        BadTracesError: it is 0, or is longer than LONGEST_ID or has other characters.
    """
    try:
        return parse_id(value, most_digits)
    except BadTracesError:
        if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID or not value.strip("0"):
            raise
        if value[0] not in _ID_FIRST or not _ID.issuperset(value):
            raise
        return value


def parse_name(value: object, of: str) -> str:
    """A name, cut to LONGEST_NAME.

    Raises:
        BadTracesError: it is no text, or empty.
    """
    if not isinstance(value, str) or not value:
        msg = f"no name of the {of}"
        raise BadTracesError(msg)
    return value[:LONGEST_NAME]


def check_times(start_ns: int, end_ns: int) -> None:
    """Raise BadTracesError if these are no start and end, since the epoch."""
    if not 0 <= start_ns <= end_ns < LATEST_NS:
        msg = f"start {start_ns} ns and end {end_ns} ns: want 0 <= start <= end"
        raise BadTracesError(msg)


def object_of(value: object, name: str) -> dict[str, Any]:
    """The value, if it is an object of JSON; BadTracesError if not."""
    if not isinstance(value, dict):
        msg = f"{name} is no object"
        raise BadTracesError(msg)
    return value


def list_of(value: object, name: str) -> list[Any]:
    """The value, if it is a list, none being an empty one; BadTracesError if not."""
    if value is None:
        return []
    if not isinstance(value, list):
        msg = f"{name} is no list"
        raise BadTracesError(msg)
    return value


def text_of(value: object) -> str:
    """The value of an attribute as text, cut to LONGEST_VALUE."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return (value if isinstance(value, str) else str(value))[:LONGEST_VALUE]


def kind_of(value: object) -> Kind:
    """The kind of this name; internal for what has none."""
    return _KINDS.get(value, "internal")


def number_of(value: str | None) -> int | None:
    """A number of up to 18 digits; None for what is none."""
    return int(value) if value is not None and value.isdecimal() and len(value) <= 18 else None


def failed(attributes: Mapping[str, str], kind: Kind) -> bool:
    """Whether attributes say that the operation failed.

    OpenTelemetry's conventions: an HTTP server's 4xx is the client's mistake, not its own.
    """
    if attributes.get("error", "false").lower() not in ("false", "", "0"):
        return True
    if attributes.get("otel.status_code", "").upper() == "ERROR":
        return True
    for key in _GRPC_STATUS:
        if number_of(attributes.get(key)):
            return True
    status = max((number_of(attributes.get(key)) or 0 for key in _HTTP_STATUS), default=0)
    return status >= (500 if kind == "server" else 400)


def kept_of(resource: Mapping[str, str]) -> dict[str, str]:
    """Those of a resource's attributes that are kept with its spans."""
    return {key: resource[key] for key in KEPT_OF_RESOURCE if resource.get(key)}


def size_of(service: str, kept: Mapping[str, str]) -> int:
    """Characters that each span takes over: the service and attributes of its resource."""
    return len(service) + sum(len(key) + len(value) for key, value in kept.items())


def bounded(attributes: dict[str, str], resource: Mapping[str, str]) -> Mapping[str, str]:
    """A span's attributes and those kept of its resource: at most MAX_ATTRIBUTES, the first ones.

    What a span says itself goes before what its resource says.
    """
    if resource:
        attributes = {**resource, **attributes}
    if not attributes:
        return NO_ATTRIBUTES
    if len(attributes) <= MAX_ATTRIBUTES:
        return attributes
    return dict(list(attributes.items())[:MAX_ATTRIBUTES])
