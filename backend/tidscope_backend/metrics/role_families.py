"""Metric families by role and, in groups, by name of process. Pure.

Metrics of catalogue fields follow https://prometheus.io/docs/practices/naming/: base units, the
unit in the name, `_total` at the end of a counter.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
)
from prometheus_client.metrics_core import Metric
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import CatalogueField, RoleTotals
from tidscope_wire.states import STATE_FIELDS

from tidscope_backend.metrics.meters import Metered
from tidscope_backend.state_groups import name_of_state

LABELS = ["target", "process"]


class _Counter(NamedTuple):
    """Export of a column of the table `processes`.

    Attributes:
        name: name of the metric.
        text: help text.
        fields: thread fields, at least one of which the target must have.
        base: name of the base unit; "" if a number has none.
        divisor: divisor that converts values to base units.
    """

    name: str
    text: str
    fields: tuple[str, ...]
    base: str = ""
    divisor: int = 1


COUNTERS: Mapping[str, _Counter] = {
    "threads_ended": _Counter("exited_threads", "Threads that ended.", ()),
    "cpu_ns": _Counter("cpu_seconds", "On-CPU time.", ("cpu_run_ns",), "seconds", 10**9),
    "run_delay_ns": _Counter(
        "run_delay_seconds", "Run-queue delay.", ("cpu_delay_ns",), "seconds", 10**9
    ),
    "blkio_delay_ns": _Counter(
        "blkio_delay_seconds", "Block I/O delay.", ("blkio_delay_ns",), "seconds", 10**9
    ),
    "read_bytes": _Counter(
        "disk_read_bytes", "Bytes read from block devices.", ("disk_read_bytes",), "bytes"
    ),
    "write_bytes": _Counter(
        "disk_write_bytes", "Bytes written to block devices.", ("disk_write_bytes",), "bytes"
    ),
    "rx_bytes": _Counter("net_read_bytes", "Network bytes received.", ("net_read_bytes",), "bytes"),
    "tx_bytes": _Counter("net_write_bytes", "Network bytes sent.", ("net_write_bytes",), "bytes"),
    "minor_faults": _Counter("minor_faults", "Minor page faults.", ("minor_faults",)),
    "major_faults": _Counter("major_faults", "Major page faults.", ("major_faults",)),
    "switches": _Counter(
        "context_switches",
        "Context switches, voluntary and involuntary.",
        ("voluntary_switches", "involuntary_switches"),
    ),
}
OF_NAME = "All processes of the name, those that ended since attach included."


def group_families(targets: Sequence[Metered]) -> Iterator[Metric]:
    """Yield families of groups by process name; columns that a target lacks make no series."""
    live = GaugeMetricFamily(
        "tidscope_group_processes", "Processes of the name alive, in a group.", labels=LABELS
    )
    ended = CounterMetricFamily(
        "tidscope_group_ended_processes",
        "Processes of the name that ended since attach.",
        labels=LABELS,
    )
    threads = GaugeMetricFamily(
        "tidscope_group_threads", "Threads alive in the processes of the name.", labels=LABELS
    )
    sums = {
        column: CounterMetricFamily(
            f"tidscope_group_{one.name}", f"{one.text} {OF_NAME}", labels=LABELS, unit=one.base
        )
        for column, one in COUNTERS.items()
    }
    for target, meter in targets:
        fields = set(target.fields)
        for name, processes in meter.processes.items():
            labels = [target.id, name]
            live.add_metric(labels, processes.live)
            ended.add_metric(labels, processes.ended)
            threads.add_metric(labels, processes.threads)
            for column, one in COUNTERS.items():
                if not one.fields or fields.intersection(one.fields):
                    raw = processes.totals[column]
                    sums[column].add_metric(labels, raw / one.divisor if one.base else raw)
    yield from (live, ended, threads, *sums.values())


class Unit(NamedTuple):
    """A unit of the catalogue, in Prometheus' terms.

    Attributes:
        suffix: suffix of names in the catalogue, and its replacement.
        base: name of the base unit; "" if a number has none.
        divisor: divisor that converts values to base units.
    """

    suffix: tuple[str, str]
    base: str
    divisor: int


UNITS = {
    "ns": Unit(("_ns", "_seconds"), "seconds", 1_000_000_000),
    "us": Unit(("_us", "_seconds"), "seconds", 1_000_000),
    "bytes": Unit(("_bytes", "_bytes"), "bytes", 1),
    # blkio_count accompanies blkio_delay_ns; `_count` is reserved for histograms and summaries.
    "count": Unit(("_count", "_delays"), "", 1),
}
"""Units of the catalogue."""
OF_ROLE = "All threads of the role, those that ended since attach included."


class FieldMetric(NamedTuple):
    """Export of a field of the catalogue.

    Attributes:
        field: name in the catalogue.
        name: name of the metric, without the `_total` of counters.
        text: the help text.
        base: name of the base unit; "" if there is none.
        divisor: divisor that converts values to base units.
    """

    field: str
    name: str
    text: str
    base: str
    divisor: int

    def value(self, raw: int) -> float:
        """Return the field's value in the base unit."""
        return raw / self.divisor if self.divisor > 1 else raw


