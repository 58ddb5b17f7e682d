"""Durations of traces: percentiles, percentile windows and histograms."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tidscope_traces.summary.traces import TraceSummary

AROUND = {"P50": (45.0, 55.0), "P95": (92.5, 97.5), "P99": (98.0, 100.0)}
"""Percentile windows that represent the percentiles of service-level objectives."""
FIFTHS = tuple((float(low), float(low + 20)) for low in range(0, 100, 20))
BUCKETS = 40


@dataclass(frozen=True, slots=True)
class Durations:
    """Statistics of durations.

    Attributes:
        p50_ns, p95_ns, p99_ns: percentiles, each the duration of a trace (nearest rank).
        bounds_ns: bounds of the histogram's buckets, in geometric progression; one more than
            counts.
        counts: traces in each bucket.
    """

    p50_ns: int
    p95_ns: int
    p99_ns: int
    bounds_ns: list[int]
    counts: list[int]


def measure_durations(durations_ns: Sequence[int]) -> Durations:
    """Return percentiles and histogram; all 0 and empty for no traces."""
    if not durations_ns:
        return Durations(0, 0, 0, [], [])
    ordered = sorted(durations_ns)
    p50, p95, p99 = (percentile(ordered, share) for share in (50, 95, 99))
    return Durations(p50, p95, p99, *bucket(ordered))


def bucket(ordered: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return bounds in geometric progression, and the number of values between two of them.

    Args:
        ordered: values in ascending order, from 0; at least one.
    """
    low, high = max(1, ordered[0]), ordered[-1] + 1
    edges = np.unique(np.round(np.geomspace(low, max(low + 1, high), BUCKETS + 1)))
    edges[0] = min(low, ordered[0])
    counts, _ = np.histogram(np.array(ordered), edges)
    return edges.astype(np.int64).tolist(), counts.tolist()


def percentile(ordered: Sequence[int], share: float) -> int:
    """Return the smallest ordered value that `share` per cent of the values do not exceed."""
    return ordered[max(0, int(np.ceil(len(ordered) * share / 100)) - 1)]


def window(traces: Sequence[TraceSummary], low: float, high: float) -> list[int]:
    """Return indices of traces between two percentiles of duration; at least one if there is any.

    A trace belongs to the window that contains the middle of its rank. Adjacent windows therefore
    neither overlap nor omit a trace.

    Args:
        traces: traces in any order.
        low: lower bound in per cent, from 0.
        high: upper bound in per cent, up to 100; not below low.

    Raises:
        ValueError: the bounds are invalid.
    """
    if not 0 <= low <= high <= 100:
        msg = f"percentiles {low:g} to {high:g}: want 0 <= low <= high <= 100"
        raise ValueError(msg)
    places = sorted(
        range(len(traces)), key=lambda place: (traces[place].duration_ns, traces[place].trace_id)
    )
    total = len(places)
    found = [place for rank, place in enumerate(places) if low <= (rank + 0.5) * 100 / total < high]
    if not found and places:
        found = [places[min(total - 1, int((low + high) / 200 * total))]]
    return sorted(found)
