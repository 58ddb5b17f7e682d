"""Figures of one run for a comparison: totals by role, of the process and of its pools."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import (
    Better,
    CompareBasis,
    MachineCounters,
    Provenance,
    RunResult,
    SteeringDecided,
)
from tidscope_wire.pools import QUEUE_WAIT, RESPONSE, quantile_s
from tidscope_wire.rates import energy_between, rates_per_s
from tidscope_wire.states import STATE_FIELDS

from tidscope_backend.comparison.metrics import COUNTERS, Metric, share_name
from tidscope_backend.comparison.sides import PoolTotals, RunTables
from tidscope_backend.comparison.statistics import Spread
from tidscope_backend.state_groups import GROUPS, shares_of_time


@dataclass(frozen=True)
class Totals:
    """Sums over lives of threads.

    Attributes:
        lives: number of threads.
        fields: growth within the run by field name, in the field's unit; fields that no thread has
            are omitted.
    """

    lives: int
    fields: Mapping[str, int]


def totals_by_role(threads: pa.Table) -> dict[str, Totals]:
    """Add up `last - first` of each life, by the thread's last role.

    A life without a first or last value of a field does not count for that field, as in RoleTotals.
    """
    if not threads.num_rows:
        return {}
    encoded = pc.dictionary_encode(threads.column("role")).combine_chunks()
    roles = encoded.dictionary.to_pylist()
    places = encoded.indices.to_numpy(zero_copy_only=False)
    lives = np.bincount(places, minlength=len(roles))
    first, last = threads.column("first"), threads.column("last")
    sums: dict[str, tuple[list[int], list[int]]] = {}
    for name in last.type.names:
        done = pc.subtract(_counter(last, name), _counter(first, name))
        if name in STATE_FIELDS:
            # Time in a state decreases by microseconds when the kernel's count replaces the
            # ledger's.
            done = pc.max_element_wise(done, 0, skip_nulls=False)
        # A counter that decreased was reset, so the thread's growth is unknown.
        done = pc.if_else(pc.greater_equal(done, 0), done, None)
        there = pc.is_valid(done).to_numpy(zero_copy_only=False)
        amounts = pc.fill_null(done, 0).to_numpy(zero_copy_only=False)
        sum_of = np.zeros(len(roles), np.int64)
        np.add.at(sum_of, places, amounts)
        sums[name] = (sum_of.tolist(), np.bincount(places, there, len(roles)).tolist())
    return {
        role: Totals(
            int(lives[place]),
            {name: sum_of[place] for name, (sum_of, known) in sums.items() if known[place]},
        )
        for place, role in enumerate(roles)
    }


def whole(by_role: Mapping[str, Totals]) -> Totals:
    """Sum all roles into the totals of the process."""
    fields: dict[str, int] = {}
    for totals in by_role.values():
        for name, value in totals.fields.items():
            fields[name] = fields.get(name, 0) + value
    return Totals(sum(totals.lives for totals in by_role.values()), fields)


def _counter(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Return a field of a struct column; where the struct is null, so is the field."""
    return pc.struct_field(column, name).cast(pa.int64())


TICK_US = 10_000
"""Longest scheduler tick of a kernel (CONFIG_HZ=100), in µs; runs do not record their kernel's."""
QUANTUM = 1024
"""The kernel rounds a thread's I/O counters down to a multiple of this (taskstats, bacct.c)."""
SAMPLED = ("user_cpu_us", "system_cpu_us")
ROUNDED = ("disk_read_bytes", "disk_write_bytes")
ABOVE_EXACT = (
    "Sampled at scheduler ticks, and above the exact on-CPU time in a run: too coarse to judge."
)


@dataclass(frozen=True)
class Figure:
    """Figure of one run.

    Attributes:
        value: None if unknown.
        error: half the width of the 95 % interval of the measurement error; 0 if negligible.
        flaw: reason why the figure cannot be judged, as a sentence.
        spread: variation within a window; None if unknown.
    """

    value: float | None
    error: float = 0.0
    flaw: str | None = None
    spread: Spread | None = None


