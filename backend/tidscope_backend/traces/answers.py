"""Answers of routes, from results of trace analysis. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from tidscope_traces.anomalies.detector import find_anomalies
from tidscope_traces.critical.path import CriticalPath
from tidscope_traces.spans.model import Operation, Span
from tidscope_traces.summary.analysis import Analysis
from tidscope_traces.summary.daily import DailyReport, Series
from tidscope_traces.summary.durations import Durations
from tidscope_traces.summary.heat import Heat
from tidscope_traces.summary.options import Projection
from tidscope_traces.summary.ranking import RankedEverywhere
from tidscope_traces.summary.shapes import Shape
from tidscope_traces.summary.traces import Summaries
from tidscope_traces.summary.tree import ContextTree
from tidscope_traces.summary.tree import DifferenceTree as FoundDifference
from tidscope_traces.summary.values import ByValue
from tidscope_wire.generated.models import (
    DailySeries,
    DifferenceTree,
    ErrorPath,
    HeatChain,
    OperationDays,
    OperationEverywhere,
    OperationRank,
    SpanThread,
    TraceAnalysis,
    TraceAnomaly,
    TraceDay,
    TraceDays,
    TraceDetail,
    TraceDifference,
    TraceDurations,
    TraceHeat,
    TraceHistogram,
    TraceOperation,
    TraceOperations,
    TracePathPart,
    TraceProjection,
    TraceQuantiles,
    TraceSet,
    TraceShape,
    TraceSkew,
    TraceSpan,
    TraceSummary,
    TraceTree,
    TraceValues,
)


def analysis_answer(
    found: Analysis,
    omitted: int,
    anomalies: Sequence[TraceAnomaly],
    reference: int,
    projection: Projection | None,
) -> TraceAnalysis:
    """Return the analysis of an endpoint.

    Args:
        found: analysis of the endpoint's traces.
        omitted: number of traces beyond the bound.
        anomalies: anomalies among the traces.
        reference: number of reference traces.
        projection: projection of the analysis, or None.
    """
    projected = None
    if projection is not None and found.projected is not None:
        projected = TraceProjection(
            service=projection.operation.service,
            operation=projection.operation.name,
            less_ns=projection.less_ns,
            quantiles=quantiles_of(found.projected),
        )
    return TraceAnalysis(
        traces=found.traces,
        omitted=omitted,
        skewed=found.truncated_traces,
        dropped=found.dropped_traces,
        duration=TraceDurations(
            **quantiles_of(found.duration).model_dump(),
            histogram=TraceHistogram(
                bounds_ns=found.duration.bounds_ns, counts=found.duration.counts
            ),
        ),
        tree=TraceTree(
            name=operations_of(found.tree.operations),
            parent=found.tree.parents,
            inclusive_ns=found.tree.inclusive_ns,
            exclusive_ns=found.tree.exclusive_ns,
            count=found.tree.trace_count,
            exemplars=found.tree.exemplars,
        ),
        ranking=[
            OperationRank(
                service=row.operation.service,
                operation=row.operation.name,
                p50_exclusive_ns=row.p50_exclusive_ns,
                p95_exclusive_ns=row.p95_exclusive_ns,
                share=min(1.0, row.share),
                traces=row.traces,
                saving_ns=row.saving_ns or 0,
                drag_ns=row.drag_ns or 0,
                slack_ns=row.slack_ns or 0,
                error_share=row.error_share,
            )
            for row in found.ranking
        ],
        errors=[
            ErrorPath(path=operations_of(one.path), count=one.traces, exemplar=one.exemplar)
            for one in found.failures
        ],
        anomalies=list(anomalies),
        reference=reference,
        projection=projected,
    )


def anomalies_answer(
    summaries: Summaries, reference: Summaries | None, most: int
) -> list[TraceAnomaly]:
    """Return traces of an endpoint that differ from the reference traces, strongest first."""
    return [
        TraceAnomaly(
            trace_id=summaries.traces[one.place].trace_id,
            start_ns=summaries.traces[one.place].start_ns,
            duration_ns=summaries.traces[one.place].duration_ns,
            kind=one.kind,
            score=one.score,
            chain=operations_of(one.chain),
        )
        for one in find_anomalies(summaries, reference)[:most]
    ]


def everywhere_answer(
    ranked: Sequence[RankedEverywhere],
    shapes: Sequence[Shape],
    endpoints: int,
    traces: int,
    omitted: int,
) -> TraceOperations:
    """Return the ranking over all endpoints, and the shapes of their requests."""
    return TraceOperations(
        endpoints=endpoints,
        traces=traces,
        omitted=omitted,
        operations=[
            OperationEverywhere(
                service=row.operation.service,
                operation=row.operation.name,
                mean_share=min(1.0, row.mean_share),
                exclusive_ns=row.exclusive_ns,
                endpoints=row.endpoints,
                traces=row.traces,
            )
            for row in ranked
        ],
        shapes=[TraceShape.model_validate(asdict(one)) for one in shapes],
    )


def difference_answer(
    found: FoundDifference,
    durations: tuple[Durations, Durations],
    trees: tuple[ContextTree, ContextTree],
) -> TraceDifference:
    """Return the comparison of two sets of traces.

    Args:
        found: merged trees of both sets.
        durations: durations of each set.
        trees: trees of each set, for exemplars.
    """
    nodes = {
        key: node for node, key in enumerate(zip(found.parents, found.operations, strict=True))
    }
    exemplars: list[list[str]] = [[] for _ in found.operations]
    for tree in trees:
        own: list[int] = []
        for parent, operation, ids in zip(
            tree.parents, tree.operations, tree.exemplars, strict=True
        ):
            own.append(nodes[own[parent] if parent >= 0 else -1, operation])
            exemplars[own[-1]] = ids
    return TraceDifference(
        base=TraceSet(traces=found.base_traces, quantiles=quantiles_of(durations[0])),
        other=TraceSet(traces=found.other_traces, quantiles=quantiles_of(durations[1])),
        tree=DifferenceTree(
            name=operations_of(found.operations),
            parent=found.parents,
            base_inclusive_ns=list(map(round, found.base_inclusive_ns)),
            other_inclusive_ns=list(map(round, found.other_inclusive_ns)),
            base_exclusive_ns=list(map(round, found.base_exclusive_ns)),
            other_exclusive_ns=list(map(round, found.other_exclusive_ns)),
            exemplars=exemplars,
        ),
    )


def heat_answer(found: Heat, summaries: Mapping[str, TraceSummary]) -> TraceHeat:
    """Return the heat map.

    Args:
        found: operations by traces.
        summaries: summary of each of these traces, by trace ID.
    """
    order = sorted(
        range(len(found.trace_ids)), key=lambda at: summaries[found.trace_ids[at]].start_ns
    )
    return TraceHeat(
        operations=operations_of(found.operations),
        traces=[summaries[found.trace_ids[at]] for at in order],
        times_ns=[[row[at] for at in order] for row in found.cells_ns],
        chains=[
            [
                [HeatChain(chain=operations_of(one.operations), ns=one.ns) for one in row[at]]
                for at in order
            ]
            for row in found.chains
        ],
    )


def values_answer(found: ByValue, traces: int, omitted: int) -> TraceValues:
    """Return an operation's own time by attribute value."""
    return TraceValues.model_validate({"traces": traces, "omitted": omitted, **asdict(found)})


