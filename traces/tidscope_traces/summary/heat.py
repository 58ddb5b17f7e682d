"""Heat map of each operation's contribution to each trace.

Source: CRISP, section 4.6.1 and figure 4.10.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.ranking import exclusive_times, percentile_of
from tidscope_traces.summary.traces import Summaries
from tidscope_traces.summary.tree import chain_of

TOP_CHAINS = 5
HeatMetric = Literal["exclusive", "inclusive"]


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of callers.

    Attributes:
        operations: operations from the root to the row's operation.
        ns: own time of the chain on the path.
    """

    operations: list[Operation]
    ns: int


@dataclass(frozen=True, slots=True)
class Heat:
    """Operations as rows, traces as columns.

    Attributes:
        operations: operations by the requested percentile, largest first.
        trace_ids: trace IDs by duration, longest first.
        durations_ns: durations of these traces.
        percentile_ns: percentile of each row over all traces, including those without a column.
        cells_ns: for each row, each column's time on the critical path.
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
    metric: HeatMetric = "exclusive",
    share: float = 50,
) -> Heat:
    """Return the heat map of traces.

    Args:
        summaries: all traces.
        rows: maximum number of operations.
        columns: maximum traces; from more, an even selection by duration.
        metric: own time, or inclusive time of the outermost calls.
        share: percentile that orders the rows.
    """
    times = exclusive_times(summaries) if metric == "exclusive" else _inclusive_times(summaries)
    if not summaries.traces:
        return Heat([], [], [], [], [], [])
    names = summaries.catalogue.operations
    traces = summaries.traces
    ranks = {number: percentile_of(own, len(traces), share) for number, own in times.items()}
    chosen = sorted(
        times,
        key=lambda number: (-ranks[number], -sum(times[number].values()), names[number]),
    )[:rows]
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
        percentile_ns=[ranks[number] for number in chosen],
        cells_ns=[[times[number].get(place, 0) for place in places] for number in chosen],
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


def _inclusive_times(summaries: Summaries) -> dict[int, dict[int, int]]:
    """Return inclusive times; a recursive operation counts once."""
    times: dict[int, dict[int, int]] = {}
    for place, trace in enumerate(summaries.traces):
        operations, parents, inclusive, *_ = trace.contexts.tolist()
        for node in _outermost(operations, parents):
            if inclusive[node]:
                own = times.setdefault(operations[node], {})
                own[place] = own.get(place, 0) + inclusive[node]
    return times


def _outermost(operations: Sequence[int], parents: Sequence[int]) -> Iterator[int]:
    """Return nodes without an ancestor of the same operation."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    above: Counter[int] = Counter()
    # A node is visited twice: on the way down, and as ~node after its descendants.
    waiting = list(children.get(-1, ()))
    while waiting:
        node = waiting.pop()
        if node < 0:
            above[operations[~node]] -= 1
            continue
        if not above[operations[node]]:
            yield node
        above[operations[node]] += 1
        waiting += [~node, *children.get(node, ())]
