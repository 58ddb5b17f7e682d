"""Composition root: the only place that wires the backend's parts together."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from fastapi import FastAPI
from tidscope_wire.audit import FILE as AUDIT_FILE
from tidscope_wire.audit import TIDSCOPE, AuditLog, AuditTrail
from tidscope_wire.generated.models import LiveState, Retention, Role

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
from tidscope_backend.api.openapi import (
    DocumentedApp,
    add_error_handlers,
    docs_router,
    fields_router,
)
from tidscope_backend.api.runs import (
    RUN_IMPORT_PATH,
    export_router,
    import_router,
    run_frames_router,
    runs_router,
)
from tidscope_backend.api.session import session_router
from tidscope_backend.api.steering import predictions_router, proof_router, steering_router
from tidscope_backend.api.traces import TRACE_IMPORT_PATH, traces_router
from tidscope_backend.connections.table import ConnectionCounts
from tidscope_backend.demo.demo_process import DemoProcess
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.endpoint import CollectorEndpoint
from tidscope_backend.ingest.frame_ingest import FrameIngest
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.ingest.session import CollectorSessions
from tidscope_backend.metrics.export import metrics_router, pusher
from tidscope_backend.metrics.families import ExportCounts, Facts, gather, run_facts
from tidscope_backend.metrics.meters import Meters
from tidscope_backend.pacing import next_multiple
from tidscope_backend.processes import read_ends, release_freed_memory
from tidscope_backend.recording.closing import RecordingTimeouts
from tidscope_backend.recording.part_sealer import PartSealer, RunSaver
from tidscope_backend.recording.recorder import Recorder
from tidscope_backend.recording.recording import PartLimits
from tidscope_backend.security.access import AccessMiddleware, AllowedOrigins, TrustedProxy
from tidscope_backend.security.audit import AuditMiddleware
from tidscope_backend.security.authenticator import Authenticator
from tidscope_backend.security.host_file import FILE_NAME, HostFile
from tidscope_backend.security.request_limits import BodyLimit, ReadLimit
from tidscope_backend.security.sessions import SessionFile, Sessions
from tidscope_backend.settings import Settings
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
from tidscope_backend.web import SecurityHeaders, web_router

STATS_SECONDS = 1.0
MEMORY_SECONDS = 10.0
SPANS_SECONDS = 60.0


def create_app(settings: Settings, connections: ConnectionCounts | None = None) -> FastAPI:
    """Build a backend. Its state is private: two backends share nothing.

    Args:
        settings: settings of the backend.
        connections: connection counts of the server; None without a server.
    """
    clock = time.monotonic
    store = HistoryStore(
        settings.history_bytes,
        settings.history_total_bytes,
        int(settings.history_seconds * 1e9),
        clock,
    )
    fanout = Fanout(store)
    registry = HostRegistry(settings.ended_targets)
    meters = Meters(clock, registry.collector_pid)

    def state() -> LiveState:
        return registry.live_state().model_copy(update={"recordings": recorder.recordings})

    def changed() -> None:
        fanout.publish_state(state())

    disk = Disk()
    runs_directory, manifests, sealer = (
        RunsDirectory(settings.runs_dir),
        ManifestWriter(disk),
        PartSealer(disk),
    )
    links = CollectorLinks(lambda host: registry.host(host) is not None)
    recorder = Recorder(
        runs_directory,
        registry,
        store,
        RunSaver(manifests, sealer, disk),
        clock,
        changed,
        disk,
        links.flush,
        PartLimits(int(settings.part_seconds * 1e9), settings.part_bytes),
        RecordingTimeouts(resume_s=settings.resume_seconds),
        ends=lambda: read_ends(settings.ended_descriptor),
    )
    retention = Retention(max_age_s=settings.keep_runs_seconds, max_bytes=settings.keep_runs_bytes)
    run_store = RunStore(runs_directory, recorder, manifests, retention, disk)
    spans, received = _span_store(settings, runs_directory), Receiving()
    ingest = FrameIngest(registry, fanout, meters.observe, recorder)

    def forget(target_id: str) -> None:
        ingest.forget(target_id)
        meters.forget(target_id)

    registry.subscribe(changed, forget)
    trail = _open_trail(settings)
    authenticator = Authenticator(
        settings, _sessions(settings), _host_file(settings), clock, time.time
    )
    demo_process = DemoProcess(links)

    exports, connections = ExportCounts(), connections or ConnectionCounts()

    def facts() -> Facts:
        return gather(registry, links, fanout, meters, run_facts(recorder), exports, connections)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        sealer.start()
        await recorder.start()
        run_store.start()
        await disk.write(spans.start)
        pushing = pusher(settings.otlp_endpoint, settings.otlp_seconds, facts, exports)
        try:
            async with (
                _logged(trail, settings.port),
                _in_background(
                    _every_second(fanout, authenticator.sessions),
                    _small(disk),
                    _tidy(spans, disk),
                    *pushing,
                ),
                receiving(spans, settings.spans_token, settings.span_ports, received),
            ):
                yield
        finally:
            await run_store.close()
            await disk.write(spans.close)
            await recorder.close()
            await sealer.stop()
            await demo_process.stop()

    app = DocumentedApp(
        title="tidscope",
        version=VERSION,
        description="Live thread-level observability. Errors are RFC 9457 problem documents.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
    )
    add_error_handlers(app)
    for router in (
        health_router(clock, registry, links, fanout, connections),
        hosts_router(registry),
        processes_router(links),
        targets_router(registry, links),
        steering_router(registry, links),
        fields_router(),
        doctor_router(links),
        predictions_router(settings.predictd),
        sizes_router(links),
        demo_router(demo_process),
        session_router(authenticator),
        proof_router(authenticator),
        runs_router(recorder, run_store),
        run_frames_router(run_store.reader, disk),
        export_router(runs_directory.folder, disk),
        import_router(runs_directory.make, runs_directory.has, disk),
        compare_router(runs_directory.folder, disk),
        experiments_router(settings.runs_dir, disk),
        traces_router(
            *(spans, received, _places(registry, store, run_store)),
            _run_windows(run_store, disk),
            disk,
        ),
    ):
        app.include_router(router, prefix=api.PREFIX)
    for outside in (docs_router(), metrics_router(facts)):
        app.include_router(outside)
    app.include_router(
        CollectorEndpoint(
            CollectorSessions(settings, registry, links, ingest, recorder.unfinished_targets),
            settings.max_message_bytes,
        ).router
    )
    app.include_router(live_router(settings, fanout, state, authenticator.sessions))
    app.include_router(web_router(settings.web_dir))
    _add_middleware(app, settings, authenticator, trail)
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


async def _every_second(fanout: Fanout, sessions: Sessions) -> None:
    while True:
        await next_multiple(STATS_SECONDS)
        fanout.publish_stats()
        sessions.expire()


async def _small(disk: Disk) -> None:
    while True:
        await next_multiple(MEMORY_SECONDS)
        await disk.after_reads(release_freed_memory)


def _span_store(settings: Settings, runs: RunsDirectory) -> SpanStore:
    retention = SpanRetention(settings.keep_traces_seconds, settings.keep_traces_bytes)
    return SpanStore(runs.make, settings.runs_dir, retention, time.time)


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
