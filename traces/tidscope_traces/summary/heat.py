"""The heat map: what each operation contributed to each trace.

Source: CRISP, section 4.6.1 and figure 4.10.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.ranking import exclusive_times
from tidscope_traces.summary.traces import Summaries
from tidscope_traces.summary.tree import chain_of

TOP_CHAINS = 5


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of callers.

    Attributes:
        operations: from the root to the row's operation.
        ns: own time there on the path.
    """

    operations: list[Operation]
    ns: int


@dataclass(frozen=True, slots=True)
class Heat:
    """Operations as rows, traces as columns.

    Attributes:
        operations: by the percentile that was asked for, the largest first.
        trace_ids: by duration, the longest first.
        durations_ns: of these.
        percentile_ns: of each row, over all traces, those without a column too.
        cells_ns: for each row, the time of each column on the critical path.
        chains: for each row and column, the chains with most time, up to TOP_CHAINS.
    """

    operations: list[Operation]
    trace_ids: list[str]
    durations_ns: list[int]
    percentile_ns: list[int]
    cells_ns: list[list[int]]
    chains: list[list[list[Chain]]]


def heat_map(
    summaries: Summaries,
    rows: int = 30,
    columns: int = 100,
    metric: Literal["exclusive", "inclusive"] = "exclusive",
    share: float = 50,
) -> Heat:
    """The heat map of traces.

    Args:
        summaries: all traces.
        rows: operations at most.
        columns: traces at most; if there are more, evenly from the longest to the shortest.
        metric: own time, or that of the outermost calls with all they call.
        share: percentile that orders the rows.
    """
    times = exclusive_times(summaries) if metric == "exclusive" else _inclusive_times(summaries)
    if not summaries.traces:
        return Heat([], [], [], [], [], [])
    names = summaries.catalogue.operations
    ordered = np.sort(times, axis=1)
    at = max(0, int(np.ceil(times.shape[1] * share / 100)) - 1)
    ranks, sums = ordered[:, at], times.sum(axis=1)
    chosen = sorted(
        (number for number in range(len(names)) if sums[number]),
        key=lambda number: (-ranks[number], -sums[number], names[number]),
    )[:rows]
    traces = summaries.traces
    places = _evenly(
        sorted(
            range(len(traces)),
            key=lambda place: (-traces[place].duration_ns, traces[place].trace_id),
        ),
        columns,
    )
    return Heat(
        operations=[names[number] for number in chosen],
        trace_ids=[traces[place].trace_id for place in places],
        durations_ns=[traces[place].duration_ns for place in places],
        percentile_ns=[int(ranks[number]) for number in chosen],
        cells_ns=times[np.ix_(chosen, places)].tolist(),
        chains=[[_chains(summaries, place, number) for place in places] for number in chosen],
    )


def _evenly(places: list[int], count: int) -> list[int]:
    if len(places) <= count:
        return places
    return [places[number * (len(places) - 1) // max(1, count - 1)] for number in range(count)]


def _chains(summaries: Summaries, place: int, number: int) -> list[Chain]:
    operations, parents, _, exclusive, *_ = summaries.traces[place].contexts.tolist()
    found = [
        (-exclusive[column], column)
        for column, operation in enumerate(operations)
        if operation == number and exclusive[column]
    ]
    names = summaries.catalogue.operations
    return [
        Chain([names[operations[step]] for step in chain_of(parents, column)], -less)
        for less, column in sorted(found)[:TOP_CHAINS]
    ]


def _inclusive_times(summaries: Summaries) -> NDArray[np.int64]:
    """As exclusive_times, with what is called; an operation that calls itself counts once."""
    times = np.zeros((len(summaries.catalogue.operations), len(summaries.traces)), dtype=np.int64)
    for column, trace in enumerate(summaries.traces):
        operations, parents, inclusive, *_ = trace.contexts.tolist()
        for node, operation in enumerate(operations):
            if not _called_by_itself(operations, parents, node):
                times[operation, column] += inclusive[node]
    return times


def _called_by_itself(operations: Sequence[int], parents: Sequence[int], node: int) -> bool:
    operation, above = operations[node], parents[node]
    while above >= 0:
        if operations[above] == operation:
            return True
        above = parents[above]
    return False
