"""Facts about the backend gathered for one scrape, and their metric families."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
)
from prometheus_client.metrics_core import Metric
from tidscope_wire.generated.models import Host, Target

from tidscope_backend import VERSION
from tidscope_backend.connections.table import ConnectionCounts
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.metrics.meters import HostMeter, Meters, TargetMeter
from tidscope_backend.metrics.relay_families import relay_families
from tidscope_backend.metrics.target_families import info_family, target_families
from tidscope_backend.nats_link.relay_counts import RelayCounts
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.ring.status import RingStatus
from tidscope_backend.stream.fanout import Fanout

Number = float | None


@dataclass(frozen=True)
class StreamFacts:
    """Counts of the backend's streams; frames are counted since the backend started."""

    collectors: int = 0
    subscribers: int = 0
    frames: int = 0
    frame_bytes: int = 0
    coalesced: int = 0
    dropped: int = 0
    lost: int = 0
    gaps: int = 0
    queued: int = 0
    history_bytes: int = 0
    history_coalesced: int = 0
    history_dropped: int = 0
    notices_dropped: int = 0
    otlp_sent: int = 0
    otlp_failed: int = 0


@dataclass(frozen=True)
class RunFacts:
    """Numbers of runs being recorded; frames are counted since the backend started."""

    recording: int = 0
    frames: int = 0
    frame_bytes: int = 0
    refused: int = 0
    queued_bytes: int = 0
    overflowed: int = 0
    lost: int = 0


@dataclass(frozen=True)
class Facts:
    """All facts reported in one scrape; immutable.

    Attributes:
        hosts: hosts, each with its collector's health after the first sample.
        targets: targets, each with its meter; ended targets for a limited time.
        states: number of targets by state.
        runs: counts of active recordings.
        connections: connections of the server.
        debug_files: debug files that were asked for, by outcome.
        role_rows: rows of totals by role that are kept, by outcome.
        role_parts_waiting: parts of totals by role that wait for their store.
        ring: what the process says that writes the ring; None without one.
        relays: counts of hosts' relays over NATS, by the name of the host's key.
    """

    stream: StreamFacts
    hosts: tuple[tuple[Host, HostMeter | None], ...]
    targets: tuple[tuple[Target, TargetMeter | None], ...]
    states: dict[str, int]
    runs: RunFacts = RunFacts()
    connections: ConnectionCounts = field(default_factory=ConnectionCounts)
    debug_files: Mapping[str, int] = field(default_factory=dict)
    role_rows: Mapping[str, int] = field(default_factory=dict)
    role_parts_waiting: int = 0
    ring: RingStatus | None = None
    relays: Mapping[str, RelayCounts] = field(default_factory=dict)


def families(facts: Facts) -> Iterator[Metric]:
    """Yield all families, each once."""
    return chain(
        _of_backend(facts.stream, facts.states),
        _by_outcome(
            "tidscope_debug_files",
            "Debug files that debuginfod servers were asked for, by outcome.",
            facts.debug_files,
        ),
        _by_outcome(
            "tidscope_role_rows",
            "Rows of totals by role: taken to be kept, lost as they could not be written or sent, "
            "and refused as a part cannot have them.",
            facts.role_rows,
        ),
        (
            GaugeMetricFamily(
                "tidscope_role_parts_waiting",
                "Parts of totals by role that wait on this machine for their store.",
                facts.role_parts_waiting,
            ),
        ),
        _of_ring(facts.ring),
        relay_families(facts.relays),
        _of_connections(facts.connections),
        _of_runs(facts.runs),
        _of_collectors(facts),
        target_families(facts.targets),
    )


