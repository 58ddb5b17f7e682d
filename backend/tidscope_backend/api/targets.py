"""/api/v1/targets: attach, detach, change the rate."""

from fastapi import APIRouter, Response, status
from tidscope_wire.generated.models import AttachRequest, RateRequest, Target, TargetsResponse

from tidscope_backend.api.openapi import ASK_COLLECTOR, FIND_ATTACHED, PICK_HOST, raises
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks


def router(registry: HostRegistry, links: CollectorLinks) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/targets", tags=["targets"])

    @routes.get("", summary="Targets known, ended ones included")
    async def targets() -> TargetsResponse:
        return TargetsResponse(targets=registry.targets)

    @routes.post(
        "",
        status_code=status.HTTP_201_CREATED,
        summary="Attach to a process",
        responses={200: {"model": Target, "description": "It was attached to already"}},
        openapi_extra=raises(
            *PICK_HOST,
            *ASK_COLLECTOR,
            *("unknown-process", "process-id-reused", "not-permitted", "kernel-thread"),
            *("target-exited", "too-many-targets", "audit-failed"),
        ),
    )
    async def attach(request: AttachRequest, response: Response) -> Target:
        link = links.pick(request.host)
        reply = await link.attach(request.pid, request.start_ticks, request.rate_hz)
        if not reply.created:
            response.status_code = status.HTTP_200_OK
        return reply.target

    @routes.get("/{target_id}", summary="One target", openapi_extra=raises("unknown-target"))
    async def target(target_id: str) -> Target:
        return registry.require(target_id)

    @routes.patch(
        "/{target_id}",
        summary="Change the sampling rate",
        openapi_extra=raises(*FIND_ATTACHED, *ASK_COLLECTOR, "audit-failed"),
    )
    async def change(target_id: str, request: RateRequest) -> Target:
        target = registry.require_attached(target_id)
        reply = await links.pick(target.host).set_rate(target_id, request.rate_hz)
        return reply.target

    @routes.delete(
        "/{target_id}",
        status_code=status.HTTP_204_NO_CONTENT,
        response_class=Response,
        summary="Stop sampling; a target that has ended leaves the list",
        openapi_extra=raises(*FIND_ATTACHED, *ASK_COLLECTOR),
    )
    async def detach(target_id: str) -> None:
        target = registry.require(target_id)
        if target.state == "attached":
            await links.pick(target.host).detach(target_id)
        else:
            registry.remove_target(target_id)

    return routes
