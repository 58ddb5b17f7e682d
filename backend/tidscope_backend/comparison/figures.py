"""The figures of one run that a comparison compares with those of others."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.energy import energy_between
from tidscope_wire.generated.models import CompareBasis, MachineCounters, SteeringDecided
from tidscope_wire.rates import rates_per_s

from tidscope_backend.comparison.metrics import COUNTERS, share_name
from tidscope_backend.comparison.statistics import Spread
from tidscope_backend.comparison.tables import RunTables
from tidscope_backend.comparison.totals import Totals
from tidscope_backend.state_groups import GROUPS, shares_of_time

TICK_US = 10_000
"""Longest scheduler tick of a kernel (CONFIG_HZ=100); runs do not say which theirs was."""
QUANTUM = 1024
"""The kernel rounds I/O counters of a thread down to a multiple of this (taskstats, bacct.c)."""
SAMPLED = ("user_cpu_us", "system_cpu_us")
ROUNDED = ("disk_read_bytes", "disk_write_bytes")
ABOVE_EXACT = (
    "Sampled at scheduler ticks, and above the exact on-CPU time in a run: too coarse to judge."
)


@dataclass(frozen=True)
class Figure:
    """A figure of one run.

    Attributes:
        value: None if it is unknown.
        error: half the width of the 95 % interval that its measurement leaves; 0: negligible.
        flaw: why it cannot be judged, as a sentence.
        spread: of a window's, how it varied within it; None: not known.
    """

    value: float | None
    error: float = 0.0
    flaw: str | None = None
    spread: Spread | None = None


Figures = Mapping[str, Figure]
"""Metric to its figure; a metric that is not in it is unknown."""


def figures_of_role(totals: Totals | None, duration_ns: int, basis: CompareBasis) -> Figures:
    """Figures of the threads of a role; a role that is absent has none."""
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
    """Figures of the whole process."""
    ops, throughput = _operations(run)
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
    }


def _counted(totals: Totals, name: str) -> Figure:
    """The total of a counter, with what its measurement leaves open.

    A time sampled at ticks is a count of ticks. Counts of independent events vary by their square
    root (Poisson), which is more than sampling at a fixed interval does.
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
    """Shares of the threads' time, of each state and of groups of states."""
    shares = shares_of_time(totals.fields)
    if not shares:
        return {}
    groups = {
        f"share_{group.id}": sum(shares.get(field, 0) for field in group.fields) for group in GROUPS
    }
    states = {share_name(field): share for field, share in shares.items()}
    return {name: Figure(share) for name, share in (states | groups).items()}


def _per_second(total: Figure, duration_ns: int) -> Figure:
    """The mean rate of a counter over the whole run."""
    if total.value is None:
        return total
    error = _rate(total.error, duration_ns)
    return Figure(_rate(total.value, duration_ns), error or 0.0, total.flaw)


def _rate(grown: float, duration_ns: int) -> float | None:
    rate = float(rates_per_s(np.array([0, duration_ns]), np.array([0.0, grown]))[1])
    return None if math.isnan(rate) else rate


def _operations(run: RunTables) -> tuple[float | None, float | None]:
    """Operations in the intervals of its policy, and how many a second of these.

    Operations by one signal are not those by another: with two signals there is no sum.
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
    """Energy in joules and mean power in watts.

    From the run's start (or its first reading) to its last reading. Counters are read about once a
    second, so up to a second at the end is missing.
    """
    machine = run.signals.column("machine")
    times = pc.struct_field(machine, "time_ns").to_pylist()
    uj = pc.struct_field(machine, "package_uj").to_pylist()
    gaps = pc.struct_field(machine, "gaps").to_pylist()
    readings: list[MachineCounters] = []
    for time_ns, package_uj, hole in zip(times, uj, gaps, strict=True):
        if time_ns is None or (readings and time_ns <= readings[-1].time_ns):
            continue  # The last reading again.
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
