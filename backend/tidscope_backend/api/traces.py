"""/api/v1/traces: received and imported spans, their critical paths, and their threads."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Literal, TypeVar
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from pydantic import BaseModel
from tidscope_traces.spans.reading import LATEST_NS
from tidscope_traces.summary.heat import HeatMetric
from tidscope_wire.generated.models import (
    JaegerRequest,
    TraceAnalysis,
    TraceDetail,
    TraceDifference,
    TraceEndpoints,
    TraceHeat,
    TraceList,
    TraceOperations,
    TracesImported,
    TracesReceived,
)
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import WRITE_RUNS, binary, raises
from tidscope_backend.hidden_arguments import trace_without
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.store.disk import Disk, SharedReads
from tidscope_backend.traces.analyst import Asked, TraceAnalyst
from tidscope_backend.traces.importing import import_document, import_from_jaeger
from tidscope_backend.traces.joining.places import Places
from tidscope_backend.traces.queries import MAX_TRACES, FindRun, Order, SpanQueries, Wanted
from tidscope_backend.traces.receiving.receiver import Receiving
from tidscope_backend.traces.span_store import SpanStore

TRACE_IMPORT_PATH = "/traces/import"
MAX_NAME = 512
ServiceName = Annotated[str, Query(max_length=MAX_NAME)]
MAX_SET = 2 * MAX_NAME
Set = Annotated[str, Query(max_length=MAX_SET)]
Roots = Literal["single", "merged"]
Names = Annotated[list[str] | None, Query(max_length=64)]
TraceId = Annotated[str, InPath(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
A = TypeVar("A")
R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)
MakePlaces = Callable[[], Coroutine[None, None, Places]]
Ns = Annotated[int | None, Query(ge=0, lt=LATEST_NS)]
Name = Annotated[str | None, Query(max_length=MAX_NAME)]
Percentile = Annotated[float, Query(ge=0, le=100)]
RUN = "^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$"
RunId = Annotated[str | None, Query(pattern=RUN)]


def parse_tag(text: str | None) -> tuple[str, str] | None:
    """Parse KEY=VALUE. Raises ProblemError if the text has another form."""
    if text is None or not text:
        return None
    key, equals, value = text.partition("=")
    if not equals:
        raise refusal("bad-request", f"tag {text!r} has no =", "tag takes KEY=VALUE")
    return key, value


class TraceService:
    """Store and analyses behind the routes of traces. Registered as `app.state.traces`.

    Args:
        store: span store.
        received: state of the receivers.
        make_places: where processes are and were measured; to be made on the event loop.
        find_run: returns when a run was recorded and which target; raises ProblemError.
        disk: threads in which spans are read and written.
    """

    def __init__(
        self,
        store: SpanStore,
        received: Receiving,
        make_places: MakePlaces,
        find_run: FindRun,
        disk: Disk,
    ) -> None:
        self._store = store
        self._received = received
        self._make_places = make_places
        self._find_run = find_run
        self._disk = disk
        self._queries = SpanQueries(store.read)
        self.analyst = TraceAnalyst(self._queries)
        self._shared: SharedReads[str] = SharedReads()
        # One analysis at a time: each takes a core and memory. Viewers have a separate queue.
        self._turns = {True: asyncio.Lock(), False: asyncio.Lock()}
        self._importing = asyncio.Lock()

    async def answer(self, request: Request, read: Callable[[], M]) -> Response:
        """Compute one answer at a time; concurrent identical requests share it."""
        turn = self._turns[principal_of(request.scope).sees_arguments]

        async def computed() -> str:
            async with turn:
                return (await self._disk.read(read)).model_dump_json()

        text = await self._shared.get((request.url.path, request.url.query), computed)
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def endpoints(self, since_ns: int | None, until_ns: int | None) -> TraceEndpoints:
        """Return the operations at which requests enter, and what was received."""

        def found() -> TraceEndpoints:
            counts = self._store.counts
            return TraceEndpoints(
                endpoints=self._queries.endpoints(since_ns, until_ns),
                received=TracesReceived(
                    spans=counts.stored,
                    traces=self._queries.count(),
                    dropped=counts.dropped,
                    rejected=counts.rejected,
                    expired=counts.expired,
                    bytes=self._store.bytes(),
                    refused=self._received.refused,
                    http_port=self._received.http_port,
                    grpc_port=self._received.grpc_port,
                ),
            )

        return await self._disk.read(found)

    async def detail(self, trace_id: str) -> TraceDetail:
        """Return one trace, joined with threads. Raises ProblemError if it is unknown."""
        places = await self._make_places()
        return await self._disk.read(self.analyst.detail, trace_id, places)

    @asynccontextmanager
    async def only_import(self) -> AsyncIterator[None]:
        """Enclose an import. Raises ProblemError if another one is under way."""
        if self._importing.locked():
            raise refusal(
                "too-many-actions",
                "traces are being brought in already",
                "wait until they are done",
            )
        async with self._importing:
            yield

    async def write(self, read: Callable[[A, SpanStore], R], given: A) -> R:
        """Read spans into the store, in a thread of the disk."""
        return await self._disk.write(read, given, self._store)

    async def parse(self, service: str, operation: str, text: str) -> Wanted:
        """Parse a trace set of an endpoint from a separate query string.

        Raises:
            ProblemError: the text is not a trace set, or the run is unknown.
        """
        given = {name: values[-1] for name, values in parse_qs(text).items()}
        try:
            since, until = (
                int(given[one]) if one in given else None for one in ("since_ns", "until_ns")
            )
            low, high = float(given.get("low", 0)), float(given.get("high", 100))
            if not 0 <= low <= high <= 100 or any(
                one is not None and not 0 <= one < LATEST_NS for one in (since, until)
            ):
                raise ValueError
            run = given.get("run")
            if run is not None and not re.fullmatch(RUN, run):
                raise ValueError
        except ValueError:
            raise refusal(
                "bad-request",
                f"{text!r} is not a set of traces",
                "it takes since_ns=..&until_ns=..&run=..&low=..&high=..&tag=KEY=VALUE, encoded",
            ) from None
        tag = parse_tag(given.get("tag"))
        wanted = Wanted(service, operation, since, until, tag=tag, low=low, high=high)
        return await self.within(wanted, run)

    async def within(self, wanted: Wanted, run: str | None) -> Wanted:
        """Keep the traces of a run: begun in its time span, with a span of one of its processes.

        Raises:
            ProblemError: the run is unknown.
        """
        if run is None:
            return wanted
        window = await self._find_run(run)
        since = max(window.since_ns, wanted.since_ns or 0)
        until = min(window.until_ns, LATEST_NS if wanted.until_ns is None else wanted.until_ns)
        return replace(wanted, since_ns=since, until_ns=until, processes=window.processes)


def _service(request: Request) -> TraceService:
    service: TraceService = request.app.state.traces
    return service


Service = Annotated[TraceService, Depends(_service)]
routes = APIRouter(tags=["traces"])


async def of_endpoint(
    traces: Service,
    service: Annotated[str, Query(max_length=MAX_NAME)],
    operation: Annotated[str, Query(max_length=MAX_NAME)],
    since_ns: Ns = None,
    until_ns: Ns = None,
    low: Percentile = 0,
    high: Percentile = 100,
    tag: Name = None,
    run: RunId = None,
) -> Wanted:
    """Parse an endpoint's trace set from the query: a dependency of routes."""
    wanted = Wanted(service, operation, since_ns, until_ns, tag=parse_tag(tag), low=low, high=high)
    return await traces.within(wanted, run)


