"""/api/v1/traces: received and imported spans, their critical paths, and their threads."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from tidscope_traces.spans.reading import LATEST_NS
from tidscope_traces.summary.daily import DAYS
from tidscope_traces.summary.heat import HeatMetric
from tidscope_wire.generated.models import (
    JaegerRequest,
    TraceAnalysis,
    TraceDays,
    TraceDetail,
    TraceDifference,
    TraceEndpoints,
    TraceHeat,
    TraceList,
    TraceOperations,
    TracesImported,
    TraceValues,
)

from tidscope_backend.api.openapi import WRITE_RUNS, raises
from tidscope_backend.api.trace_service import RUN, TraceService, parse_tag
from tidscope_backend.hidden_arguments import trace_without
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.traces.analyst import Asked
from tidscope_backend.traces.importing import import_document, import_from_jaeger
from tidscope_backend.traces.queries import MAX_TRACES, Order, Wanted
from tidscope_backend.web import binary

TRACE_IMPORT_PATH = "/traces/import"
MAX_NAME = 512
ServiceName = Annotated[str, Query(max_length=MAX_NAME)]
MAX_SET = 2 * MAX_NAME
Set = Annotated[str, Query(max_length=MAX_SET)]
Roots = Literal["single", "merged"]
Names = Annotated[list[str] | None, Query(max_length=64)]
TraceId = Annotated[str, InPath(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
Ns = Annotated[int | None, Query(ge=0, lt=LATEST_NS)]
Name = Annotated[str | None, Query(max_length=MAX_NAME)]
MAX_DAYS = 31
Percentile = Annotated[float, Query(ge=0, le=100)]
RunId = Annotated[str | None, Query(pattern=RUN)]


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
    "/traces/values",
    summary="An operation's own time, by the value of an attribute of its spans",
    response_model=TraceValues,
    openapi_extra=raises("bad-request", "unknown-run"),
)
async def values(
    traces: Service,
    request: Request,
    wanted: OfEndpoint,
    of: Annotated[str, Query(max_length=2 * MAX_NAME)],
    attribute: ServiceName = "",
    exclude: Names = None,
    merge: Roots = "single",
) -> Response:
    asked = Asked(exclude or (), merge == "merged")
    return await traces.answer(request, lambda: traces.analyst.values(wanted, asked, of, attribute))


@routes.get(
    "/traces/days",
    summary="Critical paths of an endpoint day by day, with trends",
    response_model=TraceDays,
    openapi_extra=raises("bad-request", "unknown-run"),
)
async def days(
    traces: Service,
    request: Request,
    wanted: OfEndpoint,
    exclude: Names = None,
    merge: Roots = "single",
    count: Annotated[int, Query(ge=2, le=MAX_DAYS)] = DAYS,
) -> Response:
    asked = Asked(exclude or (), merge == "merged")
    return await traces.answer(request, lambda: traces.analyst.days(wanted, asked, count))


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
