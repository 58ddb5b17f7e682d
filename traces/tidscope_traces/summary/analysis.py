"""All that is said of one set of traces."""

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
    """What the critical paths of a set of traces say.

    Attributes:
        traces: how many, or how many roots of them, if these were merged.
        left_out: traces without the endpoint or the tags that were asked for.
        errors: requests that failed.
        truncated_traces, dropped_traces: with spans that clocks put outside of their parent's time.
        truncated_share: of the traces' time, what was cut off, 0 to 1.
        duration: percentiles and histogram.
        tree: weighted calling contexts.
        ranking: operations by share.
        failures: error paths.
        projected: durations under the projection of the options; None without one.
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
    """Analyse traces, and of these the ones between two percentiles of duration.

    Raises:
        ValueError: the percentiles are none.
    """
    return describe(summarise_all(traces, options), low, high)


def describe(summaries: Summaries, low: float = 0, high: float = 100) -> Analysis:
    """What `analyse` says, of traces that were summarised before.

    Raises:
        ValueError: the percentiles are none.
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
