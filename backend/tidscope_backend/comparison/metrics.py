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


COUNTERS = (
    "cpu_run_ns",
    "user_cpu_us",
    "system_cpu_us",
    "cpu_delay_ns",
    "blkio_delay_ns",
    "voluntary_switches",
    "involuntary_switches",
    "minor_faults",
    "major_faults",
    "disk_read_bytes",
    "disk_write_bytes",
    "net_read_bytes",
    "net_write_bytes",
    "net_read_calls",
    "net_write_calls",
)
"""Compared fields. None is better or worse by itself: a program that does more uses more."""

_CATALOGUE = {field.name: field for field in CATALOGUE.fields}


def _counter(name: str) -> Metric:
    field = _CATALOGUE[name]
    return Metric(
        name,
        field.label,
        field.unit,
        "neither",
        by_role=True,
        provenance=field.provenance,
        grows=True,
    )


_DURATION = Metric("duration_s", "Duration", "s", "neither", by_role=False)
_OPS = Metric("ops", "Operations", "count", "more", by_role=False, grows=True)
_THROUGHPUT = Metric("ops_per_s", "Throughput", "1/s", "more", by_role=False)
_MEAN_CORES = Metric("mean_cores", "Mean CPU use", "cores", "neither", by_role=True)
_THREADS = Metric("threads", "Threads", "count", "neither", by_role=True)
_PEAK_RSS = Metric(
    "peak_rss_bytes",
    "Peak resident memory",
    "bytes",
    "neither",
    by_role=False,
    provenance="sampled",
)
_ENERGY = Metric(
    "energy_j", "Package energy", "J", "neither", by_role=False, provenance="estimated", grows=True
)
_POWER = Metric(
    "power_w", "Mean package power", "W", "neither", by_role=False, provenance="estimated"
)
_EFFICIENCY = Metric(
    "ops_per_j", "Operations per joule", "1/J", "more", by_role=False, provenance="estimated"
)


def _of_states() -> Iterator[Metric]:
    """Yield shares of the threads' time in each group of states and in each of its states."""
    for group in GROUPS:
        yield _share(f"share_{group.id}", group.label)
        for field in group.fields if len(group.fields) > 1 else ():
            state = LABELS[field].removeprefix(group.label).strip()
            yield _share(share_name(field), f"{group.label}: {state}")


def share_name(field: str) -> str:
    """Name of the share of time in the state of a field."""
    return f"share_state_{name_of_state(field)}"


def _share(name: str, label: str) -> Metric:
    label = f"Share of time: {label}"
    return Metric(name, label, "share", "neither", by_role=True, rare=True)


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
    *(replace(_counter(name), unit=f"{_counter(name).unit}/s", grows=False) for name in COUNTERS),
    *STATES,
    _THREADS,
    _PEAK_RSS,
    _POWER,
    _EFFICIENCY,
)


def metrics_of(basis: CompareBasis) -> tuple[Metric, ...]:
    """Return the rows of a comparison, in the order of the table."""
    return RATES if basis == "rates" else TOTALS
