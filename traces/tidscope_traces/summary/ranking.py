"""Operations ranked by contribution to critical paths, of one endpoint or of all.

Source: CRISP, section 4.6.2.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.durations import percentile
from tidscope_traces.summary.traces import Summaries


@dataclass(frozen=True, slots=True)
class RankedOperation:
    """Contribution of an operation to the requests of one endpoint.

    Attributes:
        operation: ranked operation.
        p50_exclusive_ns, p95_exclusive_ns: own time on the critical path, over all traces; a trace
            without the operation counts as 0.
        share: own time on the path as a share of the time of all traces, 0 to 1.
        traces: number of traces with the operation on the path.
        calls: number of its spans on the path.
        saving_ns: mean reduction of a request if the operation had no own time; None without the
            potential option, like the next two.
        drag_ns: mean reduction of a request if the operation were not called.
        slack_ns: least slack of the operation's spans per trace; median over traces with the
            operation.
        error_share: failed share of the requests with the operation on the path, 0 to 1.
    """

    operation: Operation
    p50_exclusive_ns: int
    p95_exclusive_ns: int
    share: float
    traces: int
    calls: int
    saving_ns: int | None
    drag_ns: int | None
    slack_ns: int | None
    error_share: float


def exclusive_times(summaries: Summaries) -> dict[int, dict[int, int]]:
    """Return own time (ns) on the critical path by operation and index of trace, without 0."""
    times: dict[int, dict[int, int]] = {}
    for place, trace in enumerate(summaries.traces):
        for operation, exclusive_ns in trace.contexts[[0, 3]].T.tolist():
            if exclusive_ns:
                own = times.setdefault(operation, {})
                own[place] = own.get(place, 0) + exclusive_ns
    return times


def percentile_of(times: Mapping[int, int], traces: int, share: float) -> int:
    """Return a percentile of a time over this many traces; missing values count as 0."""
    rank = max(0, int(np.ceil(traces * share / 100)) - 1) - (traces - len(times))
    return sorted(times.values())[rank] if rank >= 0 else 0


def rank_operations(summaries: Summaries) -> list[RankedOperation]:
    """Rank operations by share of the critical paths, largest first.

    The potential option includes operations that are never on a path, for their slack.
    """
    traces = summaries.traces
    times = exclusive_times(summaries)
    total_ns = sum(trace.duration_ns for trace in traces)
    calls: Counter[int] = Counter()
    seen: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for trace in traces:
        for operation, spans in trace.contexts[[0, 4]].T.tolist():
            calls[operation] += spans
        on_path = set(trace.contexts[0].tolist())
        seen.update(on_path)
        if trace.error:
            failed.update(on_path)
    potential = _potential(summaries)
    ranked = []
    for number in {*seen, *potential}:
        own = times.get(number, {})
        saving, drag, slack = potential.get(number, (None, None, None))
        ranked.append(
            RankedOperation(
                operation=summaries.catalogue.operations[number],
                p50_exclusive_ns=percentile_of(own, len(traces), 50),
                p95_exclusive_ns=percentile_of(own, len(traces), 95),
                share=sum(own.values()) / total_ns if total_ns else 0.0,
                traces=seen[number],
                calls=calls[number],
                saving_ns=saving,
                drag_ns=drag,
                slack_ns=slack,
                error_share=failed[number] / seen[number] if seen[number] else 0.0,
            )
        )
    ranked.sort(key=lambda row: (-row.share, -row.traces, row.operation))
    return ranked


def _potential(summaries: Summaries) -> dict[int, tuple[int, int, int]]:
    """Return the mean saving and drag over all traces, and median slack, by operation."""
    saving: Counter[int] = Counter()
    drag: Counter[int] = Counter()
    slack: dict[int, list[int]] = {}
    for trace in summaries.traces:
        if trace.potential is not None:
            for operation, saved, dragged, slackened in trace.potential.T.tolist():
                saving[operation] += saved
                drag[operation] += dragged
                slack.setdefault(operation, []).append(slackened)
    count = len(summaries.traces)
    return {
        operation: (
            saving[operation] // count,
            drag[operation] // count,
            percentile(sorted(own), 50),
        )
        for operation, own in slack.items()
    }


@dataclass(frozen=True, slots=True)
class RankedEverywhere:
    """Contribution of one operation to all endpoints.

    Attributes:
        operation: ranked operation.
        endpoints: number of endpoints with the operation on a critical path.
        exclusive_ns: own time on all critical paths.
        mean_share: share of the time of an endpoint's requests, averaged over endpoints with equal
            weights.
        traces: number of traces with the operation on the path.
    """

    operation: Operation
    endpoints: int
    exclusive_ns: int
    mean_share: float
    traces: int


def rank_everywhere(summaries: Summaries) -> list[RankedEverywhere]:
    """Rank operations by mean share over all endpoints.

    Args:
        summaries: summaries of traces of any endpoints; an endpoint is the operation of a root.
    """
    places = summaries.by_endpoint()
    rows: dict[Operation, list[tuple[RankedOperation, int]]] = {}
    for own in places.values():
        chosen = summaries.select(own)
        total_ns = sum(trace.duration_ns for trace in chosen.traces)
        for row in rank_operations(chosen):
            if row.traces:
                rows.setdefault(row.operation, []).append((row, total_ns))
    ranked = [
        RankedEverywhere(
            operation=operation,
            endpoints=len(found),
            exclusive_ns=sum(round(row.share * total_ns) for row, total_ns in found),
            mean_share=sum(row.share for row, _ in found) / len(places),
            traces=sum(row.traces for row, _ in found),
        )
        for operation, found in rows.items()
    ]
    ranked.sort(key=lambda row: (-row.mean_share, row.operation))
    return ranked