OfEndpoint = Annotated[Wanted, Depends(of_endpoint)]


@routes.get("/traces/endpoints", summary="Operations at which requests enter")
async def endpoints(traces: Service, since_ns: Ns = None, until_ns: Ns = None) -> TraceEndpoints:
    return await traces.endpoints(since_ns, until_ns)


@routes.get(
    "/traces/operations",
    summary="What critical paths of all endpoints consist of",
    response_model=TraceOperations,
)
async def operations(
    traces: Service, request: Request, since_ns: Ns = None, until_ns: Ns = None
) -> Response:
    wanted = Wanted(since_ns=since_ns, until_ns=until_ns)
    return await traces.answer(request, lambda: traces.analyst.everywhere(wanted))


@routes.get(
    "/traces",
    summary="Traces: the most recent, the slowest, or those that waited for a thread",
    response_model=TraceList,
    openapi_extra=raises("bad-request", "unknown-run"),
)
async def traces(
    traces: Service,
    request: Request,
    service: Name = None,
    operation: Name = None,
    since_ns: Ns = None,
    until_ns: Ns = None,
    error: bool | None = None,
    tag: Name = None,
    pid: Annotated[int | None, Query(ge=0, lt=1 << 31)] = None,
    thread_id: Annotated[int | None, Query(ge=0, lt=1 << 31)] = None,
    low: Percentile = 0,
    high: Percentile = 100,
    run: RunId = None,
    order: Order = "recent",
    limit: Annotated[int, Query(ge=1, le=MAX_TRACES)] = 100,
) -> Response:
    wanted = await traces.within(
        Wanted(
            *(service, operation, since_ns, until_ns, error, parse_tag(tag), pid, thread_id),
            low=low,
            high=high,
        ),
        run,
    )
    return await traces.answer(
        request, lambda: TraceList(traces=traces.analyst.traces(wanted, order, limit))
    )


