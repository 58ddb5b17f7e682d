"""Summary of a trace: its critical path by calling context, in some kilobytes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.critical.path import CriticalPath, FittedTrace, fit, walk_back
from tidscope_traces.critical.schedule import Schedule
from tidscope_traces.spans.model import Trace
from tidscope_traces.summary.calls import Calls, Catalogue, failing_paths, read_calls
from tidscope_traces.summary.options import Options, choose_roots


class OwnSpan(NamedTuple):
    """Span on a critical path.

    Attributes:
        own_ns: own time on the path, in nanoseconds.
        attributes: tags of the span.
    """

    own_ns: int
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """One trace, from one root.

    Attributes:
        trace_id: ID of the trace.
        operation: operation number of the root.
        start_ns: start of the root, since the epoch.
        duration_ns: duration of the root.
        error: whether the root failed.
        spans: number of spans beneath the root, including the root.
        depth: length of the longest chain of calls.
        concurrency: maximum number of leaf spans that ran at once.
        truncated, dropped, detached: counts, as in FittedTrace.
        truncated_ns: total time cut off.
        contexts: the critical path by calling context, callers before callees, one column each;
            rows are CONTEXT_ROWS.
        failures: paths from the root to the calls that failed first, as operation numbers, each
            with the number of such calls; see failing_paths.
        potential: effects of changes to each operation, one column each; rows are POTENTIAL_ROWS.
            None without the potential option.
        projected_ns: duration under the projection of the options; None without a projection.
        calls: all calls, including those off the path; None without the calls option.
        own_spans: spans on the path of the operation that the option attributes_of names.
    """

    trace_id: str
    operation: int
    start_ns: int
    duration_ns: int
    error: bool
    spans: int
    depth: int
    concurrency: int
    truncated: int
    truncated_ns: int
    dropped: int
    detached: int
    contexts: NDArray[np.int64]
    failures: dict[tuple[int, ...], int]
    potential: NDArray[np.int64] | None = None
    projected_ns: int | None = None
    calls: Calls | None = None
    own_spans: Sequence[OwnSpan] = ()


CONTEXT_ROWS = ("operation", "parent", "inclusive_ns", "exclusive_ns", "count", "failed")
"""Rows of `TraceSummary.contexts`.

`parent` is a column, -1 for the root. `count` counts spans, `failed` failed spans.
"""
POTENTIAL_ROWS = ("operation", "saving_ns", "drag_ns", "slack_ns")
"""Rows of `TraceSummary.potential`.

