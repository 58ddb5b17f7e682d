"""From facts to metric families. Pure. What is not known makes no series."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    SummaryMetricFamily,
)
from prometheus_client.metrics_core import Metric
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import RoleTotals, Target

from tidscope_backend import VERSION
from tidscope_backend.connections.table import ConnectionCounts
from tidscope_backend.metrics.facts import Facts, RunFacts, StreamFacts
from tidscope_backend.metrics.meters import HostMeter, TargetMeter
from tidscope_backend.metrics.naming import metric_of

OTHER = "other"
"""Label of the roles beyond the bound on their number."""

ROLE_FIELDS = [metric_of(f) for f in CATALOGUE.fields if f.scope == "thread"]
PROCESS_FIELDS = [metric_of(f) for f in CATALOGUE.fields if f.scope == "process"]

Number = float | None
Metered = tuple[Target, TargetMeter]


def families(facts: Facts) -> Iterator[Metric]:
    """All families, each once."""
    known = [(target, meter) for target, meter in facts.targets if meter is not None]
    return chain(
        _of_backend(facts.stream, facts.states),
        _of_connections(facts.connections),
        _of_runs(facts.runs),
        _of_collectors(facts),
        _of_targets(facts),
        _of_streams(known),
        _of_processes(known),
        _of_roles(known),
    )


def _of_backend(stream: StreamFacts, states: Mapping[str, int]) -> Iterator[Metric]:
    yield _info("tidscope_build", "This backend.", [{"version": VERSION}])
    yield GaugeMetricFamily("tidscope_collectors", "Collectors connected.", stream.collectors)
    yield GaugeMetricFamily("tidscope_pages", "Pages connected.", stream.pages)
    targets = GaugeMetricFamily("tidscope_targets", "Targets known.", labels=["state"])
    for state, count in states.items():
        targets.add_metric([state], count)
    yield targets
    yield CounterMetricFamily("tidscope_frames", "Frames taken in.", stream.frames)
    yield CounterMetricFamily(
        "tidscope_frame_bytes", "Bytes of the frames taken in.", stream.frame_bytes, unit="bytes"
    )
    yield CounterMetricFamily(
        "tidscope_frames_coalesced",
        "Frames merged for slow pages; their totals are not lost.",
        stream.coalesced,
    )
    yield CounterMetricFamily(
        "tidscope_frames_dropped", "Frames that a page never got in any form.", stream.dropped
    )
    yield CounterMetricFamily(
        "tidscope_frames_lost", "Frames lost between collector and backend.", stream.lost
    )
    yield CounterMetricFamily(
        "tidscope_frame_gaps", "Times that frames were lost, one or many at once.", stream.gaps
    )
    yield GaugeMetricFamily("tidscope_queued_frames", "Frames waiting for pages.", stream.queued)
    yield GaugeMetricFamily(
        "tidscope_history_bytes",
        "Bytes of frames held so that a page that opens sees the recent past.",
        stream.history_bytes,
        unit="bytes",
    )
    yield CounterMetricFamily(
        "tidscope_history_frames_coalesced",
        "Frames of the recent past merged into later ones.",
        stream.history_coalesced,
    )
    yield CounterMetricFamily(
        "tidscope_history_frames_dropped",
        "Frames that left the recent past.",
        stream.history_dropped,
    )
    yield CounterMetricFamily(
        "tidscope_page_notices_dropped",
        "Losses and problems that were not reported to a page, because too many waited.",
        stream.notices_dropped,
    )
    yield CounterMetricFamily(
        "tidscope_otlp_exports", "Exports that an OpenTelemetry collector took.", stream.otlp_sent
    )
    yield CounterMetricFamily(
        "tidscope_otlp_failed_exports",
        "Exports that did not arrive; the next one includes what they held.",
        stream.otlp_failed,
    )


def _of_connections(counts: ConnectionCounts) -> Iterator[Metric]:
    open_now = GaugeMetricFamily("tidscope_connections", "Open connections.", labels=["session"])
    open_now.add_metric(["yes"], counts.authenticated)
    open_now.add_metric(["no"], counts.open - counts.authenticated)
    yield open_now
    for name, text, count in (
        (
            "tidscope_connections_evicted",
            "Connections without a session that were ended to make room for others.",
            counts.evicted,
        ),
        (
            "tidscope_connections_refused",
            "Connections that were not accepted, because there was no room.",
            counts.refused,
        ),
        (
            "tidscope_connections_timed_out",
            "Connections that were ended because the peer took too long.",
            counts.timed_out,
        ),
        (
            "tidscope_descriptor_shortages",
            "Times that no connection was accepted for want of a file descriptor.",
            counts.descriptor_shortages,
        ),
    ):
        yield CounterMetricFamily(name, text, count)


def _of_runs(runs: RunFacts) -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "tidscope_runs_recording", "Runs that are being recorded.", runs.recording
    )
    yield CounterMetricFamily("tidscope_run_frames", "Frames written to runs.", runs.frames)
    yield CounterMetricFamily(
        "tidscope_run_frame_bytes",
        "Bytes of the frames written to runs.",
        runs.frame_bytes,
        unit="bytes",
    )
    yield CounterMetricFamily(
        "tidscope_run_frames_refused",
        "Frames that could not be written, each of which ended a run.",
        runs.refused,
    )
    yield CounterMetricFamily(
        "tidscope_run_frames_overflowed",
        "Frames not written to a run because too many waited for the disk.",
        runs.overflowed,
    )
    yield CounterMetricFamily(
        "tidscope_run_frames_lost", "Frames missing in runs, for whatever reason.", runs.lost
    )
    yield GaugeMetricFamily(
        "tidscope_run_queued_bytes",
        "Memory of frames that wait to be written to runs.",
        runs.queued_bytes,
        unit="bytes",
    )


def _of_collectors(facts: Facts) -> Iterator[Metric]:
    yield _info(
        "tidscope_collector",
        "The collector of a host.",
        [
            {
                "host": host.id,
                "name": host.name,
                "kernel": host.kernel,
                "version": host.collector.version,
                "source": host.collector.source,
            }
            for host, _ in facts.hosts
        ],
    )
    up = GaugeMetricFamily(
        "tidscope_collector_up", "Whether the host's collector is connected.", labels=["host"]
    )
    for host, _ in facts.hosts:
        up.add_metric([host.id], host.connected)
    yield up
    metered = [(host.id, meter) for host, meter in facts.hosts if meter is not None]

    def counter(name: str, text: str, number: Callable[[HostMeter], int]) -> Metric:
        family = CounterMetricFamily(name, text, labels=["host"])
        for host_id, meter in metered:
            family.add_metric([host_id], number(meter))
        return family

    def gauge(name: str, text: str, number: Callable[[HostMeter], Number], unit: str) -> Metric:
        family = GaugeMetricFamily(name, text, labels=["host"], unit=unit)
        for host_id, meter in metered:
            value = number(meter)
            if value is not None:
                family.add_metric([host_id], value)
        return family

    yield counter(
        "tidscope_collector_exit_records_received",
        "Exit records that the kernel sent and the collector received, of all processes.",
        lambda meter: meter.exit_records_received,
    )
    yield counter(
        "tidscope_collector_exit_records_lost",
        "Exit records that the kernel dropped because the collector's sockets were full, exact.",
        lambda meter: meter.exit_records_lost,
    )
    yield gauge(
        "tidscope_collector_cpu_ratio",
        "CPU of the collector process over its last second; 1 is one core.",
        lambda meter: None if meter.cpu_percent is None else meter.cpu_percent / 100,
        "ratio",
    )
    yield gauge(
        "tidscope_collector_measuring_ratio",
        "What of it sampling and sending took.",
        lambda meter: None if meter.overhead_percent is None else meter.overhead_percent / 100,
        "ratio",
    )
    yield gauge(
        "tidscope_collector_budget_ratio",
        "What they may take before rates are lowered; 0: there is no limit.",
        lambda meter: meter.budget_percent / 100,
        "ratio",
    )
    yield gauge(
        "tidscope_collector_unsent_frames",
        "Frames that it has not sent yet.",
        lambda meter: meter.unsent_frames,
        "",
    )
    yield gauge(
        "tidscope_collector_replay_bytes",
        "Bytes of frames that the collector holds for replay.",
        lambda meter: meter.replay_bytes,
        "bytes",
    )


def _of_targets(facts: Facts) -> Iterator[Metric]:
    yield _info(
        "tidscope_target",
        "A process that was attached to, to join with by the label target.",
        [
            {
                "target": target.id,
                "host": target.host,
                "pid": str(target.process.pid),
                "process": target.process.name,
                "runtime": target.process.runtime,
                "source": target.source.layout or target.source.kind,
            }
            for target, _ in facts.targets
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
    for target, _ in facts.targets:
        up.add_metric([target.id], target.state == "attached")
        rate.add_metric([target.id], target.rate_hz)
    yield up
    yield rate
    yield from _of_steering(facts)


def _of_steering(facts: Facts) -> Iterator[Metric]:
    """What policies do to targets."""
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
    for target, _ in facts.targets:
        if target.steering is not None:
            labels = [target.id, target.steering.policy]
            size.add_metric(labels, target.steering.size)
            decisions.add_metric(labels, target.steering.decisions)
    yield size
    yield decisions


def _of_streams(targets: list[Metered]) -> Iterator[Metric]:
    """How well each target is sampled."""
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
    # Not a counter: a late exit record makes one exact that was not.
    yield _gauge(
        "tidscope_target_inexact_exits",
        "Those of them without an exit record: what they did after their last sample is missing.",
        targets,
        lambda meter: meter.exited.inexact,
        "",
    )
    for metric in PROCESS_FIELDS:
        family = GaugeMetricFamily(metric.name, metric.text, labels=["target"], unit=metric.base)
        for target, meter in targets:
            raw = meter.process.model_dump().get(metric.field)
            if raw is not None:
                family.add_metric([target.id], metric.value(raw))
        yield family


def _of_roles(targets: list[Metered]) -> Iterator[Metric]:
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
    yield folded
    yield live
    yield exited
    yield from sums.values()


def _by_label(roles: Iterable[RoleTotals]) -> dict[str, RoleTotals]:
    """Roles by the value of their label; a role that is called like the rest is added to it."""
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


def _info(name: str, text: str, values: Iterable[Mapping[str, str]]) -> Metric:
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