@routes.get(
    "/traces/analysis",
    summary="Critical paths of an endpoint's traces",
    response_model=TraceAnalysis,
    openapi_extra=raises("bad-request", "unknown-run"),
)
async def analysis(
    traces: Service,
    request: Request,
    wanted: OfEndpoint,
    exclude: Names = None,
    merge: Roots = "single",
    project: Annotated[str, Query(max_length=2 * MAX_NAME)] = "",
    less_ns: Annotated[int, Query(ge=-LATEST_NS, lt=LATEST_NS)] = 0,
    reference: Annotated[str | None, Query(max_length=MAX_SET)] = None,
) -> Response:
    asked = Asked(exclude or (), merge == "merged", project, less_ns)
    known = None
    if reference is not None:
        known = await traces.parse(wanted.service or "", wanted.operation or "", reference)
    return await traces.answer(request, lambda: traces.analyst.analysis(wanted, known, asked))


@routes.get(
    "/traces/difference",
    summary="Two sets of an endpoint's traces; base and other are queries of their own",
    response_model=TraceDifference,
    openapi_extra=raises("bad-request", "unknown-run"),
)
async def difference(
    traces: Service,
    request: Request,
    service: ServiceName,
    operation: ServiceName,
    base: Set = "",
    other: Set = "",
    exclude: Names = None,
    merge: Roots = "single",
) -> Response:
    both = [await traces.parse(service, operation, text) for text in (base, other)]
    asked = Asked(exclude or (), merge == "merged")
    return await traces.answer(request, lambda: traces.analyst.difference(both[0], both[1], asked))


@routes.get(
    "/traces/heat",
    summary="Operations by traces of an endpoint",
    response_model=TraceHeat,
    openapi_extra=raises("bad-request", "unknown-run"),
)
async def heat(
    traces: Service,
    request: Request,
    wanted: OfEndpoint,
    exclude: Names = None,
    merge: Roots = "single",
    rows: Annotated[int, Query(ge=1, le=200)] = 30,
    columns: Annotated[int, Query(ge=1, le=500)] = 100,
    metric: HeatMetric = "exclusive",
    percentile: Percentile = 50,
) -> Response:
    asked = Asked(exclude or (), merge == "merged")
    return await traces.answer(
        request,
        lambda: traces.analyst.heat(wanted, asked, rows, columns, metric, percentile),
    )


@routes.get(
    "/traces/{trace_id}",
    summary="One trace: its critical path, and what threads did on it",
    openapi_extra=raises("unknown-trace", "bad-request"),
)
async def trace(traces: Service, trace_id: TraceId, request: Request) -> TraceDetail:
    found = await traces.detail(trace_id)
    return found if principal_of(request.scope).sees_arguments else trace_without(found)


@routes.post(
    TRACE_IMPORT_PATH,
    status_code=201,
    summary="Bring in traces: Jaeger's JSON or OTLP's JSON",
    openapi_extra={
        "requestBody": {**binary("application/octet-stream"), "required": True},
        **raises("bad-request", "too-many-actions", *WRITE_RUNS),
    },
)
async def import_(traces: Service, request: Request) -> TracesImported:
    async with traces.only_import():
        found = await traces.write(import_document, await request.body())
    note(request.scope, "traces", spans=str(found.spans))
    return found


@routes.post(
    "/traces/jaeger",
    status_code=201,
    summary="Bring in traces of a Jaeger on this machine",
    openapi_extra=raises("bad-request", "too-many-actions", *WRITE_RUNS),
)
async def import_jaeger(traces: Service, asked: JaegerRequest, request: Request) -> TracesImported:
    async with traces.only_import():
        found = await traces.write(import_from_jaeger, asked)
    note(request.scope, f"jaeger at port {asked.port}", spans=str(found.spans))
    return found
