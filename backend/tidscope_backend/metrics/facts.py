"""All that one scrape tells, as one value that does not change while it is written."""

from dataclasses import dataclass, field, replace

from tidscope_wire.generated.models import Host, Target

from tidscope_backend.connections.table import ConnectionCounts
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.metrics.meters import HostMeter, Meters, TargetMeter
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.stream.fanout import Fanout

ENDED_SECONDS = 300.0
"""How long after its last frame an ended target is reported, so that its last numbers are scraped.

As long as Prometheus itself looks back for a value.
"""


@dataclass(frozen=True)
class StreamFacts:
    """The backend's own numbers; those of frames are counted since it started."""

    collectors: int = 0
    pages: int = 0
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
    """Of the runs that are being recorded; frames are counted since the backend started."""

    recording: int = 0
    frames: int = 0
    frame_bytes: int = 0
    refused: int = 0
    queued_bytes: int = 0
    overflowed: int = 0
    lost: int = 0


@dataclass
class ExportCounts:
    """Exports to OpenTelemetry since the backend started."""

    sent: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Facts:
    """What is reported.

    Attributes:
        hosts: each with what its collector says of itself, if it has sampled anything.
        targets: each with what is known of it; ended ones for a while.
        states: how many targets the backend knows in each state.
        runs: what is being recorded.
        connections: of the server.
    """

    stream: StreamFacts
    hosts: tuple[tuple[Host, HostMeter | None], ...]
    targets: tuple[tuple[Target, TargetMeter | None], ...]
    states: dict[str, int]
    runs: RunFacts = RunFacts()
    connections: ConnectionCounts = field(default_factory=ConnectionCounts)


def run_facts(recorder: Recorder) -> RunFacts:
    """Take the numbers of runs."""
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
) -> Facts:
    """Take all numbers at one moment; in the thread that changes them."""
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
            pages=fanout.pages,
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
    )
