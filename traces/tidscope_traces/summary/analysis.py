"""Complete analysis of one set of traces."""

from collections.abc import Iterable
from dataclasses import dataclass

from tidscope_traces.spans.model import Trace
from tidscope_traces.summary.calls import ErrorPath, rank_failures
from tidscope_traces.summary.durations import Durations, measure_durations, window
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.ranking import RankedOperation, rank_operations
from tidscope_traces.summary.traces import Summaries, summarise_all
from tidscope_traces.summary.tree import ContextTree, merge_contexts


@dataclass(frozen=True, slots=True)
class Analysis:
    """Results from the critical paths of a set of traces.

    Attributes:
        traces: number of traces, or of roots if merged.
        left_out: number of traces without the requested endpoint or tags.
        errors: number of failed requests.
        truncated_traces, dropped_traces: number of traces with spans outside the parent's time
            because of clock skew.
        truncated_share: cut-off share of the traces' time, 0 to 1.
        duration: percentiles and histogram.
        tree: weighted calling contexts.
        ranking: operations by share.
        failures: error paths.
        projected: durations under the projection of the options; None without a projection.
    """

    traces: int
    left_out: int
    errors: int
    truncated_traces: int
    dropped_traces: int
    truncated_share: float
    duration: Durations
    tree: ContextTree
    ranking: list[RankedOperation]
    failures: list[ErrorPath]
    projected: Durations | None


def analyse(
    traces: Iterable[Trace], options: Options, low: float = 0, high: float = 100
) -> Analysis:
    """Analyse traces, restricted to a window between two percentiles of duration.

    Raises:
        ValueError: the percentiles are invalid.
    """
    return describe(summarise_all(traces, options), low, high)


def describe(summaries: Summaries, low: float = 0, high: float = 100) -> Analysis:
    """Analyse traces that are already summarised; see `analyse`.

    Raises:
        ValueError: the percentiles are invalid.
    """
    chosen = summaries.select(window(summaries.traces, low, high))
    own = chosen.traces
    tree, _ = merge_contexts(chosen)
    durations = [trace.duration_ns for trace in own]
    total_ns = sum(durations)
    projected = [trace.projected_ns for trace in own if trace.projected_ns is not None]
    return Analysis(
        traces=len(own),
        left_out=summaries.left_out,
        errors=sum(trace.error for trace in own),
        truncated_traces=sum(trace.truncated > 0 for trace in own),
        dropped_traces=sum(trace.dropped > 0 for trace in own),
        truncated_share=sum(trace.truncated_ns for trace in own) / total_ns if total_ns else 0.0,
        duration=measure_durations(durations),
        tree=tree,
        ranking=rank_operations(chosen),
        failures=rank_failures(
            ((trace.trace_id, trace.failures) for trace in own), chosen.catalogue.operations
        ),
        projected=measure_durations(projected) if projected else None,
    )
