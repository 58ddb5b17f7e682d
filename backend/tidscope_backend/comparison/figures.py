"""The figures of one run that a comparison holds against those of others."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.energy import energy_between
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import Better, MachineCounters, SteeringDecided

from tidscope_backend.comparison.tables import RunTables
from tidscope_backend.comparison.totals import Totals


@dataclass(frozen=True)
class Metric:
    """A row of the table of differences, without its numbers.

    Attributes:
        name: of a field of the catalogue, or of a figure derived from fields.
        by_role: whether a role has it, too.
    """

    name: str
    label: str
    unit: str
    better: Better
    by_role: bool


FIELDS: dict[str, Better] = {
    "cpu_run_ns": "less",
    "user_cpu_us": "less",
    "system_cpu_us": "less",
    "cpu_delay_ns": "less",
    "blkio_delay_ns": "less",
    "voluntary_switches": "neither",
    "involuntary_switches": "less",
    "minor_faults": "less",
    "major_faults": "less",
    "disk_read_bytes": "neither",
    "disk_write_bytes": "neither",
    "net_read_bytes": "neither",
    "net_write_bytes": "neither",
    "net_read_calls": "neither",
    "net_write_calls": "neither",
}
"""Fields that are compared, and which way is an improvement where the work is the same."""

_CATALOGUE = {field.name: field for field in CATALOGUE.fields}

METRICS = (
    Metric("duration_s", "Duration", "s", "neither", by_role=False),
    Metric("ops", "Operations", "count", "more", by_role=False),
    Metric("ops_per_s", "Operations a second", "1/s", "more", by_role=False),
    Metric("mean_cores", "Cores used, mean", "cores", "neither", by_role=True),
    *(
        Metric(name, _CATALOGUE[name].label, _CATALOGUE[name].unit, better, by_role=True)
        for name, better in FIELDS.items()
    ),
    Metric("threads", "Threads that lived", "count", "neither", by_role=True),
    Metric("peak_rss_bytes", "Resident memory, peak", "bytes", "less", by_role=False),
    Metric("energy_j", "Energy of the packages", "J", "less", by_role=False),
    Metric("ops_per_j", "Operations a joule", "1/J", "more", by_role=False),
)
"""In the order of the table."""

Figures = Mapping[str, float | None]
"""Metric to its value; None: not known."""


def figures_of_role(totals: Totals | None, duration_ns: int) -> Figures:
    """Figures of the threads of a role; none is known of a role that is not there."""
    if totals is None:
        return {}
    cpu_ns = totals.fields.get("cpu_run_ns")
    return {
        **{name: totals.fields.get(name) for name in FIELDS},
        "threads": totals.lives,
        "mean_cores": None if cpu_ns is None or not duration_ns else cpu_ns / duration_ns,
    }


def figures_of_process(run: RunTables, totals: Totals) -> Figures:
    """Figures of the whole process."""
    ops, per_s = _operations(run)
    joules = _joules(run)
    return {
        **figures_of_role(totals, run.duration_ns),
        "duration_s": run.duration_ns / 1e9,
        "ops": ops,
        "ops_per_s": per_s,
        "peak_rss_bytes": _peak_rss(run.signals),
        "energy_j": joules,
        "ops_per_j": None if ops is None or not joules else ops / joules,
    }


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


def _joules(run: RunTables) -> float | None:
    """Energy from the run's start (or the first reading in it) to the last reading in it.

    The counters are read about once a second, so up to a second at the end is not in it.
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
        return None
    from_ns = max(run.manifest.from_ns, readings[0].time_ns)
    to_ns = min(run.manifest.to_ns, readings[-1].time_ns)
    if to_ns <= from_ns:
        return None
    microjoules = energy_between(readings, from_ns, to_ns)
    return None if microjoules is None else microjoules / 1e6
