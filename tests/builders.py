"""Makers of valid messages and tables for tests; each argument changes one thing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table, make_table
from tidscope_wire.generated.models import (
    CollectorHealth,
    ExitedTotals,
    FrameHeader,
    MachineCounters,
    ProcessGauges,
    TableName,
    TargetEvent,
)
from tidscope_wire.pools import FIGURES, QUEUE_WAIT, RESPONSE


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


def busy_pool(pool: int = 1, finished: int = 3, **figures: int | str) -> dict[TableName, Table]:
    """Tables of one pool that knows everything: jobs that waited 1 ms and ran for 2 ms.

    Args:
        pool: number.
        finished: jobs.
        figures: values of its row that differ from the defaults.
    """
    row: dict[str, int | str] = {
        **{"pool": pool, "process": 0, "pid": 41, "read_ns": 5_000_000_000},
        **{"known": (1 << len(FIGURES)) - 1, "size": 4, "busy": 1, "queue": 2},
        **{"submitted": finished + 3, "started": finished + 1, "finished": finished},
        **{"failed": 1, "response_ns": 3_000_000 * finished, "run_ns": 2_000_000 * finished},
        **{"queue_wait_ns": 1_000_000 * (finished + 1), "idle_ns": 7_000_000_000},
        **{"parks": 5, "steals": 6, "polls": 7},
        **{"name": "requests", "kind": "threads", "source": "agent"},
    }
    columns = {name: [value] for name, value in (row | figures).items()}
    times = {
        "pool": [pool, pool],
        "time": [RESPONSE, QUEUE_WAIT],
        "bucket": [12, 10],
        "count": [finished, finished + 1],
    }
    return {"pools": make_table("pools", columns), "pool_times": make_table("pool_times", times)}


def joined(
    pieces: Iterable[Mapping[str, npt.NDArray[np.void]]],
) -> dict[str, npt.NDArray[np.void]]:
    """All tables at once, by name."""
    return {name: table for piece in pieces for name, table in piece.items()}
