"""What the pools of workers of a run did, by name."""

from dataclasses import dataclass, field

import pyarrow as pa
from tidscope_wire.pools import BUCKETS, QUEUE_WAIT, RESPONSE, known_figures

_COUNTED = ("finished", "failed", "started", "response_ns", "queue_wait_ns", "run_ns")


@dataclass
class PoolTotals:
    """Pools of one name, within a run.

    Attributes:
        size: workers at the end, of all of them; None: not known.
        counted: by figure; one that is not known of any of them is not in it.
        times: jobs by bucket, of response times and of queue waits.
    """

    size: int | None = None
    counted: dict[str, int] = field(default_factory=dict)
    times: dict[int, list[int]] = field(
        default_factory=lambda: {RESPONSE: [0] * BUCKETS, QUEUE_WAIT: [0] * BUCKETS}
    )


def pools_by_name(pools: pa.Table, times: pa.Table) -> dict[str, PoolTotals]:
    """Add pools up by their names: those of several programs, and of one that started again.

    Args:
        pools: the table `pools` of a run, growth of its counters.
        times: the same of `pool_times`.
    """
    found: dict[str, PoolTotals] = {}
    names: dict[int, str] = {}
    # Of a pool that the same program had before, the size says nothing of now.
    last: dict[tuple[int, str], int] = {}
    rows = known_figures(pools).to_pylist()
    for row in rows:
        last[row["pid"], row["name"]] = max(row["pool"], last.get((row["pid"], row["name"]), 0))
    for row in rows:
        totals = found.setdefault(row["name"], PoolTotals())
        names[row["pool"]] = row["name"]
        if row["size"] is not None and last[row["pid"], row["name"]] == row["pool"]:
            totals.size = (totals.size or 0) + row["size"]
        for name in _COUNTED:
            if row[name] is not None:
                totals.counted[name] = totals.counted.get(name, 0) + row[name]
    for row in times.to_pylist():
        pool = names.get(row["pool"])
        if pool is not None and row["time"] in (RESPONSE, QUEUE_WAIT):
            found[pool].times[row["time"]][min(row["bucket"], BUCKETS - 1)] += row["count"]
    return found
