"""Makers of valid messages for tests; each argument changes one thing."""

from collections.abc import Sequence
from typing import Literal

from tidscope_wire.generated.models import (
    CollectorHealth,
    ExitedTotals,
    FrameHeader,
    MachineCounters,
    ProcessGauges,
    TargetEvent,
)


def collector_health() -> CollectorHealth:
    """Health of a collector with nothing to complain of."""
    return CollectorHealth(
        sample_us=100,
        sample_mean_us=110,
        sample_max_us=200,
        late_us=0,
        missed_deadlines=0,
        effective_hz=10,
        requested_hz=10,
        exit_records_received=0,
        exit_records_lost=0,
        cpu_percent=None,
        overhead_percent=None,
        budget_percent=2,
        replay_bytes=0,
        replay_frames=0,
        unsent_frames=0,
        sent_frames=0,
        sent_bytes=0,
    )


def frame_header(
    *,
    target: str = "t-100-deadbeef",
    seq: int = 1,
    first_seq: int | None = None,
    kind: Literal["key", "delta"] = "delta",
    time_ns: int = 0,
    events: Sequence[TargetEvent] = (),
    baseline: bool = False,
    rows: int = 1,
) -> FrameHeader:
    """A header of a quiet frame."""
    return FrameHeader(
        target=target,
        seq=seq,
        first_seq=first_seq or seq,
        kind=kind,
        baseline=baseline,
        rows=rows,
        time_ns=time_ns,
        unix_us=1_700_000_000_000_000 + time_ns // 1000,
        live_threads=2,
        threads_born=0,
        events=list(events),
        process=ProcessGauges(gomaxprocs=None, rss_bytes=None),
        machine=MachineCounters(
            time_ns=time_ns, cpu_busy_us=0, package_uj=None, domains_uj=[], gaps=0
        ),
        health=collector_health(),
        exited=ExitedTotals(threads=0, inexact=0, totals={}),
    )
