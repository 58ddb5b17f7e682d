"""Model of a span, of a trace, and of the links between spans."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

Kind = Literal["internal", "server", "client", "producer", "consumer"]

NO_ATTRIBUTES: Mapping[str, str] = {}
MAX_SPANS = 1_000_000
"""Maximum spans of one trace."""


class Operation(NamedTuple):
    """Operation: a named piece of work of a service, of which spans are instances."""

    service: str
    name: str


class Span(NamedTuple):
    """Unit of work within one request.

    Attributes:
        trace_id: 32 lower-case hexadecimal digits, or text for IDs in another form.
        span_id: 16 lower-case hexadecimal digits, or text in another form.
        parent_id: the span_id of the caller; "" for a root.
        service: service of the recording process.
        operation: name of the operation, equal in each request.
        start_ns: since the epoch, by the host's clock.
        end_ns: end by the same clock; not before start_ns.
        kind: side of a call or of a message; `internal` for neither.
        error: whether the operation failed.
        pid: process ID in its PID namespace; None if not reported.
        thread_id: ID of the thread that started the span; None if not reported.
        follows: whether the parent does not wait for the span (OpenTracing's FOLLOWS_FROM).
        attributes: tags of the span, values as text; bounded by the reader.
    """

    trace_id: str
    span_id: str
    parent_id: str
    service: str
    operation: str
    start_ns: int
    end_ns: int
    kind: Kind = "internal"
    error: bool = False
    pid: int | None = None
    thread_id: int | None = None
    follows: bool = False
    attributes: Mapping[str, str] = NO_ATTRIBUTES

    @property
    def named(self) -> Operation:
        """Service and operation."""
        return Operation(self.service, self.operation)

    @property
    def asynchronous(self) -> bool:
        """Whether the parent may continue and end without the span."""
        return self.follows or self.kind == "consumer"


@dataclass(frozen=True, slots=True)
class Trace:
    """All spans of one request.

    Attributes:
        trace_id: ID of the trace, as in Span.
        spans: by start, without duplicates.
        parents: index of each span's parent; -1 for a root.
        children: indices of each span's children.
        roots: indices of spans without a parent in the trace. The first is the trace's own root:
            the earliest that names no parent, or else the earliest.
        duplicates: number of duplicate spans removed.
        orphans: number of roots that name a missing parent.
        cycles: number of parent cycles, each cut at its earliest span.
    """

    trace_id: str
    spans: Sequence[Span]
    parents: Sequence[int]
    children: Sequence[Sequence[int]]
    roots: tuple[int, ...]
    duplicates: int = 0
    orphans: int = 0
    cycles: int = 0

    @property
    def root(self) -> Span:
        """The trace's own root."""
        return self.spans[self.roots[0]]


def group_spans(spans: Iterable[Span]) -> list[Trace]:
    """Return traces of spans in any order, by trace ID."""
    ordered = sorted(spans, key=attrgetter("trace_id"))
    return [
        make_trace(trace_id, list(own))
        for trace_id, own in groupby(ordered, attrgetter("trace_id"))
    ]


def make_trace(trace_id: str, spans: Sequence[Span]) -> Trace:
    """Link the spans of a trace, at least one; their order does not matter.

    The first span by start, end and names counts if several have the same ID. A client and a server
    may share an ID, as in Zipkin; the server is then the client's child.

    Raises:
        ValueError: the list is empty, or has more than MAX_SPANS.
    """
    if not 0 < len(spans) <= MAX_SPANS:
        msg = f"trace {trace_id}: {len(spans)} spans; want 1 to {MAX_SPANS}"
        raise ValueError(msg)
    ordered = sorted(spans, key=_by_start)
    callers, servers, kept = _without_duplicates(ordered)
    parents = [-1] * len(kept)
    orphans = 0
    for index, span in enumerate(kept):
        shared = callers.get(span.span_id)
        if servers.get(span.span_id) == index and shared is not None:
            parents[index] = shared
        elif span.parent_id:
            parent = servers.get(span.parent_id, callers.get(span.parent_id, -1))
            parents[index] = parent
            orphans += parent < 0
    cycles = _cut_cycles(parents)
    children: list[list[int]] = [[] for _ in kept]
    roots: list[int] = []
    for index, parent in enumerate(parents):
        (roots if parent < 0 else children[parent]).append(index)
    roots.sort(key=lambda index: (kept[index].parent_id != "", index))
    return Trace(
        trace_id, kept, parents, children, tuple(roots), len(spans) - len(kept), orphans, cycles
    )


def _by_start(span: Span) -> tuple[object, ...]:
    return (
        *(span.start_ns, -span.end_ns, span.span_id, span.kind),
        *(span.parent_id, span.service, span.operation, span.error, span.follows),
    )


def _without_duplicates(
    ordered: Sequence[Span],
) -> tuple[dict[str, int], dict[str, int], list[Span]]:
    """Return indices of spans by ID, those of servers that share a client's ID, and the spans."""
    callers: dict[str, int] = {}
    servers: dict[str, int] = {}
    kept: list[Span] = []
    clients = {span.span_id for span in ordered if span.kind == "client"}
    for span in ordered:
        shares = span.kind == "server" and span.span_id in clients
        index = servers if shares else callers
        if span.span_id not in index:
            index[span.span_id] = len(kept)
            kept.append(span)
    return callers, servers, kept


def _cut_cycles(parents: list[int]) -> int:
    """Make the earliest span of each cycle a root. Return the number of cycles."""
    reached = [False] * len(parents)
    cut = 0
    for index in range(len(parents)):
        way: list[int] = []
        place: dict[int, int] = {}
        node = index
        while node >= 0 and not reached[node] and node not in place:
            place[node] = len(way)
            way.append(node)
            node = parents[node]
        if node >= 0 and node in place:
            parents[min(way[place[node] :])] = -1
            cut += 1
        for passed in way:
            reached[passed] = True
    return cut
