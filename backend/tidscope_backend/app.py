"""Composition root: the only place that wires the backend's parts together."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from tidscope_wire.audit import FILE as AUDIT_FILE
from tidscope_wire.audit import TIDSCOPE, AuditLog, AuditTrail
from tidscope_wire.generated.models import (
    FrameHeader,
    LiveState,
    Retention,
    Role,
    Target,
)

from tidscope_backend import VERSION, api
from tidscope_backend.api.collectors import (
    demo_router,
    doctor_router,
    health_router,
    hosts_router,
    processes_router,
    sizes_router,
    targets_router,
)
from tidscope_backend.api.compare import compare_router, experiments_router
from tidscope_backend.api.fleet import fleet_router
from tidscope_backend.api.openapi import (
    DocumentedApp,
    add_error_handlers,
    docs_router,
    fields_router,
)
from tidscope_backend.api.ring import OwnRing, ring_router
from tidscope_backend.api.run_imports import RunImports
from tidscope_backend.api.runs import (
    RUN_IMPORT_PATH,
    export_router,
    import_router,
    run_frames_router,
    runs_router,
)
from tidscope_backend.api.session import session_router
from tidscope_backend.api.stacks import (
    StackSources,
    stack_export_router,
    stack_sampling_router,
    stacks_router,
)
from tidscope_backend.api.steering import predictions_router, proof_router, steering_router
from tidscope_backend.api.trace_service import TraceService
from tidscope_backend.api.traces import TRACE_IMPORT_PATH
from tidscope_backend.api.traces import routes as traces_router
from tidscope_backend.connections.table import ConnectionCounts
from tidscope_backend.debug_files.service import open_debug_files
from tidscope_backend.demo.demo_process import DemoProcess
from tidscope_backend.experiments.child import ExperimentProcess
from tidscope_backend.fleet.totals import FleetTotals
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.endpoint import CollectorEndpoint
from tidscope_backend.ingest.frame_ingest import FrameIngest
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.ingest.session import CollectorSessions
from tidscope_backend.ingest.unwatched import UnwatchedTargets
from tidscope_backend.metrics.export import metrics_router, pusher
from tidscope_backend.metrics.families import ExportCounts, Facts, gather, run_facts
from tidscope_backend.metrics.meters import Meters
from tidscope_backend.nats_link.bus import Bus
from tidscope_backend.nats_link.fleet_hosts import FleetHosts
from tidscope_backend.pacing import next_multiple
from tidscope_backend.processes import read_ends, release_freed_memory
from tidscope_backend.recording.closing import RecordingTimeouts
from tidscope_backend.recording.part_sealer import PartSealer, RunSaver
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.recording.recording import PartLimits
from tidscope_backend.recording.stack_leases import StackLeases
from tidscope_backend.ring.status import RingStatus, read_status
from tidscope_backend.security.access import AccessMiddleware, AllowedOrigins, TrustedProxy
from tidscope_backend.security.audit import AuditMiddleware
from tidscope_backend.security.authenticator import Authenticator
from tidscope_backend.security.collector_access import NatsAuthority
from tidscope_backend.security.host_file import FILE_NAME, HostFile
from tidscope_backend.security.request_limits import BodyLimit, ReadLimit
from tidscope_backend.security.sessions import SessionFile, Sessions
from tidscope_backend.settings import Settings
from tidscope_backend.stacks.live import LiveStacks
from tidscope_backend.stacks.sources import LiveSource, RunSource
from tidscope_backend.store.directory import ManifestWriter, RunsDirectory
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.run_store import RunStore
from tidscope_backend.stream.endpoint import live_router
from tidscope_backend.stream.fanout import Fanout
from tidscope_backend.stream.history import HistoryStore
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.joining.places import LiveTarget, Places
from tidscope_backend.traces.queries import FindRun, RunWindow, window_of
from tidscope_backend.traces.receiving.receiver import Receiving, receiving
from tidscope_backend.traces.span_store import SpanStore
from tidscope_backend.traces.thread_names import ThreadNaming
from tidscope_backend.web import SecurityHeaders, web_router

STATS_SECONDS = 1.0
MEMORY_SECONDS = 10.0
SPANS_SECONDS = 60.0


class Backend:
    """All parts of a backend, wired. Its state is private: two backends share nothing.

    Args:
        settings: settings of the backend.
        connections: connection counts of the server.
    """

    def __init__(self, settings: Settings, connections: ConnectionCounts) -> None:
        clock = self.clock = time.monotonic
        self.settings = settings
        self.connections = connections
        self.history = HistoryStore(
            settings.history_bytes,
            settings.history_total_bytes,
            int(settings.history_seconds * 1e9),
            clock,
        )
        self.fanout = Fanout(self.history)
        self.registry = HostRegistry(settings.ended_targets)
        self.meters = Meters(clock, self.registry.collector_pid)
        self.links = CollectorLinks(lambda host: self.registry.host(host) is not None)
        self._open_runs()
        self.live_stacks = LiveStacks(int(settings.history_seconds * 1e9))
        self.debug_files = open_debug_files(
            settings.debug_files,
            lambda: [(one, self.live_stacks.get(one.id)) for one, _ in self.registry.attached()],
            self.links.note_debug_files,
            clock,
        )
        self.ingest = FrameIngest(self.registry, self.fanout, self._observe, self.recorder)
        self.registry.subscribe(self._publish_state, self._forget)
        self.trail = _open_trail(settings)
        self.authenticator = Authenticator(
            settings, _sessions(settings), _host_file(settings), clock, time.time
        )
        self.demo_process = DemoProcess(self.links)
        self.experiment_process = ExperimentProcess(settings)
        self.exports = ExportCounts()
        self.totals = FleetTotals(settings, self.registry, self.meters, self.disk, clock)
        self.sessions = CollectorSessions(
            *(settings, self.registry, self.links, self.ingest), self.recorder.unfinished_targets
        )
        self.fleet = self._fleet()
        self.unwatched = UnwatchedTargets(
            *(self.registry, self.links, clock),
            *(settings.slow_unwatched_seconds, settings.detach_unwatched_seconds),
        )

    def _open_runs(self) -> None:
        """Make what reads and writes the runs directory: runs, recorder and spans."""
        settings = self.settings
        disk = self.disk = Disk()
        directory = self.directory = RunsDirectory(settings.runs_dir)
        manifests, self.sealer = ManifestWriter(disk), PartSealer(disk)
        self.recorder = Recorder(
            directory,
            self.registry,
            self.history,
            RunSaver(manifests, self.sealer, disk),
            self.clock,
            self._publish_state,
            disk,
            self.links.flush,
            StackLeases(self.links.sample_stacks, self.clock),
            PartLimits(int(settings.part_seconds * 1e9), settings.part_bytes),
            RecordingTimeouts(resume_s=settings.resume_seconds),
            ends=lambda: read_ends(settings.ended_descriptor),
        )
        retention = Retention(
            max_age_s=settings.keep_runs_seconds, max_bytes=settings.keep_runs_bytes
        )
        self.runs = RunStore(directory, self.recorder, manifests, retention, disk)
        kept = SpanRetention(settings.keep_traces_seconds, settings.keep_traces_bytes)
        self.spans = SpanStore(directory.make, settings.runs_dir, kept, time.time)
        self.receiving = Receiving()
        self.thread_naming = ThreadNaming(
            self.registry.attached, self.links.name_threads, self.clock
        )

    def _fleet(self) -> FleetHosts | None:
        fleet = self.settings.fleet
        if fleet is None:
            return None
        return FleetHosts(
            Bus(fleet, "a backend"),
            self.sessions,
            lambda name: NatsAuthority(name, self.authenticator.claims),
            self.totals.observe,
            fleet,
        )

    def state(self) -> LiveState:
        """Return what pages show of hosts, targets and recordings."""
        live = self.registry.live_state()
        return live.model_copy(update={"recordings": self.recorder.recordings})

    def _publish_state(self) -> None:
        self.fanout.watched.set_recorded(one.target for one in self.recorder.recordings)
        self.fanout.publish_state(self.state())

    def _observe(self, host_id: str, header: FrameHeader, body: memoryview) -> None:
        self.meters.observe(host_id, header, body)
        self.live_stacks.receive(header, body)

    def _forget(self, target_id: str) -> None:
        self.ingest.forget(target_id)
        self.meters.forget(target_id)
        self.live_stacks.forget(target_id)

    def _ring_status(self) -> RingStatus | None:
        return read_status(self.settings.ring_descriptor)

    def look_around(self) -> None:
        """Slow and detach targets that nobody looks at."""
        used = self.fanout.watched.ids | {one.target for one in self.recorder.recordings}
        settings = self.settings
        # Another backend may look at them; the ring keeps what all threads do, at full rate; spans
        # that come later are joined with what threads do now.
        wanted = settings.fleet, settings.ring_descriptor, settings.span_ports
        if any(one is not None for one in wanted):
            used |= {one.id for one in self.registry.targets}
        self.unwatched.update(used)

    def facts(self) -> Facts:
        """Return what metrics are made of."""
        recorded = run_facts(self.recorder)
        return gather(
            *(self.registry, self.links, self.fanout, self.meters),
            *(recorded, self.exports, self.connections),
            {} if self.debug_files is None else self.debug_files.outcomes,
            self.totals.outcomes,
            self.totals.parts_waiting,
            self._ring_status(),
            {} if self.fleet is None else self.fleet.relays,
        )

    @asynccontextmanager
    async def life(self, _: FastAPI) -> AsyncIterator[None]:
        """Run the background work and the receivers of spans until the context ends."""
        settings = self.settings
        self.sealer.start()
        await self.recorder.start()
        self.runs.start()
        await self.disk.write(self.spans.start)
        pushing = pusher(settings.otlp_endpoint, settings.otlp_seconds, self.facts, self.exports)
        try:
            async with (
                _logged(self.trail, settings.port),
                _in_background(
                    _every_second(self.fanout, self.authenticator.sessions, self.look_around),
                    _small(self.disk),
                    _tidy(self.spans, self.disk),
                    self.thread_naming.run(),
                    *(() if self.debug_files is None else (self.debug_files.run(),)),
                    *self.totals.work(),
                    *(() if self.fleet is None else (self.fleet.run(),)),
                    *pushing,
                ),
                receiving(
                    *(self.spans, settings.spans_token, settings.span_ports),
                    *(self.receiving, self.thread_naming.note),
                ),
            ):
                yield
        finally:
            await self.experiment_process.stop()
            await self.totals.close()
            await self.runs.close()
            await self.disk.write(self.spans.close)
            await self.recorder.close()
            await self.sealer.stop()
            await self.demo_process.stop()

    def api_routers(self) -> Iterator[APIRouter]:
        """Yield the routers of the REST API, in the order of its document."""
        registry, links, disk = self.registry, self.links, self.disk
        yield health_router(self.clock, registry, links, self.fanout, self.connections)
        yield hosts_router(registry)
        yield fleet_router(self.totals.questions)
        yield processes_router(links)
        yield targets_router(registry, links)
        yield steering_router(registry, links)
        yield fields_router()
        yield doctor_router(links)
        yield predictions_router(self.settings.predictd)
        yield sizes_router(links)
        yield demo_router(self.demo_process)
        yield session_router(self.authenticator)
        yield proof_router(self.authenticator)
        yield runs_router(self.recorder, self.runs)
        ring = OwnRing(self.settings.runs_dir, self._ring_status, self.runs, disk)
        imports = RunImports(self.directory.make, self.directory.has, disk)
        yield ring_router(ring, links, imports)
        yield run_frames_router(self.runs.reader, disk)
        yield export_router(self.directory.folder, disk)
        yield import_router(imports)
        yield stack_sampling_router(registry, links)
        yield stacks_router(self.stack_sources(), disk)
        yield stack_export_router(self.stack_sources(), disk)
        yield compare_router(self.directory.folder, disk)
        yield experiments_router(
            self.settings.runs_dir, self.settings.experiment_dirs, self.experiment_process, disk
        )
        yield traces_router

    def other_routers(self) -> Iterator[APIRouter]:
        """Yield the routers outside the REST API. The last one answers every path."""
        yield docs_router()
        yield metrics_router(self.facts)
        yield CollectorEndpoint(self.sessions, self.settings.max_message_bytes).router
        yield live_router(self.settings, self.fanout, self.state, self.authenticator.sessions)
        yield web_router(self.settings.web_dir)

    def stack_sources(self) -> StackSources:
        """Make what finds stacks of targets and runs."""

        def live(target: Target) -> LiveSource:
            frames = self.history.get(target.id).frames
            naming = "" if self.debug_files is None else self.debug_files.note(target.id)
            return LiveSource(target, frames, self.live_stacks.get(target.id), naming)

        return StackSources(self.registry, live, lambda run: RunSource(self.runs.reader(run)))

    def traces(self) -> TraceService:
        """Make what the routes of traces read and write."""
        return TraceService(
            *(self.spans, self.receiving),
            _places(self.registry, self.history, self.runs),
            _run_windows(self.runs, self.disk),
            self.disk,
        )


def create_app(settings: Settings, connections: ConnectionCounts | None = None) -> FastAPI:
    """Build a backend.

    Args:
        settings: settings of the backend.
        connections: connection counts of the server; None without a server.
    """
    backend = Backend(settings, connections or ConnectionCounts())
    app = DocumentedApp(
        title="tidscope",
        version=VERSION,
        description="Live thread-level observability. Errors are RFC 9457 problem documents.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=backend.life,
    )
    app.state.traces = backend.traces()
    add_error_handlers(app)
    for router in backend.api_routers():
        app.include_router(router, prefix=api.PREFIX)
    for router in backend.other_routers():
        app.include_router(router)
    _add_middleware(app, settings, backend.authenticator, backend.trail)
    return app


def _add_middleware(
    app: FastAPI, settings: Settings, authenticator: Authenticator, trail: AuditTrail | None
) -> None:
    # The last middleware added is the outermost.
    streamed = {
        api.PREFIX + RUN_IMPORT_PATH: settings.max_import_bytes,
        api.PREFIX + TRACE_IMPORT_PATH: settings.max_traces_bytes,
    }
    app.add_middleware(ReadLimit)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes, streamed=streamed)
    if trail is not None:
        app.add_middleware(AuditMiddleware, trail=trail, clock=time.monotonic)
    origins = AllowedOrigins(settings.host, settings.allow_hosts, settings.allow_origins)
    app.add_middleware(AccessMiddleware, origins=origins, authenticator=authenticator)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(TrustedProxy, networks=settings.trusted_proxies)


@asynccontextmanager
async def _in_background(*work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _open_trail(settings: Settings) -> AuditTrail | None:
    folder = settings.state_dir
    return None if folder is None else AuditTrail(AuditLog(folder / AUDIT_FILE))


@asynccontextmanager
async def _logged(trail: AuditTrail | None, port: int) -> AsyncIterator[None]:
    if trail is not None:
        await trail.write("start", "done", TIDSCOPE, f"backend at port {port}")
    try:
        yield
    finally:
        if trail is not None:
            trail.close()


async def _every_second(
    fanout: Fanout, sessions: Sessions, look_around: Callable[[], None]
) -> None:
    while True:
        await next_multiple(STATS_SECONDS)
        fanout.publish_stats()
        sessions.expire()
        look_around()


async def _small(disk: Disk) -> None:
    while True:
        await next_multiple(MEMORY_SECONDS)
        await disk.after_reads(release_freed_memory)


def _places(
    registry: HostRegistry, store: HistoryStore, runs: RunStore
) -> Callable[[], Coroutine[None, None, Places]]:
    async def places() -> Places:
        hosts = {one.id: one.name for one in registry.hosts}
        live = [
            LiveTarget(one, store.get(one.id).frames, hosts.get(one.host, ""))
            for one in registry.targets
        ]
        return Places(live, (await runs.runs()).runs, runs.reader)

    return places


def _run_windows(runs: RunStore, disk: Disk) -> FindRun:
    async def find(run: str) -> RunWindow:
        manifest = await runs.manifest(run)
        threads = None
        if manifest.target.group is not None:
            threads = await disk.read(lambda: runs.reader(run).threads())
        return window_of(manifest, threads)

    return find


async def _tidy(spans: SpanStore, disk: Disk) -> None:
    while True:
        await next_multiple(SPANS_SECONDS)
        await disk.write(spans.clean_up)


def _sessions(settings: Settings) -> Sessions:
    store = None
    if settings.state_dir is not None:
        # A page's session is bound to its origin, so backends on two ports share no sessions.
        path = settings.state_dir / f"sessions-{settings.port}.json"
        tokens: dict[Role, str] = {"operator": settings.token, "viewer": settings.view_token}
        store = SessionFile(path, tokens, settings.session_seconds)
    return Sessions(time.time, settings.session_idle_seconds, settings.session_seconds, store)


def _host_file(settings: Settings) -> HostFile | None:
    return None if settings.state_dir is None else HostFile(settings.state_dir / FILE_NAME)
