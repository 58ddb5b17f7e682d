"""Critical paths of stored traces. All methods block: not for the event loop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tidscope_traces.anomalies.detector import MIN_TRACES
from tidscope_traces.critical.path import critical_path
from tidscope_traces.spans.model import Operation, Span, Trace, group_spans, make_trace
from tidscope_traces.spans.reading import LATEST_NS
from tidscope_traces.summary.analysis import describe
from tidscope_traces.summary.daily import DAY_NS, daily_report, days_until
from tidscope_traces.summary.durations import measure_durations
from tidscope_traces.summary.heat import HeatMetric, heat_map
from tidscope_traces.summary.options import Options, Projection
from tidscope_traces.summary.ranking import rank_everywhere
from tidscope_traces.summary.shapes import shapes_of
from tidscope_traces.summary.traces import Summaries, summarise_all
from tidscope_traces.summary.tree import compare_trees, merge_contexts
from tidscope_traces.summary.values import by_value
from tidscope_wire.generated.models import (
    TraceAnalysis,
    TraceDays,
    TraceDetail,
    TraceDifference,
    TraceHeat,
    TraceOperations,
    TraceSummary,
    TraceValues,
)
from tidscope_wire.problems import refusal

from tidscope_backend.traces.answers import (
    analysis_answer,
    anomalies_answer,
    days_answer,
    detail_answer,
    difference_answer,
    everywhere_answer,
    heat_answer,
    values_answer,
)
from tidscope_backend.traces.joining.joiner import join, own_intervals
from tidscope_backend.traces.joining.places import Places
from tidscope_backend.traces.queries import MAX_ANALYSED_SPANS, Order, SpanQueries, Wanted

MAX_ANOMALIES = 100
"""Maximum anomalies in one answer, strongest first."""


@dataclass(frozen=True)
class Asked:
    """Options for the analysis of an endpoint's traces.

    Attributes:
        excluded: operations omitted from paths: NAME, or "SERVICE NAME".
        merged: whether each root of the endpoint counts, not only the first.
        project: projected operation, "SERVICE NAME"; empty for none.
        less_ns: reduction of the projected operation's time.
    """

    excluded: Sequence[str] = ()
    merged: bool = False
    project: str = ""
    less_ns: int = 0


class TraceAnalyst:
    """Answers questions about critical paths.

    Args:
        queries: finds spans.
    """

    def __init__(self, queries: SpanQueries) -> None:
        self._queries = queries

    def analysis(self, wanted: Wanted, reference: Wanted | None, asked: Asked) -> TraceAnalysis:
        """Return the analysis of an endpoint.

        Args:
            wanted: selection of the endpoint's traces.
            reference: reference traces for anomalies; None: the analysed traces.
            asked: analysis options.
        """
        chosen = self._queries.choose(wanted)
        projection = None
        if asked.project:
            operation = _operation(asked.project, chosen.spans)
            projection = Projection(operation, asked.less_ns)
        options = replace(
            _options(wanted, asked), potential=True, calls=True, projection=projection
        )
        summaries = summarise_all(_traces(chosen.spans), options)
        known = None
        if reference is not None:
            # Both summaries share the catalogue, so numbers are equal.
            known = Summaries(summaries.catalogue)
            spans = self._queries.choose(reference).spans
            _add(known, spans, replace(_options(reference, asked), calls=True))
        count = len((known or summaries).traces)
        return analysis_answer(
            describe(summaries),
            chosen.omitted,
            anomalies_answer(summaries, known, MAX_ANOMALIES),
            count if count >= MIN_TRACES else 0,
            projection,
        )

    def everywhere(self, wanted: Wanted) -> TraceOperations:
        """Return operations ranked over all endpoints, and the shapes of their requests."""
        chosen = self._queries.choose(wanted)
        summaries = summarise_all(_traces(chosen.spans), Options(calls=True))
        return everywhere_answer(
            rank_everywhere(summaries),
            shapes_of(summaries),
            len({trace.operation for trace in summaries.traces}),
            len(summaries.traces),
            chosen.omitted,
        )

    def traces(self, wanted: Wanted, order: Order, limit: int) -> list[TraceSummary]:
        """Return traces in the requested order.

        Traces of a process or a thread, in `path` order, have the time spent waiting for it,
        longest first.
        """
        if order != "path":
            return self._queries.traces(wanted, order, limit)
        chosen = self._queries.choose(wanted)
        waited = [(_waited_ns(trace, wanted), trace) for trace in _traces(chosen.spans)]
        waited.sort(key=lambda one: (-one[0], one[1].trace_id))
        return [
            _summary(trace).model_copy(update={"on_path_ns": ns}) for ns, trace in waited[:limit]
        ]

    def difference(self, base: Wanted, other: Wanted, asked: Asked) -> TraceDifference:
        """Compare two sets of traces of an endpoint."""
        both = [self._summaries(one, asked) for one in (base, other)]
        trees = [merge_contexts(one)[0] for one in both]
        durations = [measure_durations([one.duration_ns for one in own.traces]) for own in both]
        return difference_answer(
            compare_trees(trees[0], trees[1]),
            (durations[0], durations[1]),
            (trees[0], trees[1]),
        )

    def heat(
        self,
        wanted: Wanted,
        asked: Asked,
        rows: int,
        columns: int,
        metric: HeatMetric = "exclusive",
        percentile: float = 50,
    ) -> TraceHeat:
        """Return the heat map of an endpoint; arguments as of `heat_map`."""
        traces = list(_traces(self._queries.choose(wanted).spans))
        summaries = summarise_all(traces, _options(wanted, asked))
        found = heat_map(summaries, rows, columns, metric, percentile)
        return heat_answer(found, {trace.trace_id: _summary(trace) for trace in traces})

    def values(self, wanted: Wanted, asked: Asked, of: str, key: str) -> TraceValues:
        """Return an operation's own time by the value of an attribute.

        Args:
            wanted: selection of the endpoint's traces.
            asked: analysis options.
            of: the operation, "SERVICE NAME".
            key: the attribute; "" for the one that divides the spans best.
        """
        chosen = self._queries.choose(wanted)
        options = replace(_options(wanted, asked), attributes_of=_operation(of, chosen.spans))
        summaries = summarise_all(_traces(chosen.spans), options)
        return values_answer(by_value(summaries, key), len(summaries.traces), chosen.omitted)

    def days(self, wanted: Wanted, asked: Asked, count: int) -> TraceDays:
        """Return the report of an endpoint day by day, up to the day of its latest trace.

        Each day has an equal part of the bound on spans, and the percentiles apply within a day.
        """
        latest = self._queries.traces(replace(wanted, low=0.0, high=100.0), "recent", 1)
        since, until = wanted.since_ns or 0, wanted.until_ns or LATEST_NS
        days: dict[int, Summaries] = {}
        omitted = []
        for begin in days_until(latest[0].start_ns, count) if latest else ():
            window = replace(
                wanted, since_ns=max(since, begin), until_ns=min(until, begin + DAY_NS)
            )
            chosen = self._queries.choose(window, MAX_ANALYSED_SPANS // count)
            days[begin] = summarise_all(_traces(chosen.spans), _options(wanted, asked))
            omitted.append(chosen.omitted)
        return days_answer(daily_report(days), omitted)

    def detail(self, trace_id: str, places: Places) -> TraceDetail:
        """One trace, joined with samples of threads.

        Raises:
            ProblemError: the trace does not exist.
        """
        spans = self._queries.trace(trace_id)
        if not spans:
            raise refusal(
                "unknown-trace",
                f"no span of trace {trace_id} is stored",
                "choose one from the list of traces",
            )
        path = critical_path(make_trace(trace_id, spans))
        return detail_answer(path, join(path, places))

    def _summaries(self, wanted: Wanted, asked: Asked) -> Summaries:
        chosen = self._queries.choose(wanted)
        return summarise_all(_traces(chosen.spans), _options(wanted, asked))


def _traces(spans: Sequence[Span]) -> Iterator[Trace]:
    yield from group_spans(spans)


def _add(summaries: Summaries, spans: Sequence[Span], options: Options) -> None:
    for trace in _traces(spans):
        summaries.add(trace, options)


def _waited_ns(trace: Trace, wanted: Wanted) -> int:
    """Return how long a request waited for a process or a thread itself, within the window."""
    since = 0 if wanted.since_ns is None else wanted.since_ns
    until = LATEST_NS if wanted.until_ns is None else wanted.until_ns
    return sum(
        max(0, min(end, until) - max(begin, since))
        for own in own_intervals(critical_path(trace))
        if wanted.pid in (None, own.span.pid) and wanted.thread_id in (None, own.span.thread_id)
        for begin, end in own.intervals
    )


def _options(wanted: Wanted, asked: Asked) -> Options:
    endpoint = None
    if wanted.service is not None and wanted.operation is not None:
        endpoint = Operation(wanted.service, wanted.operation)
    excluded = {Operation("", name) for name in asked.excluded}
    for name in asked.excluded:
        service, _, rest = name.partition(" ")
        excluded |= {Operation(service, rest)} if rest else set()
    return Options(
        endpoint, roots="merged" if asked.merged else "single", excluded=frozenset(excluded)
    )


def _operation(text: str, spans: Sequence[Span]) -> Operation:
    """Find the operation that "SERVICE NAME" denotes; both parts may contain blanks."""
    known = {span.named for span in spans}
    found = next((one for one in known if f"{one.service} {one.name}" == text), None)
    if found is None:
        raise refusal(
            "bad-request",
            f"no operation {text!r} is in these traces",
            "project takes SERVICE OPERATION, as the ranking names them",
        )
    return found


def _summary(trace: Trace) -> TraceSummary:
    root = trace.root
    return TraceSummary(
        trace_id=trace.trace_id,
        service=root.service,
        operation=root.operation,
        start_ns=root.start_ns,
        duration_ns=root.end_ns - root.start_ns,
        spans=len(trace.spans),
        services=len({span.service for span in trace.spans}),
        errors=sum(span.error for span in trace.spans),
    )
