"""Shared parts of the readers of trace documents: bounds, identifiers and known attributes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidscope_traces.spans.model import NO_ATTRIBUTES, Kind, Span

LONGEST_NAME = 256
"""Maximum characters of a service or an operation; longer names are cut."""
MAX_ATTRIBUTES = 64
LONGEST_KEY, LONGEST_VALUE = 128, 256
KEPT_OF_RESOURCE = (
    *("host.name", "container.id", "service.version", "service.namespace", "service.instance.id"),
    *("deployment.environment", "deployment.environment.name"),
    *("k8s.namespace.name", "k8s.pod.name"),
)
"""Resource attributes kept with each span: location and version."""
BYTES_PER_SPAN = 256
"""Minimum bytes per span in a bounded document; spans sent by SDKs take more."""
SHARED_PER_BYTE = 2
"""Maximum characters copied from resources to spans, per byte of a bounded document."""
LATEST_NS = 1 << 62
"""Latest valid time, in the year 2116."""

_KINDS: dict[object, Kind] = {
    kind: kind for kind in ("internal", "server", "client", "producer", "consumer")
}
_HEX = frozenset("0123456789abcdef")
LONGEST_ID = 64
"""Maximum characters of a non-hexadecimal ID."""
_ID_FIRST = frozenset("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ID = _ID_FIRST | frozenset(".:~+=@-")
"""Allowed characters of such an ID; none needs an escape in a URL's path."""
_GRPC_STATUS = ("rpc.grpc.status_code", "grpc.status_code")
_HTTP_STATUS = ("http.response.status_code", "http.status_code")


class BadTracesError(ValueError):
    """The document violates its format."""


class TooManyError(BadTracesError):
    """The document exceeds its bounds."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of one document.

    Attributes:
        spans: maximum spans, including malformed ones.
        shared: maximum characters copied from resources to spans; each span keeps a copy, so a
            resource counts once per span.
    """

    spans: int
    shared: int

    @classmethod
    def of(cls, size: int) -> "Bounds":
        """Return bounds of documents of at most `size` bytes."""
        return cls(size // BYTES_PER_SPAN, SHARED_PER_BYTE * size)


@dataclass(slots=True)
class ReadSpans:
    """Spans read from a document.

    Attributes:
        spans: spans in the order of the document.
        rejected: number of malformed spans.
        reasons: problems of the first malformed spans, at most 10.
        bounds: bounds of the document, or None for no bounds.
        shared: characters copied from resources so far.
    """

    spans: list[Span] = field(default_factory=list)
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)
    bounds: Bounds | None = None
    shared: int = 0

    def add(self, span: Span, shared: int) -> None:
        """Add a span.

        Args:
            span: span as read.
            shared: characters copied from the span's resource.

        Raises:
            TooManyError: the document exceeds its bounds.
        """
        self.spans.append(span)
        self.shared += shared
        self._check()

    def reject(self, reason: str) -> None:
        """Count a malformed span. Raises TooManyError beyond the bounds."""
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
    """Parse an ID into lower-case hexadecimal digits, padded with zeros.

    Raises:
        BadTracesError: the ID is not hexadecimal, is 0, or is longer than most_digits.
    """
    text = value.lower() if isinstance(value, str) else ""
    if not 0 < len(text) <= most_digits or not _HEX.issuperset(text) or not text.strip("0"):
        msg = f"{str(value)[:40]!r} is not an id of up to {most_digits} hexadecimal digits"
        raise BadTracesError(msg)
    return text.zfill(most_digits)


def parse_text_id(value: object, most_digits: int) -> str:
    """Parse an ID as `parse_id`, or return a valid non-hexadecimal text unchanged.

    Raises:
        BadTracesError: the ID is 0, is longer than LONGEST_ID, or has invalid characters.
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
    """Return a name, cut to LONGEST_NAME.

    Raises:
        BadTracesError: the name is not text, or is empty.
    """
    if not isinstance(value, str) or not value:
        msg = f"no name of the {of}"
        raise BadTracesError(msg)
    return value[:LONGEST_NAME]


def check_times(start_ns: int, end_ns: int) -> None:
    """Check start and end since the epoch. Raises BadTracesError if invalid."""
    if not 0 <= start_ns <= end_ns < LATEST_NS:
        msg = f"start {start_ns} ns and end {end_ns} ns: want 0 <= start <= end"
        raise BadTracesError(msg)


def object_of(value: object, name: str) -> dict[str, Any]:
    """Return a value that is a JSON object. Raises BadTracesError otherwise."""
    if not isinstance(value, dict):
        msg = f"{name} is no object"
        raise BadTracesError(msg)
    return value


def list_of(value: object, name: str) -> list[Any]:
    """Return a value that is a list, or an empty list for None. Raises BadTracesError otherwise."""
    if value is None:
        return []
    if not isinstance(value, list):
        msg = f"{name} is no list"
        raise BadTracesError(msg)
    return value


def text_of(value: object) -> str:
    """Return the value of an attribute as text, cut to LONGEST_VALUE."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return (value if isinstance(value, str) else str(value))[:LONGEST_VALUE]


def kind_of(value: object) -> Kind:
    """Return the kind with this name; `internal` for an unknown name."""
    return _KINDS.get(value, "internal")


def number_of(value: str | None) -> int | None:
    """Return a number of up to 18 digits, or None if invalid."""
    return int(value) if value is not None and value.isdecimal() and len(value) <= 18 else None


def failed(attributes: Mapping[str, str], kind: Kind) -> bool:
    """Return True if attributes show that the operation failed.

    Per OpenTelemetry's conventions, an HTTP server's 4xx is an error of the client only.
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
    """Return the attributes of a resource that are kept with its spans."""
    return {key: resource[key] for key in KEPT_OF_RESOURCE if resource.get(key)}


def size_of(service: str, kept: Mapping[str, str]) -> int:
    """Return the characters copied to each span: service and attributes of the resource."""
    return len(service) + sum(len(key) + len(value) for key, value in kept.items())


def bounded(attributes: dict[str, str], resource: Mapping[str, str]) -> Mapping[str, str]:
    """Merge a span's attributes with its resource's, keeping the first MAX_ATTRIBUTES.

    Attributes of the span take precedence.
    """
    if resource:
        attributes = {**resource, **attributes}
    if not attributes:
        return NO_ATTRIBUTES
    if len(attributes) <= MAX_ATTRIBUTES:
        return attributes
    return dict(list(attributes.items())[:MAX_ATTRIBUTES])
