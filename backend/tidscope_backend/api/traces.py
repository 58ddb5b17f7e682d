"""/api/v1/traces: received and imported spans, their critical paths, and their threads."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Annotated, Literal, TypeVar
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from pydantic import BaseModel
from tidscope_traces.spans.reading import LATEST_NS
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
Service = Annotated[str, Query(max_length=MAX_NAME)]
MAX_SET = 2 * MAX_NAME
Set = Annotated[str, Query(max_length=MAX_SET)]
Roots = Literal["single", "merged"]
Names = Annotated[list[str] | None, Query(max_length=64)]
TraceId = Annotated[str, InPath(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
M = TypeVar("M", bound=BaseModel)
MakePlaces = Callable[[], Coroutine[None, None, Places]]
Ns = Annotated[int | None, Query(ge=0, lt=LATEST_NS)]
Name = Annotated[str | None, Query(max_length=MAX_NAME)]
Percentile = Annotated[float, Query(ge=0, le=100)]


def traces_router(
    store: SpanStore,
    received: Receiving,
    make_places: MakePlaces,
    find_run: FindRun,
    disk: Disk,
) -> APIRouter:
    """Make the routes.

    Args:
        store: span store.
        received: state of the receivers.
        make_places: where processes are and were measured; to be made on the event loop.
        find_run: returns when a run was recorded and which target; raises ProblemError.
        disk: threads in which spans are read and written.
    """
    routes = APIRouter(tags=["traces"])
    sets = TraceSets(find_run)
    of_endpoint = Depends(sets.of_endpoint())
    queries = SpanQueries(store.read)
    analyst = TraceAnalyst(queries)
    shared: SharedReads[str] = SharedReads()
    # One analysis at a time: each takes a core and memory. Viewers have a separate queue.
    turns = {True: asyncio.Lock(), False: asyncio.Lock()}
    importing = asyncio.Lock()

    async def answer(request: Request, read: Callable[[], M]) -> Response:
        """Compute one answer at a time; concurrent identical requests share it."""
        turn = turns[principal_of(request.scope).sees_arguments]

        async def computed() -> str:
            async with turn:
                return (await disk.read(read)).model_dump_json()

        text = await shared.get((request.url.path, request.url.query), computed)
        return Response(text, media_type="application/json", headers={"Cache-Control": "no-store"})

    @routes.get("/traces/endpoints", summary="Operations at which requests enter")
    async def endpoints(since_ns: Ns = None, until_ns: Ns = None) -> TraceEndpoints:
        def found() -> TraceEndpoints:
            counts = store.counts
            return TraceEndpoints(
                endpoints=queries.endpoints(since_ns, until_ns),
                received=TracesReceived(
                    spans=counts.stored,
                    traces=queries.count(),
                    dropped=counts.dropped,
                    rejected=counts.rejected,
                    expired=counts.expired,
                    bytes=store.bytes(),
                    refused=received.refused,
                    http_port=received.http_port,
                    grpc_port=received.grpc_port,
                ),
            )

        return await disk.read(found)

    @routes.get(
        "/traces/operations",
        summary="What critical paths of all endpoints consist of",
        response_model=TraceOperations,
    )
    async def operations(request: Request, since_ns: Ns = None, until_ns: Ns = None) -> Response:
        wanted = Wanted(since_ns=since_ns, until_ns=until_ns)
        return await answer(request, lambda: analyst.everywhere(wanted))

    @routes.get(
        "/traces",
        summary="Traces: the most recent, the slowest, or those that waited for a thread",
        response_model=TraceList,
        openapi_extra=raises("bad-request", "unknown-run"),
    )
    async def traces(
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
        wanted = await sets.within(
            Wanted(
                *(service, operation, since_ns, until_ns, error, parse_tag(tag), pid, thread_id),
                low=low,
                high=high,
            ),
            run,
        )
        return await answer(request, lambda: TraceList(traces=analyst.traces(wanted, order, limit)))

    @routes.get(
        "/traces/analysis",
        summary="Critical paths of an endpoint's traces",
        response_model=TraceAnalysis,
        openapi_extra=raises("bad-request", "unknown-run"),
    )
    async def analysis(
        request: Request,
        wanted: Annotated[Wanted, of_endpoint],
        exclude: Names = None,
        merge: Roots = "single",
        project: Annotated[str, Query(max_length=2 * MAX_NAME)] = "",
        less_ns: Annotated[int, Query(ge=-LATEST_NS, lt=LATEST_NS)] = 0,
        reference: Annotated[str | None, Query(max_length=MAX_SET)] = None,
    ) -> Response:
        asked = Asked(exclude or (), merge == "merged", project, less_ns)
        known = None
        if reference is not None:
            known = await sets.parse(wanted.service or "", wanted.operation or "", reference)
        return await answer(request, lambda: analyst.analysis(wanted, known, asked))

    @routes.get(
        "/traces/difference",
        summary="Two sets of an endpoint's traces; base and other are queries of their own",
        response_model=TraceDifference,
        openapi_extra=raises("bad-request", "unknown-run"),
    )
    async def difference(
        request: Request,
        service: Service,
        operation: Service,
        base: Set = "",
        other: Set = "",
        exclude: Names = None,
        merge: Roots = "single",
    ) -> Response:
        both = [await sets.parse(service, operation, text) for text in (base, other)]
        asked = Asked(exclude or (), merge == "merged")
        return await answer(request, lambda: analyst.difference(both[0], both[1], asked))

    @routes.get(
        "/traces/heat",
        summary="Operations by traces of an endpoint",
        response_model=TraceHeat,
        openapi_extra=raises("bad-request", "unknown-run"),
    )
    async def heat(
        request: Request,
        wanted: Annotated[Wanted, of_endpoint],
        exclude: Names = None,
        merge: Roots = "single",
        rows: Annotated[int, Query(ge=1, le=200)] = 30,
        columns: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> Response:
        asked = Asked(exclude or (), merge == "merged")
        return await answer(request, lambda: analyst.heat(wanted, asked, rows, columns))

    @routes.get(
        "/traces/{trace_id}",
        summary="One trace: its critical path, and what threads did on it",
        openapi_extra=raises("unknown-trace", "bad-request"),
    )
    async def trace(trace_id: TraceId, request: Request) -> TraceDetail:
        places = await make_places()
        found = await disk.read(analyst.detail, trace_id, places)
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
    async def import_(request: Request) -> TracesImported:
        if importing.locked():
            raise _busy()
        async with importing:
            data = await request.body()
            found = await disk.write(import_document, data, store)
        note(request.scope, "traces", spans=str(found.spans))
        return found

    @routes.post(
        "/traces/jaeger",
        status_code=201,
        summary="Bring in traces of a Jaeger on this machine",
        openapi_extra=raises("bad-request", "too-many-actions", *WRITE_RUNS),
    )
    async def import_jaeger(asked: JaegerRequest, request: Request) -> TracesImported:
        if importing.locked():
            raise _busy()
        async with importing:
            found = await disk.write(import_from_jaeger, asked, store)
        note(request.scope, f"jaeger at port {asked.port}", spans=str(found.spans))
        return found

    return routes


def _busy() -> Exception:
    return refusal(
        "too-many-actions", "traces are being brought in already", "wait until they are done"
    )


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


class TraceSets:
    """Parses the sets of traces that queries select.

    Args:
        find_run: returns when a run was recorded and which target; raises ProblemError.
    """

    def __init__(self, find_run: FindRun) -> None:
        self._find_run = find_run

    def of_endpoint(self) -> Callable[..., Coroutine[None, None, Wanted]]:
        """Return a dependency that parses an endpoint's trace set from the query."""

        async def found(
            service: Annotated[str, Query(max_length=MAX_NAME)],
            operation: Annotated[str, Query(max_length=MAX_NAME)],
            since_ns: Ns = None,
            until_ns: Ns = None,
            low: Percentile = 0,
            high: Percentile = 100,
            tag: Name = None,
            run: RunId = None,
        ) -> Wanted:
            wanted = Wanted(
                service, operation, since_ns, until_ns, tag=parse_tag(tag), low=low, high=high
            )
            return await self.within(wanted, run)

        return found

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
