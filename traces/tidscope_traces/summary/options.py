"""Which part of which traces is analysed."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from tidscope_traces.critical.path import NOTHING
from tidscope_traces.spans.model import Operation, Trace


@dataclass(frozen=True, slots=True)
class Tag:
    """An attribute that a span of the trace must have.

    Attributes:
        key: of the attribute.
        value: of the attribute, as text.
        depth: how deep that span may be: 1 is the root alone; None for any.
    """

    key: str
    value: str
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Projection:
    """What if each span of an operation had taken less time of its own?

    Attributes:
        operation: that changes.
        less_ns: how much less each span takes, down to none; negative for more.
    """

    operation: Operation
    less_ns: int


@dataclass(frozen=True, slots=True)
class Options:
    """Which part of which traces is analysed.

    Attributes:
        endpoint: start at spans of this operation; None for the trace's own roots.
        inner: such spans count anywhere in a trace, not as its root alone.
        roots: of a trace with several such roots each counts (merged), or the first (single).
        tags: all of which a trace must have.
        excluded: operations left out of paths with what they call; those of all services have "".
        potential: find saving potential, drag and slack too, at about the cost of all the rest.
        calls: keep all calls of each trace, which its anomalies are found by.
        projection: a change whose effect on durations is found; None for none.
    """

    endpoint: Operation | None = None
    inner: bool = False
    roots: Literal["merged", "single"] = "single"
    tags: tuple[Tag, ...] = ()
    excluded: AbstractSet[Operation] = NOTHING
    potential: bool = False
    calls: bool = False
    projection: Projection | None = None


def choose_roots(trace: Trace, options: Options) -> list[int]:
    """Indices of the spans to start at; none if the trace does not match the options."""
    if options.tags and not all(_has_tag(trace, tag) for tag in options.tags):
        return []
    found = list(_roots(trace, options))
    return found if options.roots == "merged" else found[:1]


def _roots(trace: Trace, options: Options) -> Iterator[int]:
    if options.endpoint is None:
        yield from trace.roots
    elif not options.inner:
        yield from (root for root in trace.roots if trace.spans[root].named == options.endpoint)
    else:
        # Below a span that counts, none counts again: its time would be counted twice.
        waiting = list(reversed(trace.roots))
        while waiting:
            span = waiting.pop()
            if trace.spans[span].named == options.endpoint:
                yield span
            else:
                waiting.extend(reversed(trace.children[span]))


def _has_tag(trace: Trace, tag: Tag) -> bool:
    if tag.depth is None:
        return any(span.attributes.get(tag.key) == tag.value for span in trace.spans)
    level = list(trace.roots)
    for _ in range(tag.depth):
        if any(trace.spans[span].attributes.get(tag.key) == tag.value for span in level):
            return True
        level = [child for span in level for child in trace.children[span]]
    return False
