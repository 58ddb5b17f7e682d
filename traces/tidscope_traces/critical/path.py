"""The critical path: the spans that a request waited for, and when.

Source: CRISP, section 4.5.1 and listing 4.1: of a span's children, the one that ends last is on the
path; then, going back in time, the next that happens before that one; and so on. The time between
them is the span's own. Each child on the path has the same done to it.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from tidscope_traces.critical.fitting import NOTHING, FittedTrace, fit
from tidscope_traces.critical.order import settle_ends
from tidscope_traces.spans.model import Operation, Trace


class Segment(NamedTuple):
    """A part of a request's time, and the span that it is put down to.

    Attributes:
        span: index in the trace's spans.
        start_ns: since the epoch.
        end_ns: after start_ns.
    """

    span: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The critical path of one trace from one root.

    Attributes:
        fitted: the trace as it was fitted into its root.
        spans: all on the path, callers before callees; some may have no time of their own.
        parents: for each of these, the place of its caller in spans; -1 for the root.
        segments: by time; they do not overlap and cover the root's time exactly.
    """

    fitted: FittedTrace
    spans: list[int]
    parents: list[int]
    segments: list[Segment]


def critical_path(
    trace: Trace, root: int | None = None, excluded: AbstractSet[Operation] = NOTHING
) -> CriticalPath:
    """The critical path of a trace.

    Args:
        trace: any; without recursion, so that depth has no limit.
        root: index of the span to start at; None for the trace's own root.
        excluded: operations that are left out with what they call: their time is their caller's.
    """
    return walk_back(fit(trace, trace.roots[0] if root is None else root, excluded))


def walk_back(fitted: FittedTrace) -> CriticalPath:
    """The critical path of a fitted trace."""
    start = fitted.start_ns
    spans: list[int] = []
    parents: list[int] = []
    segments: list[Segment] = []
    waiting = [(fitted.root, -1, fitted.end_ns[fitted.root])]
    while waiting:
        span, parent, until = waiting.pop()
        place = len(spans)
        spans.append(span)
        parents.append(parent)
        for child in _last_children(fitted, span):
            child_end = min(fitted.end_ns[child], until)
            if start[child] > child_end:
                continue
            if child_end < until:
                segments.append(Segment(span, child_end, until))
            waiting.append((child, place, child_end))
            until = start[child]
        if start[span] < until:
            segments.append(Segment(span, start[span], until))
    segments.sort(key=lambda segment: segment.start_ns)
    return CriticalPath(fitted, spans, parents, segments)


def _last_children(fitted: FittedTrace, span: int) -> Iterator[int]:
    """Children on the path, the last first."""
    children = fitted.children[span]
    if not children:
        return
    start, end = fitted.start_ns, fitted.end_ns
    moved = settle_ends(span, children, start, end) if len(children) > 1 else {}
    last = children[0]
    yield last
    for child in children[1:]:
        if moved.get(child, end[child]) <= start[last]:
            yield child
            last = child
