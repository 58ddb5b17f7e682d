"""Operations by what they contribute to the critical paths of all endpoints.

Source: CRISP, section 4.6.2: what is worth the most is what many endpoints wait for.
"""

from dataclasses import dataclass

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.ranking import RankedOperation, rank_operations
from tidscope_traces.summary.traces import Summaries


@dataclass(frozen=True, slots=True)
class RankedEverywhere:
    """What an operation contributes to all endpoints.

    Attributes:
        operation: which.
        endpoints: those with it on a critical path.
        exclusive_ns: its own time on the critical paths of all.
        mean_share: of the time of an endpoint's requests, averaged over all endpoints: each counts
            the same, however often it is asked.
        traces: those with it on the path.
    """

    operation: Operation
    endpoints: int
    exclusive_ns: int
    mean_share: float
    traces: int


def rank_everywhere(summaries: Summaries) -> list[RankedEverywhere]:
    """Operations by what improving them would bring to all endpoints: by mean share.

    Args:
        summaries: of traces of any endpoints; an endpoint is the operation of a root.
    """
    places: dict[int, list[int]] = {}
    for place, trace in enumerate(summaries.traces):
        places.setdefault(trace.operation, []).append(place)
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
