"""Pools of workers in a comparison: its rows, and the figures of a run."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from tidscope_wire.generated.models import Better, CompareBasis, Provenance
from tidscope_wire.pools import QUEUE_WAIT, RESPONSE, quantile_s

from tidscope_backend.comparison.figures import Figure, Figures
from tidscope_backend.comparison.metrics import Metric
from tidscope_backend.comparison.pool_totals import PoolTotals

MAX_POOLS = 16
"""Names of pools in an answer, those that finished most."""
READ_S = 1.0
"""Pools are read once a second: what a run has of the second at its ends is open."""
QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


def compared_pools(runs: Sequence[Mapping[str, PoolTotals]]) -> list[str]:
    """Names of the pools that are compared, at most MAX_POOLS, by what they finished."""
    finished: dict[str, int] = {}
    for pools in runs:
        for name, totals in pools.items():
            finished[name] = finished.get(name, 0) + totals.counted.get("finished", 0)
    return sorted(finished, key=lambda name: (-finished[name], name))[:MAX_POOLS]


def metrics_of_pool(name: str, basis: CompareBasis) -> tuple[Metric, ...]:
    """The rows of a pool, in the order of the table; each only if a run knows it."""

    def metric(
        figure: str, label: str, unit: str, better: Better, provenance: Provenance = "exact"
    ) -> Metric:
        grows = unit == "count" and figure in ("finished", "failed")
        return Metric(
            f"pool:{name}:{figure}",
            f"Pool {name}: {label}",
            unit,
            better,
            by_role=False,
            provenance=provenance,
            grows=grows,
            rare=True,
        )

    per_s = basis == "rates"
    return (
        metric("finished", "throughput", "1/s", "more")
        if per_s
        else metric("finished", "jobs finished", "count", "more"),
        metric("failed", "jobs failed", "1/s" if per_s else "count", "less"),
        metric("response", "mean response", "s", "less"),
        *(metric(f"response_{p}", f"response {p}", "s", "less", "estimated") for p, _ in QUANTILES),
        metric("run", "mean run", "s", "neither"),
        metric("ait", "AIT (mean queue wait)", "s", "less"),
        *(metric(f"wait_{p}", f"queue wait {p}", "s", "less", "estimated") for p, _ in QUANTILES),
        metric("size", "size at the end", "count", "neither"),
    )


def figures_of_pool(
    name: str, totals: PoolTotals | None, duration_ns: int, basis: CompareBasis
) -> Figures:
    """Figures of the pools of one name; a run without them has none."""
    if totals is None:
        return {}
    counted = totals.counted
    finished, started = counted.get("finished"), counted.get("started")
    figures: dict[str, Figure] = {
        "finished": _count(finished, duration_ns, basis),
        "failed": _count(counted.get("failed"), duration_ns, basis),
        "response": _mean(counted.get("response_ns"), finished),
        "run": _mean(counted.get("run_ns"), finished),
        "ait": _mean(counted.get("queue_wait_ns"), started),
        "size": Figure(totals.size),
    }
    for stem, time in (("response", RESPONSE), ("wait", QUEUE_WAIT)):
        for p, part in QUANTILES:
            figures[f"{stem}_{p}"] = _quantile(totals.times[time], part)
    return {f"pool:{name}:{figure}": value for figure, value in figures.items()}


def _count(count: int | None, duration_ns: int, basis: CompareBasis) -> Figure:
    """Jobs; those of the second in which a run begins or ends may be of the other side."""
    if count is None or duration_ns <= 0:
        return Figure(None)
    seconds = duration_ns / 1e9
    error = count / seconds * min(READ_S, seconds)
    return Figure(count / seconds, error / seconds) if basis == "rates" else Figure(count, error)


def _mean(total_ns: int | None, count: int | None) -> Figure:
    return Figure(total_ns / count / 1e9 if total_ns is not None and count else None)


def _quantile(counts: Iterable[int], part: float) -> Figure:
    """A quantile; it is somewhere in its bucket, whose upper end is twice its lower one."""
    value = quantile_s(np.array(list(counts)), part)
    return Figure(None) if value is None else Figure(value, value * (2**0.5 - 1))
