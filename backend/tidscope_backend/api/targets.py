"""/api/v1/targets: attach, detach, change the rate."""

from fastapi import APIRouter, Request, Response, status
from tidscope_wire.generated.models import AttachRequest, RateRequest, Target, TargetsResponse
from tidscope_wire.groups import selector_text
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import ASK_COLLECTOR, FIND_ATTACHED, PICK_HOST, raises
from tidscope_backend.hidden_arguments import target_without
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of


def router(registry: HostRegistry, links: CollectorLinks) -> APIRouter:
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
    """What was asked for, as the audit log has it."""
    if body.group is None:
        return {"pid": str(body.pid)}
    return {"group": selector_text(body.group)}


def _shown(target: Target, request: Request) -> Target:
    """A target as who asks may see it."""
    return target if principal_of(request.scope).sees_arguments else target_without(target)
