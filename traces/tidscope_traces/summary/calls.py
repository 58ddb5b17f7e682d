"""Calls of a trace by calling context, and the failing calls that made requests fail."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.critical.path import FittedTrace
from tidscope_traces.spans.model import Operation


class Catalogue:
    """Numbered operations, in order of first occurrence."""

    def __init__(self, operations: Sequence[Operation] = ()) -> None:
        self.operations: list[Operation] = list(operations)
        self._numbers = {operation: number for number, operation in enumerate(self.operations)}

    def number(self, service: str, name: str) -> int:
        """Return the number of an operation, allocating a new one if needed."""
        operation = Operation(service, name)
        found = self._numbers.get(operation)
        if found is None:
            found = self._numbers[operation] = len(self.operations)
            self.operations.append(operation)
        return found


NEAR = 8
"""Number of later siblings with which a call's order is kept; all pairs would be quadratic."""
OVERLAP_DIVISOR = 4
"""Divisor: two calls in sequence may overlap by this part of the shorter call."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one trace.

    Attributes:
        contexts: callers before callees, one column each; rows are CALL_ROWS.
        orders: pairs of columns with the same caller, and their order. 1 if the first call of one
            ended before the first call of the other began, within one span of the caller. 0 if both
            ran at once; the lesser column is first.
    """

    contexts: NDArray[np.int64]
    orders: NDArray[np.int64]


CALL_ROWS = ("operation", "parent", "longest_ns", "most", "failed")
"""Rows of `Calls.contexts`.

`parent` is a column, -1 for the root. `longest_ns` is the greatest own time of a span, `most` the
maximum of spans within one span of the parent. `failed` counts failed spans.
"""


def read_calls(fitted: FittedTrace, catalogue: Catalogue) -> Calls:
    """Read the calls of a trace, in time linear in its spans."""
    spans = fitted.trace.spans
    root = spans[fitted.root]
    columns = [[catalogue.number(*root.named), -1, 0, 1, 0]]
    places: dict[tuple[int, int], int] = {}
    place_of = {fitted.root: 0}
    orders: set[tuple[int, int, int]] = set()
    for index in fitted.order:
        place = place_of[index]
        column = columns[place]
        column[2] = max(column[2], _own_ns(fitted, index))
        column[4] += spans[index].error
        children = fitted.children[index]
        if not children:
            continue
        first: dict[int, int] = {}
        counts: dict[int, int] = {}
        for child in sorted(children, key=lambda at: (fitted.start_ns[at], at)):
            operation = catalogue.number(*spans[child].named)
            beneath = places.setdefault((place, operation), len(columns))
            if beneath == len(columns):
                columns.append([operation, place, 0, 0, 0])
            place_of[child] = beneath
            first.setdefault(beneath, child)
            counts[beneath] = counts.get(beneath, 0) + 1
        for beneath, count in counts.items():
            columns[beneath][3] = max(columns[beneath][3], count)
        if len(first) > 1:
            _add_orders(fitted, list(first.items()), orders)
    pairs = np.array(sorted(orders), dtype=np.int64).reshape(-1, 3).T
    return Calls(np.array(columns, dtype=np.int64).T, pairs)


def _own_ns(fitted: FittedTrace, index: int) -> int:
    """Return the time of a span in which no child runs."""
    start, end = fitted.start_ns, fitted.end_ns
    own_ns = 0
    until = end[index]
    # Children are sorted by end, latest first.
    for child in fitted.children[index]:
        if end[child] < until:
            own_ns += until - end[child]
        until = min(until, start[child])
    return own_ns + max(0, until - start[index])


def _add_orders(
    fitted: FittedTrace, calls: list[tuple[int, int]], orders: set[tuple[int, int, int]]
) -> None:
    """Add pairs of neighbouring calls.

    Args:
        fitted: the trace.
        calls: column and span of each call, by start.
        orders: orders of calls, as in Calls.
    """
    start, end = fitted.start_ns, fitted.end_ns
    for at, (place, span) in enumerate(calls):
        length = end[span] - start[span]
        for later, other in calls[at + 1 : at + 1 + NEAR]:
            shorter = min(length, end[other] - start[other])
            if end[span] - start[other] <= shorter // OVERLAP_DIVISOR:
                orders.add((place, later, 1))
            else:
                orders.add((min(place, later), max(place, later), 0))


MAX_PATHS = 100
"""Maximum error paths from one trace, and in a list of many traces."""
DEEPEST = 200
"""Maximum operations of a path; a deeper one is cut after these."""


@dataclass(frozen=True, slots=True)
class ErrorPath:
    """Path of failing requests.

    Attributes:
        path: operations from the root to the original failure.
        count: number of failed spans on the path.
        traces: number of requests with the path.
        exemplar: ID of one of these traces.
    """

    path: list[Operation]
    count: int
    traces: int
    exemplar: str


def failing_paths(fitted: FittedTrace, catalogue: Catalogue) -> dict[tuple[int, ...], int]:
    """Return the error paths of one trace as operation numbers, each with its failing spans.

    Asynchronous or skewed spans removed from the trace are not included.
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
    """Rank error paths of many traces, by descending number of traces.

    Args:
        traces: ID and failing_paths of each trace.
        operations: operations by number.
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