def metric_of(field: CatalogueField) -> FieldMetric:
    """Return the metric of a field: summed by role for threads, unchanged for processes.

    Raises:
        KeyError: the unit is not in `UNITS`.
    """
    unit = UNITS[field.unit]
    own, ours = unit.suffix
    stem = field.name.removesuffix(own) + ours if field.name.endswith(own) else field.name
    text = f"{field.label}. {field.meaning}"
    if field.scope == "thread":
        text = f"{text} {OF_ROLE}"
    return FieldMetric(field.name, f"tidscope_{field.scope}_{stem}", text, unit.base, unit.divisor)


OTHER = "other"
"""Label of the roles beyond the limit on their number."""
ROLE_FIELDS = [
    metric_of(f)
    for f in CATALOGUE.fields
    if f.scope == "thread" and f.kind == "counter" and f.name not in STATE_FIELDS
]


def role_families(targets: list[Metered]) -> Iterator[Metric]:
    folded = GaugeMetricFamily(
        "tidscope_target_roles_folded",
        'Whether it has more roles than are reported by name; then role="other" is the rest.',
        labels=["target"],
    )
    live = GaugeMetricFamily(
        "tidscope_role_threads", "Threads of the role alive.", labels=["target", "role"]
    )
    exited = CounterMetricFamily(
        "tidscope_role_exited_threads",
        "Threads that ended in the role since attach.",
        labels=["target", "role"],
    )
    sums = {
        metric.field: CounterMetricFamily(
            metric.name, metric.text, labels=["target", "role"], unit=metric.base
        )
        for metric in ROLE_FIELDS
    }
    states = CounterMetricFamily(
        "tidscope_thread_state_seconds",
        f"Time of threads in each state, by the ledger of the collector. {OF_ROLE}",
        labels=["target", "role", "state"],
        unit="seconds",
    )
    for target, meter in targets:
        if meter.roles:
            folded.add_metric([target.id], any(totals.role is None for totals in meter.roles))
        for role, totals in _by_label(meter.roles).items():
            labels = [target.id, role]
            live.add_metric(labels, totals.live)
            exited.add_metric(labels, totals.exited)
            for metric in ROLE_FIELDS:
                raw = totals.totals.get(metric.field)
                if raw is not None:
                    sums[metric.field].add_metric(labels, metric.value(raw))
            for field in STATE_FIELDS:
                ns = totals.totals.get(field)
                # States in which no thread has been make no series.
                if ns:
                    states.add_metric([*labels, name_of_state(field)], ns / 1e9)
    yield folded
    yield live
    yield exited
    yield states
    yield from sums.values()


def _by_label(roles: Iterable[RoleTotals]) -> dict[str, RoleTotals]:
    """Return roles by label; a role named like the rest is added to the rest."""
    found: dict[str, RoleTotals] = {}
    for role in roles:
        label = OTHER if role.role is None else role.role
        known = found.get(label)
        if known is None:
            found[label] = role
            continue
        totals = dict(known.totals)
        for name, value in role.totals.items():
            totals[name] = totals.get(name, 0) + value
        found[label] = RoleTotals(
            role=None,
            live=known.live + role.live,
            exited=known.exited + role.exited,
            totals=totals,
        )
    return found