def _of_ring(ring: RingStatus | None) -> Iterator[Metric]:
    if ring is None:
        return
    yield GaugeMetricFamily("tidscope_ring_bytes", "Bytes of the ring on disk.", ring.bytes)
    yield GaugeMetricFamily("tidscope_ring_bound_bytes", "Bound on them.", ring.max_bytes)
    full = "Whether frames of the ring are lost now, as they cannot be written."
    yield GaugeMetricFamily("tidscope_ring_disk_full", full, ring.disk_full)
    yield from _by_outcome(
        "tidscope_ring_frames",
        "Frames for the ring: written, and missing in it.",
        {"written": ring.frames, "lost": ring.lost},
    )
    yield from _by_outcome(
        "tidscope_ring_parts_deleted",
        "Parts of the ring deleted: beyond its bounds, and as the disk was full.",
        {"bound": ring.evicted, "disk_full": ring.evicted_early},
    )
    unsealed = "Failed attempts to seal parts of the ring."
    yield CounterMetricFamily("tidscope_ring_seals_failed", unsealed, ring.unsealed)


def _of_backend(stream: StreamFacts, states: Mapping[str, int]) -> Iterator[Metric]:
    yield info_family("tidscope_build", "This backend.", [{"version": VERSION}])
    yield GaugeMetricFamily("tidscope_collectors", "Collectors connected.", stream.collectors)
    yield GaugeMetricFamily("tidscope_pages", "Pages connected.", stream.subscribers)
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


def _by_outcome(name: str, text: str, outcomes: Mapping[str, int]) -> Iterator[Metric]:
    family = CounterMetricFamily(name, text, labels=["outcome"])
    for outcome, count in sorted(outcomes.items()):
        family.add_metric([outcome], count)
    yield family


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
    yield info_family(
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
        "Exit records that the collector received; from Linux 5.19 on of attached processes only.",
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


ENDED_SECONDS = 300.0
"""Time an ended target is reported after its last frame, in seconds, so that its last values are
scraped.

Equals Prometheus' lookback period.
"""


@dataclass
class ExportCounts:
    """Exports to OpenTelemetry since the backend started."""

    sent: int = 0
    failed: int = 0


def run_facts(recorder: Recorder) -> RunFacts:
    """Gather the counts of runs."""
    return RunFacts(
        recording=len(recorder.recordings),
        frames=recorder.writer.frames,
        frame_bytes=recorder.writer.frame_bytes,
        queued_bytes=recorder.writer.queued_bytes,
        overflowed=recorder.writer.overflowed,
        lost=recorder.lost,
        refused=recorder.refused,
    )


def gather(
    registry: HostRegistry,
    links: CollectorLinks,
    fanout: Fanout,
    meters: Meters,
    runs: RunFacts = RunFacts(),
    exports: ExportCounts | None = None,
    connections: ConnectionCounts | None = None,
    debug_files: Mapping[str, int] = MappingProxyType({}),
    role_rows: Mapping[str, int] = MappingProxyType({}),
    role_parts_waiting: int = 0,
    ring: RingStatus | None = None,
    relays: Mapping[str, RelayCounts] = MappingProxyType({}),
) -> Facts:
    """Gather all facts at one instant, in the thread that changes them."""
    now = meters.clock()
    states = {"attached": 0, "exited": 0, "detached": 0}
    targets = []
    for target in registry.targets:
        states[target.state] += 1
        meter = meters.targets.get(target.id)
        fresh = meter is not None and now - meter.seen_s <= ENDED_SECONDS
        if fresh or target.state == "attached":
            targets.append((target, meter))
    return Facts(
        stream=StreamFacts(
            collectors=len(links),
            subscribers=fanout.subscribers,
            frames=fanout.frames,
            frame_bytes=fanout.frame_bytes,
            coalesced=fanout.coalesced,
            dropped=fanout.dropped,
            lost=fanout.lost,
            gaps=fanout.gaps,
            queued=fanout.queued,
            history_bytes=fanout.store.bytes,
            history_coalesced=fanout.store.coalesced,
            history_dropped=fanout.store.dropped,
            notices_dropped=fanout.notices_dropped,
            otlp_sent=exports.sent if exports else 0,
            otlp_failed=exports.failed if exports else 0,
        ),
        hosts=tuple((host, meters.hosts.get(host.id)) for host in registry.hosts),
        targets=tuple(targets),
        states=states,
        runs=runs,
        connections=replace(connections) if connections else ConnectionCounts(),
        debug_files=dict(debug_files),
        role_rows=dict(role_rows),
        role_parts_waiting=role_parts_waiting,
        ring=ring,
        relays=dict(relays),
    )