Saving: reduction of the request if the operation took no own time. Drag: reduction if the operation
were not called. Slack: the least slack of its spans, 0 on the path.
"""
MAX_PLAYED = 100
"""Maximum operations of one trace with saving and drag, by descending own time."""
MAX_STEPS = 400_000
"""Maximum replayed spans of one trace. Operations beyond this bound, by own time, have 0."""


@dataclass(slots=True)
class Summaries:
    """Summaries of traces, with the names of their operations.

    Attributes:
        catalogue: names of the numbered operations.
        traces: one summary per analysed root.
        left_out: number of traces without such a root or a required tag.
    """

    catalogue: Catalogue = field(default_factory=Catalogue)
    traces: list[TraceSummary] = field(default_factory=list)
    left_out: int = 0

    def add(self, trace: Trace, options: Options) -> None:
        """Analyse a trace and keep only its summary."""
        roots = choose_roots(trace, options)
        self.left_out += not roots
        self.traces.extend(summarise(trace, root, options, self.catalogue) for root in roots)

    def extend(self, other: "Summaries") -> None:
        """Append other summaries, renumbered for this catalogue."""
        numbers = [self.catalogue.number(*operation) for operation in other.catalogue.operations]
        self.left_out += other.left_out
        self.traces.extend(_renumbered(trace, numbers) for trace in other.traces)

    def by_endpoint(self) -> dict[int, list[int]]:
        """Return the indices of summaries by operation number of the root."""
        endpoints: dict[int, list[int]] = {}
        for place, trace in enumerate(self.traces):
            endpoints.setdefault(trace.operation, []).append(place)
        return endpoints

    def select(self, places: Iterable[int]) -> "Summaries":
        """Return the summaries with these indices."""
        return Summaries(self.catalogue, [self.traces[place] for place in places])


def summarise_all(traces: Iterable[Trace], options: Options) -> Summaries:
    """Summarise traces one by one; each trace may be freed before the next is read."""
    summaries = Summaries()
    for trace in traces:
        summaries.add(trace, options)
    return summaries


def summarise(trace: Trace, root: int, options: Options, catalogue: Catalogue) -> TraceSummary:
    """Summarise a trace from one of its spans."""
    fitted = fit(trace, root, options.excluded)
    path = walk_back(fitted)
    span = trace.spans[root]
    own_ns = path.own_ns()
    contexts = _contexts(path, own_ns, catalogue)
    potential, projected_ns = _play(fitted, contexts, options, catalogue)
    return TraceSummary(
        trace_id=trace.trace_id,
        operation=catalogue.number(span.service, span.operation),
        start_ns=span.start_ns,
        duration_ns=fitted.duration_ns,
        error=span.error,
        spans=len(fitted.order),
        depth=_depth(fitted),
        concurrency=_concurrency(fitted),
        truncated=fitted.truncated,
        truncated_ns=fitted.truncated_ns,
        dropped=fitted.dropped,
        detached=fitted.detached,
        contexts=contexts,
        failures=failing_paths(fitted, catalogue),
        potential=potential,
        projected_ns=projected_ns,
        calls=read_calls(fitted, catalogue) if options.calls else None,
        own_spans=[
            OwnSpan(ns, trace.spans[index].attributes)
            for index, ns in own_ns.items()
            if trace.spans[index].named == options.attributes_of
        ],
    )


def _contexts(
    path: CriticalPath, own_ns: Mapping[int, int], catalogue: Catalogue
) -> NDArray[np.int64]:
    """Return the path by calling context: spans whose callers all have the same names.

    Args:
        path: path of the trace.
        own_ns: own time of each span on the path.
        catalogue: numbers of operations.
    """
    spans = path.fitted.trace.spans
    places: dict[tuple[int, int], int] = {}
    operations: list[int] = []
    callers: list[int] = []
    exclusive: list[int] = []
    count: list[int] = []
    failed: list[int] = []
    place_of: list[int] = []
    for index, parent in zip(path.spans, path.parents, strict=True):
        operation = catalogue.number(spans[index].service, spans[index].operation)
        caller = place_of[parent] if parent >= 0 else -1
        place = places.setdefault((caller, operation), len(operations))
        if place == len(operations):
            operations.append(operation)
            callers.append(caller)
            exclusive.append(0)
            count.append(0)
            failed.append(0)
        exclusive[place] += own_ns[index]
        count[place] += 1
        failed[place] += spans[index].error
        place_of.append(place)
    inclusive = sum_upwards(callers, exclusive)
    rows = [operations, callers, inclusive, exclusive, count, failed]
    return np.array(rows, dtype=np.int64)


def _play(
    fitted: FittedTrace, contexts: NDArray[np.int64], options: Options, catalogue: Catalogue
) -> tuple[NDArray[np.int64] | None, int | None]:
    """Return potential and projected duration, if the options include them."""
    if not options.potential and options.projection is None:
        return None, None
    schedule = Schedule(fitted)
    spans: dict[int, list[int]] = {}
    for index in fitted.order:
        span = fitted.trace.spans[index]
        spans.setdefault(catalogue.number(span.service, span.operation), []).append(index)
    projected_ns = None
    if (change := options.projection) is not None:
        named = fitted.trace.spans
        changed = [index for index in fitted.order if named[index].named == change.operation]
        projected_ns = schedule.with_less(changed, change.less_ns)
    if not options.potential:
        return None, projected_ns
    own_ns: dict[int, int] = {}
    for operation, exclusive in contexts[[0, 3]].T.tolist():
        own_ns[operation] = own_ns.get(operation, 0) + exclusive
    gains: dict[int, tuple[int, int]] = {}
    for number in sorted(own_ns, key=lambda number: (-own_ns[number], number))[:MAX_PLAYED]:
        if schedule.steps >= MAX_STEPS:
            break
        own = spans[number]
        gains[number] = (
            fitted.duration_ns - schedule.without_own_time(own),
            fitted.duration_ns - schedule.without(own),
        )
    slack = schedule.slack()
    columns = [
        (number, *gains.get(number, (0, 0)), min(slack[index] for index in own))
        for number, own in spans.items()
    ]
    return np.array(columns, dtype=np.int64).T, projected_ns


def _renumbered(trace: TraceSummary, numbers: Sequence[int]) -> TraceSummary:
    lookup = np.array(numbers, dtype=np.int64)

    def renumber(table: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.vstack([lookup[table[0]], table[1:]])

    return replace(
        trace,
        operation=numbers[trace.operation],
        contexts=renumber(trace.contexts),
        potential=None if trace.potential is None else renumber(trace.potential),
        calls=trace.calls and replace(trace.calls, contexts=renumber(trace.calls.contexts)),
        failures={
            tuple(numbers[number] for number in path): count
            for path, count in trace.failures.items()
        },
    )


def sum_upwards(parents: Sequence[int], own: Sequence[int]) -> list[int]:
    """Add each node's values to its ancestors'; parents must precede children."""
    total = list(own)
    for place in range(len(total) - 1, 0, -1):
        if parents[place] >= 0:
            total[parents[place]] += total[place]
    return total


def _depth(fitted: FittedTrace) -> int:
    depth = dict.fromkeys(fitted.order, 1)
    for span in fitted.order:
        for child in fitted.children[span]:
            depth[child] = depth[span] + 1
    return max(depth.values())


def _concurrency(fitted: FittedTrace) -> int:
    leaves = [span for span in fitted.order if not fitted.children[span]]
    events = sorted(_edges(fitted, leaves))
    running = most = 0
    for _, change in events:
        running += change
        most = max(most, running)
    return most


def _edges(fitted: FittedTrace, spans: Iterable[int]) -> Iterator[tuple[int, int]]:
    for span in spans:
        if fitted.start_ns[span] < fitted.end_ns[span]:
            yield fitted.start_ns[span], 1
            yield fitted.end_ns[span], -1
