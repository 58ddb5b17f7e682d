"""Critical paths of stored traces. All methods block: not for the event loop."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tidscope_traces.critical.path import critical_path
from tidscope_traces.spans.model import Operation, Span, Trace, group_spans, make_trace
from tidscope_traces.summary.analysis import describe
from tidscope_traces.summary.difference import compare_trees
from tidscope_traces.summary.durations import measure_durations
from tidscope_traces.summary.heat import heat_map
from tidscope_traces.summary.options import Options, Projection
from tidscope_traces.summary.traces import Summaries, summarise_all
from tidscope_traces.summary.tree import merge_contexts
from tidscope_wire.generated.models import (
    TraceAnalysis,
    TraceDetail,
    TraceDifference,
    TraceHeat,
    TraceSummary,
)
from tidscope_wire.problems import refusal

from tidscope_backend.traces.answers import (
    analysis_answer,
    anomalies_answer,
    detail_answer,
    difference_answer,
    heat_answer,
)
from tidscope_backend.traces.joining.joiner import join
from tidscope_backend.traces.joining.places import Places
from tidscope_backend.traces.queries import SpanQueries, Wanted

MOST_ANOMALIES = 100
"""In one answer, the strangest."""


@dataclass(frozen=True)
class Asked:
    """How an endpoint's traces are analysed.

    Attributes:
        excluded: operations that are left out of paths: NAME, or "SERVICE NAME".
        merged: each root of the endpoint counts, not the first alone.
        project: an operation that is projected, "SERVICE NAME"; empty: none.
        less_ns: by how much less it takes.
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

    def analysis(self, wanted: Wanted, asked: Asked) -> TraceAnalysis:
        """The analysis of an endpoint."""
        chosen = self._queries.choose(wanted)
        projection = None
        if asked.project:
            operation = _operation(asked.project, chosen.spans)
            projection = Projection(operation, asked.less_ns)
        options = replace(_options(wanted, asked), potential=True, projection=projection)
        summaries = summarise_all(_traces(chosen.spans), options)
        found = describe(summaries)
        return analysis_answer(
            found, chosen.omitted, anomalies_answer(summaries, MOST_ANOMALIES), projection
        )

    def difference(self, base: Wanted, other: Wanted, asked: Asked) -> TraceDifference:
        """Two sets of traces of an endpoint compared."""
        both = [self._summaries(one, asked) for one in (base, other)]
        trees = [merge_contexts(one)[0] for one in both]
        durations = [measure_durations([one.duration_ns for one in own.traces]) for own in both]
        return difference_answer(
            compare_trees(trees[0], trees[1]),
            (durations[0], durations[1]),
            (trees[0], trees[1]),
        )

    def heat(self, wanted: Wanted, asked: Asked, rows: int, columns: int) -> TraceHeat:
        """The heat map of an endpoint."""
        traces = list(_traces(self._queries.choose(wanted).spans))
        found = heat_map(summarise_all(traces, _options(wanted, asked)), rows, columns)
        return heat_answer(found, {trace.trace_id: _summary(trace) for trace in traces})

    def detail(self, trace_id: str, places: Places) -> TraceDetail:
        """One trace, joined with threads.

        Raises:
            ProblemError: there is none.
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
    """The operation that "SERVICE NAME" means: both may have blanks."""
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
