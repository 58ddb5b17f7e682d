"""Events of a proof or a sweep, read from its run. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from tidscope_wire.generated.models import (
    ProofState,
    RunEvent,
    SteeringDecided,
    SteeringProven,
    SteeringSwept,
    SweepState,
)


class MeasuredInterval(NamedTuple):
    """An interval of a proof: end in seconds since the first interval's start, and measured
    work.
    """

    at_s: float
    ops_per_s: float
    size: int
    with_policy: bool


class ProofResult(NamedTuple):
    """Intervals by time, and the proof's result, or None if it is unfinished."""

    intervals: list[MeasuredInterval]
    state: ProofState | None


def read_proof(events: Sequence[RunEvent]) -> ProofResult:
    """Find the last proof among a run's events; intervals that do not count are omitted."""
    decided = [one.event for one in events if isinstance(one.event, SteeringDecided)]
    proven = [one.event for one in events if isinstance(one.event, SteeringProven)]
    begin = next(
        (at for at in range(len(decided) - 1, -1, -1) if decided[at].number == 1), len(decided)
    )
    last = [one for one in decided[begin:] if one.with_policy is not None]
    if not last:
        return ProofResult([], proven[-1].proof if proven else None)
    start_ns = last[0].at_ns - round(last[0].elapsed_s * 1e9)
    intervals = [
        MeasuredInterval(
            (one.at_ns - start_ns) / 1e9, one.ops / one.elapsed_s, one.size, bool(one.with_policy)
        )
        for one in last
        if one.counted and one.elapsed_s > 0
    ]
    return ProofResult(intervals, proven[-1].proof if proven else None)


def read_sweep(events: Sequence[RunEvent]) -> SweepState | None:
    """Return the result of the last sweep among a run's events, or None."""
    swept = [one.event for one in events if isinstance(one.event, SteeringSwept)]
    return swept[-1].sweep if swept else None
