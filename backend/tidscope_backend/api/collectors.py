"""Routes about collectors: health, hosts, processes, targets, pool sizes, doctor and demo."""

import os
from collections.abc import Callable
from dataclasses import asdict
from functools import cache

from fastapi import APIRouter, Request, Response, status
from tidscope_wire.generated.models import (
    AttachRequest,
    ConnectionsHealth,
    DelayAccountingRequest,
    DemoResponse,
    DoctorReport,
    HealthResponse,
    HostsResponse,
    ProcessesResponse,
    RateRequest,
    SizeAudit,
    Target,
    TargetsResponse,
)
from tidscope_wire.groups import selector_text
from tidscope_wire.problems import refusal

from tidscope_backend import VERSION
from tidscope_backend.api.openapi import ASK_COLLECTOR, FIND_ATTACHED, PICK_HOST, raises
from tidscope_backend.connections.table import ConnectionCounts
from tidscope_backend.demo.demo_process import DemoProcess
from tidscope_backend.hidden_arguments import process_without, target_without
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of
from tidscope_backend.stream.fanout import Fanout


def targets_router(registry: HostRegistry, links: CollectorLinks) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/targets", tags=["targets"])

    @routes.get("", summary="Targets known, ended ones included")
    async def targets(request: Request) -> TargetsResponse:
        return TargetsResponse(targets=[_shown(each, request) for each in registry.targets])

    @routes.post(
        "",
        status_code=status.HTTP_201_CREATED,
        summary="Attach to a process or a group of processes",
        responses={200: {"model": Target, "description": "It was attached to already"}},
        openapi_extra=raises(
            *PICK_HOST,
            *ASK_COLLECTOR,
            *("unknown-process", "process-id-reused", "not-permitted", "kernel-thread"),
            *("empty-group", "group-too-large", "bad-group"),
            *("target-exited", "too-many-targets", "audit-failed"),
        ),
    )
    async def attach(body: AttachRequest, request: Request, response: Response) -> Target:
        if (body.pid is None) == (body.group is None):
            raise refusal(
                "bad-request",
                "either pid or group says what to attach to",
                "Give one of them.",
            )
        link = links.pick(body.host)
        reply = await link.attach(body, principal_of(request.scope).actor)
        note(request.scope, reply.target.id, host=link.host.name, **_asked(body))
        if not reply.created:
            response.status_code = status.HTTP_200_OK
        return reply.target

    @routes.get("/{target_id}", summary="One target", openapi_extra=raises("unknown-target"))
    async def target(target_id: str, request: Request) -> Target:
        return _shown(registry.require(target_id), request)

    @routes.patch(
        "/{target_id}",
        summary="Change the sampling rate",
        openapi_extra=raises(*FIND_ATTACHED, *ASK_COLLECTOR, "audit-failed"),
    )
    async def change(target_id: str, body: RateRequest, request: Request) -> Target:
        note(request.scope, rate_hz=f"{body.rate_hz:g}")
        target = registry.require_attached(target_id)
        reply = await links.pick(target.host).set_rate(
            target_id, body.rate_hz, principal_of(request.scope).actor
        )
        return reply.target

    @routes.delete(
        "/{target_id}",
        status_code=status.HTTP_204_NO_CONTENT,
        response_class=Response,
        summary="Stop sampling; a target that has ended leaves the list",
        openapi_extra=raises(*FIND_ATTACHED, *ASK_COLLECTOR),
    )
    async def detach(target_id: str, request: Request) -> None:
        target = registry.require(target_id)
        if target.state == "attached":
            await links.pick(target.host).detach(target_id, principal_of(request.scope).actor)
        else:
            registry.remove_target(target_id)

    return routes


def _asked(body: AttachRequest) -> dict[str, str]:
    """Return the requested target as the audit log names it."""
    if body.group is None:
        return {"pid": str(body.pid)}
    return {"group": selector_text(body.group)}


def _shown(target: Target, request: Request) -> Target:
    """Return a target without the command arguments that the requester may not see."""
    return target if principal_of(request.scope).sees_arguments else target_without(target)