Figures = Mapping[str, Figure]
"""Figures by metric; a missing metric is unknown."""


def figures_of_role(totals: Totals | None, duration_ns: int, basis: CompareBasis) -> Figures:
    """Return the figures of a role's threads; empty for an absent role."""
    if totals is None:
        return {}
    counted = {name: _counted(totals, name) for name in COUNTERS if name in totals.fields}
    if basis == "rates":
        counted = {name: _per_second(one, duration_ns) for name, one in counted.items()}
    cpu_ns = totals.fields.get("cpu_run_ns")
    return {
        **counted,
        **_shares(totals),
        "threads": Figure(totals.lives),
        "mean_cores": Figure(_rate(cpu_ns / 1e9, duration_ns) if cpu_ns is not None else None),
    }


def figures_of_process(run: RunTables, totals: Totals, basis: CompareBasis) -> Figures:
    """Return figures of the whole process."""
    ops, throughput = _given_operations(run) or _operations(run)
    joules, watts = _energy(run)
    return {
        **figures_of_role(totals, run.duration_ns, basis),
        "duration_s": Figure(run.duration_ns / 1e9),
        "ops": Figure(ops),
        "ops_per_s": Figure(throughput),
        "peak_rss_bytes": Figure(_peak_rss(run.signals)),
        "energy_j": Figure(joules),
        "power_w": Figure(watts),
        "ops_per_j": Figure(None if ops is None or not joules else ops / joules),
        **{_result_name(one): Figure(one.value) for one in _results(run)},
    }


def metrics_of_results(runs: Sequence[RunTables]) -> tuple[Metric, ...]:
    """Return the metrics of results, in the order in which runs name them first."""
    found = {one.name: one for run in reversed(runs) for one in reversed(_results(run))}
    return tuple(
        Metric(_result_name(one), one.name, "", one.better, by_role=False)
        for one in reversed(found.values())
        if one.name != OPERATIONS
    )


OPERATIONS = "ops"
"""Name of the result that is the number of operations."""


def _results(run: RunTables) -> Sequence[RunResult]:
    """Return the results of a whole run; a window of it has none."""
    return run.manifest.results if run.window is None else ()


def _result_name(result: RunResult) -> str:
    return f"result:{result.name}"


def _given_operations(run: RunTables) -> tuple[float, float | None] | None:
    """Return the operations that somebody gave, and their rate."""
    for one in _results(run):
        if one.name == OPERATIONS:
            return one.value, _rate(one.value, run.duration_ns)
    return None


def _counted(totals: Totals, name: str) -> Figure:
    """Return the total of a counter, with its measurement error.

    A time sampled at ticks is a count of ticks. Counts of independent events vary by their square
    root (Poisson), which exceeds the error of sampling at a fixed interval.
    """
    value = totals.fields[name]
    if name in SAMPLED:
        error = 2 * math.sqrt(max(value, TICK_US) * TICK_US)
        cpu_ns = totals.fields.get("cpu_run_ns")
        times = sum(totals.fields.get(one, 0) for one in SAMPLED)
        above = cpu_ns is not None and max(value, times - error) * 1000 > cpu_ns
        return Figure(value, error, ABOVE_EXACT if above else None)
    if name in ROUNDED:
        return Figure(value, QUANTUM * totals.lives)
    return Figure(value)


def _shares(totals: Totals) -> dict[str, Figure]:
    """Return shares of the threads' time in each state and in each group of states."""
    shares = shares_of_time(totals.fields)
    if not shares:
        return {}
    groups = {
        f"share_{group.id}": sum(shares.get(field, 0) for field in group.fields) for group in GROUPS
    }
    states = {share_name(field): share for field, share in shares.items()}
    return {name: Figure(share) for name, share in (states | groups).items()}


def _per_second(total: Figure, duration_ns: int) -> Figure:
    """Return the mean rate of a counter over the whole run."""
    if total.value is None:
        return total
    error = _rate(total.error, duration_ns)
    return Figure(_rate(total.value, duration_ns), error or 0.0, total.flaw)


