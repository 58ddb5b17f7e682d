"""Shapes of requests over all endpoints: their size, depth, concurrency and critical paths.

Source: CRISP, section 4.6.2 and figures 4.14 to 4.21.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidscope_traces.summary.durations import bucket, percentile
from tidscope_traces.summary.traces import Summaries, TraceSummary


@dataclass(frozen=True, slots=True)
class Shape:
    """Distribution of one property of requests, or of operations.

    Attributes:
        name: short name.
        mean, p50, p95, most: of the values; percentiles by nearest rank.
        bounds: bounds of the buckets, in geometric progression; one more than counts.
        counts: values in each bucket; bucket b holds those from bounds[b] to below bounds[b + 1].
    """

    name: str
    mean: float
    p50: int
    p95: int
    most: int
    bounds: list[int]
    counts: list[int]


def _of_calls(trace: TraceSummary) -> int:
    return 0 if trace.calls is None else len(set(trace.calls.contexts[0].tolist()))


OF_TRACES: Mapping[str, Callable[[TraceSummary], int]] = {
    "spans": lambda trace: trace.spans,
    "operations": _of_calls,
    "duration_ns": lambda trace: trace.duration_ns,
    "depth": lambda trace: trace.depth,
    "path_spans": lambda trace: int(trace.contexts[4].sum()),
    "concurrency": lambda trace: trace.concurrency,
    "path_operations": lambda trace: len(set(trace.contexts[0].tolist())),
}
"""Properties of a request, in the order of the figures but for `callers`."""
CALLERS = "callers"
"""Different operations that call an operation; roots are called by none."""


def shapes_of(summaries: Summaries) -> list[Shape]:
    """Return all distributions; empty without traces.

    Args:
        summaries: summaries with the calls option.
    """
    if not summaries.traces:
        return []
    values = {name: [of(trace) for trace in summaries.traces] for name, of in OF_TRACES.items()}
    return [*_shapes(values), *_shapes({CALLERS: _callers(summaries)})]


def _shapes(values: Mapping[str, Sequence[int]]) -> Iterator[Shape]:
    for name, own in values.items():
        if own:
            ordered = sorted(own)
            bounds, counts = bucket(ordered)
            p50, p95 = percentile(ordered, 50), percentile(ordered, 95)
            yield Shape(name, sum(own) / len(own), p50, p95, ordered[-1], bounds, counts)


def _callers(summaries: Summaries) -> list[int]:
    """Return the number of different callers of each operation that is called."""
    callers: dict[int, set[int]] = {}
    for trace in summaries.traces:
        if trace.calls is not None:
            operations, parents = trace.calls.contexts[:2].tolist()
            for operation, parent in zip(operations, parents, strict=True):
                if parent >= 0:
                    callers.setdefault(operation, set()).add(operations[parent])
    return [len(own) for own in callers.values()]