def hosts_router(registry: HostRegistry) -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["hosts"])

    @routes.get("/hosts", summary="Machines with a collector")
    async def hosts() -> HostsResponse:
        return HostsResponse(hosts=registry.hosts)

    return routes


PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def health_router(
    clock: Callable[[], float],
    registry: HostRegistry,
    links: CollectorLinks,
    fanout: Fanout,
    connections: ConnectionCounts,
) -> APIRouter:
    """Make the route; `clock` is monotonic, in seconds."""
    routes = APIRouter(tags=["health"])
    started = clock()

    @routes.get("/health", summary="How the backend is")
    async def health() -> HealthResponse:
        return HealthResponse(
            status="ok" if len(links) else "degraded",
            version=VERSION,
            uptime_s=clock() - started,
            uid=os.getuid(),
            collectors=len(links),
            clients=fanout.subscribers,
            targets=len(registry.targets),
            frames=fanout.frames,
            frame_bytes=fanout.frame_bytes,
            coalesced=fanout.coalesced + fanout.merged,
            dropped=fanout.dropped,
            lost=fanout.lost,
            history_bytes=fanout.store.bytes,
            rss_bytes=rss_bytes(),
            connections=ConnectionsHealth(**asdict(connections)),
        )

    return routes


def rss_bytes() -> int:
    """Return resident memory in bytes (proc(5), second value of /proc/self/statm)."""
    return int(os.pread(_statm(), 128, 0).split()[1]) * PAGE_BYTES


@cache
def _statm() -> int:
    """Open /proc/self/statm once, so that health works without free descriptors."""
    return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)


def processes_router(links: CollectorLinks) -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["processes"])

    @routes.get(
        "/processes",
        summary="Processes of a host",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR),
    )
    async def processes(request: Request, host: str | None = None) -> ProcessesResponse:
        link = links.pick(host)
        reply = await link.processes()
        listed = reply.processes
        if not principal_of(request.scope).sees_arguments:
            listed = [process_without(process) for process in listed]
        return ProcessesResponse(host=link.host.id, processes=listed, note=reply.note)

    return routes


def sizes_router(links: CollectorLinks) -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["processes"])

    @routes.get(
        "/sizes",
        summary="Sizes of pools of a host's programs against what they may use",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR),
    )
    async def sizes(request: Request, host: str | None = None) -> SizeAudit:
        audit = (await links.pick(host).sizes()).audit
        if principal_of(request.scope).sees_arguments:
            return audit
        hidden = [
            one.model_copy(update={"process": process_without(one.process)})
            for one in audit.programs
        ]
        return audit.model_copy(update={"programs": hidden})

    return routes


def doctor_router(links: CollectorLinks) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/doctor", tags=["doctor"])

    @routes.get(
        "",
        summary="What a host lets tidscope measure",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR),
    )
    async def doctor(host: str | None = None) -> DoctorReport:
        return (await links.pick(host).doctor()).report

    @routes.put(
        "/delay-accounting",
        summary="Switch the kernel's delay accounting on or off",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR, "not-permitted", "audit-failed"),
    )
    async def delay_accounting(
        body: DelayAccountingRequest, request: Request, host: str | None = None
    ) -> DoctorReport:
        note(request.scope, on=str(body.on).lower())
        actor = principal_of(request.scope).actor
        return (await links.pick(host).set_delay_accounting(body.on, actor)).report

    return routes


def demo_router(demo: DemoProcess) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/demo", tags=["demo"])

    @routes.post(
        "",
        status_code=status.HTTP_201_CREATED,
        summary="Start the demo program and attach to it",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR, "demo-failed"),
    )
    async def start(request: Request) -> DemoResponse:
        return DemoResponse(target=await demo.start(principal_of(request.scope).actor))

    @routes.delete(
        "",
        status_code=status.HTTP_204_NO_CONTENT,
        response_class=Response,
        summary="End the demo program",
    )
    async def stop() -> None:
        await demo.stop()

    return routes