def _rate(grown: float, duration_ns: int) -> float | None:
    rate = float(rates_per_s(np.array([0, duration_ns]), np.array([0.0, grown]))[1])
    return None if math.isnan(rate) else rate


def _operations(run: RunTables) -> tuple[float | None, float | None]:
    """Return operations in the intervals of the run's policy, and their rate.

    Operations of two different signals have no sum.
    """
    decided = [event.event for event in run.events if isinstance(event.event, SteeringDecided)]
    if not decided or len({policy.signal for policy in run.manifest.policies}) > 1:
        return None, None
    ops = sum(one.ops for one in decided)
    elapsed_s = sum(one.elapsed_s for one in decided)
    return ops, ops / elapsed_s if elapsed_s else None


def _peak_rss(signals: pa.Table) -> float | None:
    peak = pc.max(pc.struct_field(signals.column("process"), "rss_bytes")).as_py()
    return None if peak is None else float(peak)


def _energy(run: RunTables) -> tuple[float | None, float | None]:
    """Return energy in joules and mean power in watts.

    The interval starts with the run (or its first reading) and ends with its last reading. Counters
    are read about once a second, so up to a second at the end is missing.
    """
    machine = run.signals.column("machine")
    times = pc.struct_field(machine, "time_ns").to_pylist()
    uj = pc.struct_field(machine, "package_uj").to_pylist()
    gaps = pc.struct_field(machine, "gaps").to_pylist()
    readings: list[MachineCounters] = []
    for time_ns, package_uj, hole in zip(times, uj, gaps, strict=True):
        if time_ns is None or (readings and time_ns <= readings[-1].time_ns):
            continue  # Repeated last reading.
        readings.append(
            MachineCounters(
                time_ns=time_ns,
                cpu_busy_us=None,
                package_uj=package_uj,
                domains_uj=[],
                gaps=hole,
            )
        )
    if not readings:
        return None, None
    from_ns = max(run.manifest.from_ns, readings[0].time_ns)
    to_ns = min(run.manifest.to_ns, readings[-1].time_ns)
    if to_ns <= from_ns:
        return None, None
    microjoules = energy_between(readings, from_ns, to_ns)
    if microjoules is None:
        return None, None
    return microjoules / 1e6, _rate(microjoules / 1e6, to_ns - from_ns)


MAX_POOLS = 16
"""Maximum compared pool names; pools that finished the most jobs are kept."""
READ_S = 1.0
"""Reading interval of pools, in seconds; counts in it at either end of a run are uncertain."""
QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


def compared_pools(runs: Sequence[Mapping[str, PoolTotals]]) -> list[str]:
    """Return the names of the compared pools, at most MAX_POOLS, by finished jobs."""
    finished: dict[str, int] = {}
    for pools in runs:
        for name, totals in pools.items():
            finished[name] = finished.get(name, 0) + totals.counted.get("finished", 0)
    return sorted(finished, key=lambda name: (-finished[name], name))[:MAX_POOLS]


def metrics_of_pool(name: str, basis: CompareBasis) -> tuple[Metric, ...]:
    """Return the metrics of a pool in table order, restricted to metrics that a run knows."""

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
    """Return the figures of all pools with one name; empty for a run without them."""
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
    """Return a number of jobs; jobs in a run's first and last second may be outside the run."""
    if count is None or duration_ns <= 0:
        return Figure(None)
    seconds = duration_ns / 1e9
    error = count / seconds * min(READ_S, seconds)
    return Figure(count / seconds, error / seconds) if basis == "rates" else Figure(count, error)


def _mean(total_ns: int | None, count: int | None) -> Figure:
    return Figure(total_ns / count / 1e9 if total_ns is not None and count else None)


def _quantile(counts: Iterable[int], part: float) -> Figure:
    """Return a quantile; it lies within its bucket, whose upper bound is twice the lower one."""
    value = quantile_s(np.array(list(counts)), part)
    return Figure(None) if value is None else Figure(value, value * (2**0.5 - 1))
