"""Which failing calls made requests fail: error paths.

A path goes from the root through failing spans to one that failed by itself: none of its callees
did. A failure that a caller on the way did not pass on is not the request's. Source: what
uber-research/CRISP calls errors that propagate to the root.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidscope_traces.critical.fitting import FittedTrace
from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.catalogue import Catalogue

MAX_PATHS = 100
"""Error paths that one trace may add, and that are listed of many."""
DEEPEST = 200
"""Operations of a path; of a deeper one these, from the root."""


@dataclass(frozen=True, slots=True)
class ErrorPath:
    """One way in which requests failed.

    Attributes:
        path: operations, from the root to the one that failed by itself.
        count: spans that failed so.
        traces: requests in which there was one.
        exemplar: id of one of these traces.
    """

    path: list[Operation]
    count: int
    traces: int
    exemplar: str


def failing_paths(fitted: FittedTrace, catalogue: Catalogue) -> dict[tuple[int, ...], int]:
    """Error paths of one trace, as numbers of operations, and the failing spans of each.

    Asynchronous or skewed spans that were left out of the trace are not seen.
    """
    spans = fitted.trace.spans
    found: Counter[tuple[int, ...]] = Counter()
    if not spans[fitted.root].error:
        return found
    waiting: list[tuple[int, tuple[int, ...]]] = [(fitted.root, ())]
    while waiting:
        index, above = waiting.pop()
        span = spans[index]
        path = above
        if len(above) < DEEPEST:
            path = (*above, catalogue.number(span.service, span.operation))
        failing = [child for child in fitted.children[index] if spans[child].error]
        waiting.extend((child, path) for child in failing)
        if not failing and (path in found or len(found) < MAX_PATHS):
            found[path] += 1
    return found


def rank_failures(
    traces: Iterable[tuple[str, dict[tuple[int, ...], int]]], operations: Sequence[Operation]
) -> list[ErrorPath]:
    """Error paths of many traces, those in most traces first.

    Args:
        traces: id of each trace, and its failing_paths.
        operations: by number.
    """
    counts: Counter[tuple[int, ...]] = Counter()
    seen: dict[tuple[int, ...], list[str]] = {}
    for trace_id, paths in traces:
        for path, count in paths.items():
            counts[path] += count
            seen.setdefault(path, []).append(trace_id)
    ranked = [
        ErrorPath([operations[number] for number in path], count, len(seen[path]), min(seen[path]))
        for path, count in counts.items()
    ]
    ranked.sort(key=lambda found: (-found.traces, -found.count, found.path))
    return ranked[:MAX_PATHS]
