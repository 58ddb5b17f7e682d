"""The critical path: the spans that a request waited for, with their times.

Source: CRISP, section 4.5.1 and listing 4.1. The child of a span that ends last is on the path,
followed by the latest child that happens before it, and so on backwards. The time between them is
the span's own. The same rule applies to each child on the path.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from tidscope_traces.spans.model import Operation, Trace

TOLERANCE_NS = 1_000_000
"""Minimum overlap that is not attributed to clock skew, in nanoseconds."""
TOLERANCE_DIVISOR = 100
"""Divisor of the parent's duration; overlaps of this share or more are not clock skew either."""


def settle_ends(
    parent: int, children: Sequence[int], start_ns: Sequence[int], end_ns: Sequence[int]
) -> dict[int, int]:
    """Move the ends of children that overlap the next sibling only by clock skew to its start.

    "A happens before B" is A.end <= B.start, for all pairs, with these ends. Two events without
    another between them are neighbours in time order, so one pass finds all such pairs.

    Args:
        parent: span that calls the children.
        children: children of one span.
        start_ns: start of each span of the trace, fitted.
        end_ns: end of each span of the trace, fitted.

    Returns:
        The changed ends, by child.
    """
    parent_ns = end_ns[parent] - start_ns[parent]
    events = sorted(
        [(start_ns[child], 0, child) for child in children]
        + [(end_ns[child], 1, child) for child in children]
    )
    moved: dict[int, int] = {}
    for place in range(1, len(events)):
        began, end_first, later = events[place - 1]
        ended, end_second, earlier = events[place]
        if (
            (end_first, end_second) == (0, 1)
            and earlier != later
            and 0 < ended - began < TOLERANCE_NS
            and (ended - began) * TOLERANCE_DIVISOR < parent_ns
            and start_ns[earlier] < began
            and (place < 2 or events[place - 2][0] < began)
            and (place + 1 == len(events) or events[place + 1][0] > ended)
        ):
            moved[earlier] = began
    return moved


NOTHING: AbstractSet[Operation] = frozenset()


@dataclass(frozen=True, slots=True)
class FittedTrace:
    """Spans beneath one root of a trace, fitted into the root. Indices refer to trace.spans.

    Attributes:
        trace: the original trace.
        root: index of the root.
        order: remaining spans, parents before children.
        start_ns, end_ns: times of each span; meaningful for spans in `order`.
        children: remaining children of each span, latest end first.
        truncated: number of shortened spans.
        truncated_ns: total time cut off.
        dropped: number of spans removed because they or a caller lie outside the parent's time.
        detached: number of asynchronous spans removed with their descendants because they outlive
            the parent.
        excluded: number of spans of excluded operations removed with their descendants.
    """

    trace: Trace
    root: int
    order: list[int]
    start_ns: list[int]
    end_ns: list[int]
    children: list[list[int]]
    truncated: int = 0
    truncated_ns: int = 0
    dropped: int = 0
    detached: int = 0
    excluded: int = 0

    @property
    def duration_ns(self) -> int:
        """Duration of the root, in nanoseconds."""
        return self.end_ns[self.root] - self.start_ns[self.root]


def fit(trace: Trace, root: int, excluded: AbstractSet[Operation] = NOTHING) -> FittedTrace:
    """Fit a trace into one of its spans.

    A parent does not wait for an asynchronous child that ends later. Such a child is detached,
    which is not clock skew.

    Args:
        trace: trace of any depth; links are followed without recursion.
        root: index of the root span.
        excluded: operations removed with their descendants; an empty service matches all services.
            The root is always kept.
    """
    spans = trace.spans
    start = [span.start_ns for span in spans]
    end = [span.end_ns for span in spans]
    children: list[list[int]] = [[]] * len(spans)
    order: list[int] = []
    truncated = truncated_ns = dropped = detached = left_out = 0
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        order.append(parent)
        own = trace.children[parent]
        if not own:
            continue
        first, last = start[parent], end[parent]
        kept: list[int] = []
        for child in own:
            span = spans[child]
            if excluded and not excluded.isdisjoint((span.named, Operation("", span.operation))):
                left_out += _count_beneath(trace, child)
            elif end[child] > last and span.asynchronous:
                detached += _count_beneath(trace, child)
            elif end[child] < first or start[child] > last:
                dropped += _count_beneath(trace, child)
            else:
                cut_ns = max(0, first - start[child]) + max(0, end[child] - last)
                if cut_ns:
                    truncated += 1
                    truncated_ns += cut_ns
                    start[child] = max(first, start[child])
                    end[child] = min(last, end[child])
                kept.append(child)
        # The longest of spans with equal ends explains most. Indices are ordered by start, so ties
        # do not depend on the order of arrival.
        kept.sort(key=lambda child: (-end[child], start[child], child))
        children[parent] = kept
        waiting.extend(kept)
    return FittedTrace(
        *(trace, root, order, start, end, children),
        *(truncated, truncated_ns, dropped, detached, left_out),
    )


def _count_beneath(trace: Trace, top: int) -> int:
    count = 0
    waiting = [top]
    while waiting:
        count += 1
        waiting.extend(trace.children[waiting.pop()])
    return count


class Segment(NamedTuple):
    """A part of a request's time, and the span responsible for it.

    Attributes:
        span: index in the trace's spans.
        start_ns: start since the epoch.
        end_ns: end, after start_ns.
    """

    span: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """Critical path of one trace from one root.

    Attributes:
        fitted: the trace, fitted into its root.
        spans: all spans on the path, callers before callees; some have no own time.
        parents: for each of these spans, the index of the caller in `spans`; -1 for the root.
        segments: by time, without overlaps; together they cover the root's time exactly.
    """

    fitted: FittedTrace
    spans: list[int]
    parents: list[int]
    segments: list[Segment]

    def own_ns(self) -> dict[int, int]:
        """Return the own time of each span on the path, in nanoseconds."""
        times = dict.fromkeys(self.spans, 0)
        for index, start_ns, end_ns in self.segments:
            times[index] += end_ns - start_ns
        return times


def critical_path(
    trace: Trace, root: int | None = None, excluded: AbstractSet[Operation] = NOTHING
) -> CriticalPath:
    """Return the critical path of a trace.

    Args:
        trace: trace of any depth; links are followed without recursion.
        root: index of the root span; None for the trace's own root.
        excluded: operations removed with their descendants; the caller receives their time.
    """
    return walk_back(fit(trace, trace.roots[0] if root is None else root, excluded))


def walk_back(fitted: FittedTrace) -> CriticalPath:
    """Return the critical path of a fitted trace."""
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
    """Return the children on the path, last first."""
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
