"""A trace made consistent: each child within its parent's time, as one clock would have it.

Hosts have clocks of their own, so a child may seem to start before its caller or to end after it.
Source: CRISP, section 4.5.2: such children are cut to their parent's time, and those that lie
wholly outside of it are left out with all that is beneath them; both are counted.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from tidscope_traces.spans.model import Operation, Trace

NOTHING: AbstractSet[Operation] = frozenset()


@dataclass(frozen=True, slots=True)
class FittedTrace:
    """What is beneath one root of a trace, fitted into it. Indices are those of trace.spans.

    Attributes:
        trace: that it was made of.
        root: where it starts.
        order: the spans that remain, parents before their children.
        start_ns, end_ns: of each span of the trace; meaningful for those in order.
        children: of each span of the trace, those that remain, latest end first.
        truncated: spans that were cut.
        truncated_ns: the time that was cut off, of all of them.
        dropped: spans left out because they, or a caller, lay outside of their parent's time.
        detached: asynchronous spans that outlived their parent, left out with what is beneath.
        excluded: spans of excluded operations, left out with what is beneath.
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
        """Of the root."""
        return self.end_ns[self.root] - self.start_ns[self.root]


def fit(trace: Trace, root: int, excluded: AbstractSet[Operation] = NOTHING) -> FittedTrace:
    """Fit a trace into one of its spans.

    A parent does not wait for an asynchronous child that ends after it: such a child is detached,
    which is no error of clocks.

    Args:
        trace: its links are followed without recursion, so depth has no limit.
        root: index of the span to start at.
        excluded: operations left out with what is beneath them, of any service if theirs is ""; the
            root itself always counts.
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
        # Of spans that end at once the longest explains most; the index is by start, so that
        # the rest is settled whatever order the spans came in.
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
