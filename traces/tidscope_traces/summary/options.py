"""Options of an analysis: traces, roots and operations."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from tidscope_traces.critical.path import NOTHING
from tidscope_traces.spans.model import Operation, Trace


@dataclass(frozen=True, slots=True)
class Tag:
    """Attribute required of a span in the trace.

    Attributes:
        key: key of the attribute.
        value: value of the attribute, as text.
        depth: maximum depth of that span: 1 is the root; None for any.
    """

    key: str
    value: str
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Projection:
    """Hypothetical change of an operation's own time.

    Attributes:
        operation: changed operation.
        less_ns: reduction per span, down to no own time; negative for an increase.
    """

    operation: Operation
    less_ns: int


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an analysis: traces, roots and operations.

    Attributes:
        endpoint: operation of the root spans; None for the traces' own roots.
        inner: whether such spans count anywhere in a trace, not only as its root.
        roots: `merged` counts all such roots of a trace, `single` only the first.
        tags: tags that a trace must have.
        excluded: operations removed from paths with their descendants; an empty service matches all
            services.
        potential: compute saving potential, drag and slack too, at about twice the cost.
        calls: keep all calls of each trace, as needed for anomalies.
        projection: change whose effect on durations is computed, or None.
        attributes_of: operation whose spans on the path are kept with their attributes, or None.
    """

    endpoint: Operation | None = None
    inner: bool = False
    roots: Literal["merged", "single"] = "single"
    tags: tuple[Tag, ...] = ()
    excluded: AbstractSet[Operation] = NOTHING
    potential: bool = False
    calls: bool = False
    projection: Projection | None = None
    attributes_of: Operation | None = None


def choose_roots(trace: Trace, options: Options) -> list[int]:
    """Return the indices of the root spans; empty if the trace does not match the options."""
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
        # Roots below another root are skipped: their time would count twice.
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