def days_answer(found: DailyReport, omitted: Sequence[int]) -> TraceDays:
    """Return the report of an endpoint day by day.

    Args:
        found: the report.
        omitted: number of traces beyond the bound, for each day.
    """
    return TraceDays(
        days=[
            TraceDay(begin_ns=begin, traces=traces, omitted=left)
            for begin, traces, left in zip(found.begin_ns, found.traces, omitted, strict=True)
        ],
        p50_ns=_series(found.p50_ns),
        p95_ns=_series(found.p95_ns),
        operations=[
            OperationDays(
                service=operation.service, operation=operation.name, shares=_series(series)
            )
            for operation, series in found.shares
        ],
    )


def _series(found: Series) -> DailySeries:
    return DailySeries.model_validate(asdict(found))


def detail_answer(path: CriticalPath, threads: Sequence[SpanThread]) -> TraceDetail:
    """Return a trace, its critical path, and the activity of threads on the path."""
    trace = path.fitted.trace
    return TraceDetail(
        trace_id=trace.trace_id,
        spans=[_span(span) for span in trace.spans],
        path=[
            TracePathPart(
                span_id=trace.spans[part.span].span_id, start_ns=part.start_ns, end_ns=part.end_ns
            )
            for part in path.segments
        ],
        skew=TraceSkew(truncated=path.fitted.truncated, dropped=path.fitted.dropped),
        threads=list(threads),
    )


def operations_of(found: Sequence[Operation]) -> list[TraceOperation]:
    """Return names of operations."""
    return [TraceOperation(service=one.service, operation=one.name) for one in found]


def quantiles_of(found: Durations) -> TraceQuantiles:
    """Return quantiles of durations."""
    return TraceQuantiles(p50_ns=found.p50_ns, p95_ns=found.p95_ns, p99_ns=found.p99_ns)


def _span(span: Span) -> TraceSpan:
    return TraceSpan(
        span_id=span.span_id,
        parent_id=span.parent_id,
        service=span.service,
        operation=span.operation,
        start_ns=span.start_ns,
        duration_ns=span.end_ns - span.start_ns,
        kind=span.kind,
        error=span.error,
        pid=span.pid,
        thread_id=span.thread_id,
        attributes=dict(span.attributes),
    )
