"""Metric families of targets. Pure. An unknown value makes no series."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    SummaryMetricFamily,
)
from prometheus_client.metrics_core import Metric
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import Target

from tidscope_backend.hidden_arguments import target_without
from tidscope_backend.metrics.meters import Metered, TargetMeter
from tidscope_backend.metrics.pools import pool_families
from tidscope_backend.metrics.role_families import group_families, metric_of, role_families

PROCESS_FIELDS = [metric_of(f) for f in CATALOGUE.fields if f.scope == "process"]


def target_families(targets: Sequence[tuple[Target, TargetMeter | None]]) -> Iterator[Metric]:
    """Yield the families of targets, each once."""
    known = [(target, meter) for target, meter in targets if meter is not None]
    return chain(
        _of_targets([target for target, _ in targets]),
        _of_streams(known),
        _of_processes(known),
        role_families(known),
        group_families(known),
        pool_families((target.id, meter.pools) for target, meter in known),
    )


def _of_targets(targets: Sequence[Target]) -> Iterator[Metric]:
    yield info_family(
        "tidscope_target",
        "A process that was attached to, to join with by the label target.",
        [
            {
                "target": target.id,
                "host": target.host,
                "pid": str(target.process.pid),
                "process": target.process.name,
                "runtime": target.process.runtime,
                "group": target.group.name if target.group else "",
                "group_kind": target.group.kind if target.group else "",
                "source": target.source.layout or target.source.kind,
            }
            for target in map(target_without, targets)
        ],
    )
    up = GaugeMetricFamily(
        "tidscope_target_up",
        "1 while it is sampled, 0 after it has ended or was detached.",
        labels=["target"],
    )
    rate = GaugeMetricFamily(
        "tidscope_target_rate_hertz", "Samples a second, as set.", labels=["target"], unit="hertz"
    )
    for target in targets:
        up.add_metric([target.id], target.state == "attached")
        rate.add_metric([target.id], target.rate_hz)
    yield up
    yield rate
    yield from _of_steering(targets)


def _of_steering(targets: Sequence[Target]) -> Iterator[Metric]:
    """Yield pool sizes and policy decisions."""
    size = GaugeMetricFamily(
        "tidscope_steering_pool_size",
        "Current size of a pool that a policy steers.",
        labels=["target", "policy"],
    )
    decisions = CounterMetricFamily(
        "tidscope_steering_decisions",
        "Decisions that the policy has taken since it began.",
        labels=["target", "policy"],
    )
    for target in targets:
        if target.steering is not None:
            labels = [target.id, target.steering.policy]
            size.add_metric(labels, target.steering.size)
            decisions.add_metric(labels, target.steering.decisions)
    yield size
    yield decisions
    yield from _of_divisions(targets)


def _of_divisions(targets: Sequence[Target]) -> Iterator[Metric]:
    """Yield the cores that arbiters assign to programs."""
    names = ["target", "pid", "process"]
    cores = GaugeMetricFamily(
        "tidscope_division_cores",
        "Cores that the arbiter gives a program; 0 while it does not answer.",
        labels=names,
    )
    share = GaugeMetricFamily(
        "tidscope_division_share", "Weight of a program among those of its arbiter.", labels=names
    )
    for target in targets:
        steered = [(one.pid, one.name, one.steering) for one in target.programs or []]
        if target.steering is not None:
            steered.append((target.process.pid, target.process.name, target.steering))
        for pid, name, steering in steered:
            if steering.division is not None:
                labels = [target.id, str(pid), name]
                cores.add_metric(labels, steering.division.cores)
                share.add_metric(labels, steering.division.share)
    yield cores
    yield share


def _of_streams(targets: list[Metered]) -> Iterator[Metric]:
    """Yield the sampling quality of each target."""
    yield _gauge(
        "tidscope_target_last_sample_timestamp_seconds",
        "When its newest sample was taken, Unix time.",
        targets,
        lambda meter: meter.unix_us / 1e6,
        "seconds",
    )
    yield _gauge(
        "tidscope_target_effective_rate_hertz",
        "Effective sampling rate; below the requested one when the CPU budget is spent.",
        targets,
        lambda meter: meter.health.effective_hz,
        "hertz",
    )
    yield _counter(
        "tidscope_target_frames", "Its frames taken in.", targets, lambda meter: meter.frames
    )
    yield _counter(
        "tidscope_target_missed_deadlines",
        "Samples that were due since attach and were not taken in time.",
        targets,
        lambda meter: meter.health.missed_deadlines,
    )
    yield _summary(
        "tidscope_target_sample_duration_seconds",
        "Wall time that taking a sample took the collector.",
        targets,
        lambda meter: meter.sample_us,
    )
    yield _summary(
        "tidscope_target_sample_lateness_seconds",
        "How long after its deadline a sample started.",
        targets,
        lambda meter: meter.late_us,
    )


def _of_processes(targets: list[Metered]) -> Iterator[Metric]:
    energy = CounterMetricFamily(
        "tidscope_machine_energy_joules",
        "Energy of the machine's packages since the target was attached to (RAPL).",
        labels=["target"],
        unit="joules",
    )
    for target, meter in targets:
        if meter.machine.package_uj is not None:
            energy.add_metric([target.id], meter.machine.package_uj / 1e6)
    yield energy
    yield _gauge(
        "tidscope_target_threads", "Threads alive.", targets, lambda meter: meter.threads, ""
    )
    yield _counter(
        "tidscope_target_exited_threads",
        "Threads that ended since attach.",
        targets,
        lambda meter: meter.exited.threads,
    )
    # Not a counter: a late exit record can turn an inexact exit into an exact one.
    yield _gauge(
        "tidscope_target_inexact_exits",
        "Those of them without an exit record: what they did after their last sample is missing.",
        targets,
        lambda meter: meter.exited.inexact,
        "",
    )
    yield from _of_limits(targets)
    for metric in PROCESS_FIELDS:
        family = GaugeMetricFamily(metric.name, metric.text, labels=["target"], unit=metric.base)
        for target, meter in targets:
            raw = meter.process.model_dump().get(metric.field)
            if raw is not None:
                family.add_metric([target.id], metric.value(raw))
        yield family


def _of_limits(targets: list[Metered]) -> Iterator[Metric]:
    """Yield the effect of the control group's CPU limit on a target; none without a limit."""
    limit = GaugeMetricFamily(
        "tidscope_target_cpu_limit_cores",
        "Cores that the process may use on average: the smallest cpu.max of its control groups.",
        labels=["target"],
        unit="cores",
    )
    periods = CounterMetricFamily(
        "tidscope_target_cpu_limit_periods",
        "Periods of that limit in which its control group ran, since attach.",
        labels=["target"],
    )
    throttled = CounterMetricFamily(
        "tidscope_target_cpu_limit_throttled_periods",
        "Those of them that ended throttled.",
        labels=["target"],
    )
    seconds = CounterMetricFamily(
        "tidscope_target_cpu_limit_throttled_seconds",
        "Time that the control group was throttled, since attach.",
        labels=["target"],
        unit="seconds",
    )
    for target, meter in targets:
        process = meter.process
        for family, value, divisor in (
            (limit, process.cpu_limit, 1),
            (periods, process.cgroup_periods, 1),
            (throttled, process.cgroup_throttled, 1),
            (seconds, process.cgroup_throttled_us, 1e6),
        ):
            if value is not None:
                family.add_metric([target.id], value / divisor)
    yield from (limit, periods, throttled, seconds)


def info_family(name: str, text: str, values: Iterable[Mapping[str, str]]) -> Metric:
    """Return a family whose labels are facts; each mapping makes a series."""
    family = InfoMetricFamily(name, text)
    for value in values:
        family.add_metric([], dict(value))
    return family


def _counter(
    name: str, text: str, targets: Iterable[Metered], number: Callable[[TargetMeter], int]
) -> Metric:
    family = CounterMetricFamily(name, text, labels=["target"])
    for target, meter in targets:
        family.add_metric([target.id], number(meter))
    return family


def _gauge(
    name: str,
    text: str,
    targets: Iterable[Metered],
    number: Callable[[TargetMeter], float],
    unit: str,
) -> Metric:
    family = GaugeMetricFamily(name, text, labels=["target"], unit=unit)
    for target, meter in targets:
        family.add_metric([target.id], number(meter))
    return family


def _summary(
    name: str, text: str, targets: Iterable[Metered], sum_us: Callable[[TargetMeter], int]
) -> Metric:
    family = SummaryMetricFamily(name, text, labels=["target"], unit="seconds")
    for target, meter in targets:
        family.add_metric([target.id], count_value=meter.frames, sum_value=sum_us(meter) / 1e6)
    return family
