"""Metrics of a comparison, with the direction of improvement."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import Better, CompareBasis, Provenance

from tidscope_backend.state_groups import GROUPS, LABELS, name_of_state


@dataclass(frozen=True)
class Metric:
    """A row of the table of differences, without numbers.

    Attributes:
        name: name of a catalogue field, or of a figure derived from fields.
        unit: unit from the catalogue; a rate's ends with /s.
        by_role: whether roles also have the metric.
        grows: whether the metric grows with the duration of a run, so that only runs of equal
            duration can be judged by it.
        rare: whether the row is omitted if it is 0 in all runs.
    """

    name: str
    label: str
    unit: str
    better: Better
    by_role: bool
    provenance: Provenance = "exact"
    grows: bool = False
    rare: bool = False


COUNTERS: dict[str, tuple[Better, Better]] = {
    # A higher CPU rate may mean more work; more CPU time for the same work is worse.
    "cpu_run_ns": ("neither", "less"),
    "user_cpu_us": ("neither", "less"),
    "system_cpu_us": ("neither", "less"),
    "cpu_delay_ns": ("less", "less"),
    "blkio_delay_ns": ("less", "less"),
    "voluntary_switches": ("neither", "neither"),
    "involuntary_switches": ("less", "less"),
    "minor_faults": ("neither", "less"),
    "major_faults": ("less", "less"),
    "disk_read_bytes": ("neither", "neither"),
    "disk_write_bytes": ("neither", "neither"),
    "net_read_bytes": ("neither", "neither"),
    "net_write_bytes": ("neither", "neither"),
    "net_read_calls": ("neither", "neither"),
    "net_write_calls": ("neither", "neither"),
}
"""Compared fields, with the direction of improvement as a rate and as a total."""

_CATALOGUE = {field.name: field for field in CATALOGUE.fields}


def _counter(name: str) -> Metric:
    field = _CATALOGUE[name]
    total = COUNTERS[name][1]
    return Metric(
        name, field.label, field.unit, total, by_role=True, provenance=field.provenance, grows=True
    )


_DURATION = Metric("duration_s", "Duration", "s", "neither", by_role=False)
_OPS = Metric("ops", "Operations", "count", "more", by_role=False, grows=True)
_THROUGHPUT = Metric("ops_per_s", "Throughput", "1/s", "more", by_role=False)
_MEAN_CORES = Metric("mean_cores", "Mean CPU use", "cores", "neither", by_role=True)
_THREADS = Metric("threads", "Threads", "count", "neither", by_role=True)
_PEAK_RSS = Metric(
    "peak_rss_bytes", "Peak resident memory", "bytes", "less", by_role=False, provenance="sampled"
)
_ENERGY = Metric(
    "energy_j", "Package energy", "J", "less", by_role=False, provenance="estimated", grows=True
)
_POWER = Metric(
    "power_w", "Mean package power", "W", "neither", by_role=False, provenance="estimated"
)
_EFFICIENCY = Metric(
    "ops_per_j", "Operations per joule", "1/J", "more", by_role=False, provenance="estimated"
)

WORSE_GROUPS = ("runnable",)
"""Groups of states in which less time is always better. Idle workers wait for locks, too."""


def _of_states() -> Iterator[Metric]:
    """Yield shares of the threads' time in each group of states and in each of its states."""
    for group in GROUPS:
        better: Better = "less" if group.id in WORSE_GROUPS else "neither"
        yield _share(f"share_{group.id}", group.label, better)
        for field in group.fields if len(group.fields) > 1 else ():
            state = LABELS[field].removeprefix(group.label).strip()
            yield _share(share_name(field), f"{group.label}: {state}", better)


def share_name(field: str) -> str:
    """Name of the share of time in the state of a field."""
    return f"share_state_{name_of_state(field)}"


def _share(name: str, label: str, better: Better) -> Metric:
    label = f"Share of time: {label}"
    return Metric(name, label, "share", better, by_role=True, rare=True)


STATES = tuple(_of_states())

TOTALS = (
    _DURATION,
    _OPS,
    _THROUGHPUT,
    _MEAN_CORES,
    *map(_counter, COUNTERS),
    *STATES,
    _THREADS,
    _PEAK_RSS,
    _ENERGY,
    _EFFICIENCY,
)
RATES = (
    _DURATION,
    _THROUGHPUT,
    *(
        replace(_counter(name), unit=f"{_counter(name).unit}/s", better=rate, grows=False)
        for name, (rate, _) in COUNTERS.items()
    ),
    *STATES,
    _THREADS,
    _PEAK_RSS,
    _POWER,
    _EFFICIENCY,
)


def metrics_of(basis: CompareBasis) -> tuple[Metric, ...]:
    """Return the rows of a comparison, in the order of the table."""
    return RATES if basis == "rates" else TOTALS
