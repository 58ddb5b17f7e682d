"""Pool tables kept for /metrics, and their metric families."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric
from tidscope_wire.frame_tables import Table, empty_table, latest_rows
from tidscope_wire.generated.models import FrameHeader, TableName
from tidscope_wire.pools import BUCKETS, QUEUE_WAIT, RESPONSE, knows, upper_s
from tidscope_wire.table_streams import decode_tables

LABELS = ["target", "pid", "pool", "kind", "source"]
_TABLES: tuple[TableName, ...] = ("pools", "pool_times")


class PoolTables(NamedTuple):
    """Tables `pools` and `pool_times` of a target's newest frame."""

    pools: Table = empty_table("pools")
    pool_times: Table = empty_table("pool_times")

    def after(self, header: FrameHeader, body: bytes | memoryview) -> "PoolTables":
        """Return the tables after another frame.

        Raises:
            FrameError: the frame's tables are damaged.
        """
        if not header.tables and header.kind != "key":
            return self
        found = decode_tables(header, body, _TABLES)
        if header.kind == "key":
            return PoolTables(*(found.get(name, empty_table(name)) for name in _TABLES))
        return PoolTables(
            *(
                latest_rows(name, [before, found[name]]) if name in found else before
                for name, before in zip(_TABLES, self, strict=True)
            )
        )


NO_POOLS = PoolTables()

_GAUGES = {
    "size": "Workers that the pool may have.",
    "busy": "Workers that run a job.",
    "queue": "Jobs that wait to be started.",
}
_COUNTERS = {
    "submitted": "Jobs submitted since attach.",
    "started": "Jobs started.",
    "finished": "Jobs that ended, failed ones included.",
    "failed": "Jobs that ended with an error.",
    "parks": "How often workers went to sleep for want of work.",
    "steals": "Jobs that workers took from each other.",
    "polls": "How often tasks were polled.",
}
_SECONDS = {
    "run_ns": ("run", "Time from start to end, of finished jobs."),
    "idle_ns": ("idle", "Time of workers without a job."),
}
_TIMES = (
    (RESPONSE, "response", "response_ns", "finished", "Time from submission to end."),
    (QUEUE_WAIT, "queue_wait", "queue_wait_ns", "started", "Time from submission to start."),
)


class _Pool(NamedTuple):
    """A pool with its label values and its target's histograms."""

    labels: list[str]
    row: np.void
    times: Table


def pool_families(targets: Iterable[tuple[str, PoolTables]]) -> Iterator[Metric]:
    """Yield the families of pools; an unknown value makes no series."""
    pools = [pool for target, tables in targets for pool in _pools(target, tables)]
    for name, text in _GAUGES.items():
        gauge = GaugeMetricFamily(f"tidscope_pool_{name}", text, labels=LABELS)
        yield _with_figures(gauge, pools, name)
    for name, text in _COUNTERS.items():
        counter = CounterMetricFamily(f"tidscope_pool_{name}", text, labels=LABELS)
        yield _with_figures(counter, pools, name)
    for name, (stem, text) in _SECONDS.items():
        seconds = CounterMetricFamily(
            f"tidscope_pool_{stem}_seconds", text, labels=LABELS, unit="seconds"
        )
        yield _with_figures(seconds, pools, name, 1e9)
    for time, stem, total, number, text in _TIMES:
        histogram = HistogramMetricFamily(
            f"tidscope_pool_{stem}_seconds", text, labels=LABELS, unit="seconds"
        )
        for labels, row, times in pools:
            if knows(row, total) and knows(row, number):
                buckets = list(_buckets(times, int(row["pool"]), time))
                if buckets[-1][1] == int(row[number]):
                    histogram.add_metric(labels, buckets, int(row[total]) / 1e9)
        yield histogram


def _with_figures(
    family: GaugeMetricFamily | CounterMetricFamily,
    pools: Iterable[_Pool],
    name: str,
    divisor: float = 1,
) -> Metric:
    for labels, row, _ in pools:
        if knows(row, name):
            value = int(row[name])
            family.add_metric(labels, value if divisor == 1 else value / divisor)
    return family


def _pools(target: str, tables: PoolTables) -> Iterable[_Pool]:
    """Return pools by labels. After an exec, the last pool with equal labels counts."""
    found: dict[tuple[str, ...], _Pool] = {}
    for row in tables.pools:
        labels = [target, *(str(row[name]) for name in ("pid", "name", "kind", "source"))]
        found[tuple(labels)] = _Pool(labels, row, tables.pool_times)
    return found.values()


def _buckets(times: Table, pool: int, time: int) -> Iterator[tuple[str, float]]:
    """Yield cumulative counts by upper bound, in seconds."""
    counts = [0] * BUCKETS
    for row in times[(times["pool"] == pool) & (times["time"] == time)]:
        counts[min(int(row["bucket"]), BUCKETS - 1)] = int(row["count"])
    total = 0
    for bucket, count in enumerate(counts):
        total += count
        yield ("+Inf" if bucket == BUCKETS - 1 else repr(upper_s(bucket))), total
