"""/api/v1/policies and /api/v1/targets/{id}/steering: let a policy turn a target's pool size."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from tidscope_wire.generated.models import (
    GroupKind,
    GroupSelector,
    PoliciesResponse,
    ProblemType,
    SteeringOptions,
    SteerRequest,
    Target,
)
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import ASK_COLLECTOR, FIND_ATTACHED, PICK_HOST, raises
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.link import CollectorLink
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of

Pid = Annotated[int | None, Query(ge=1, le=(1 << 31) - 1)]
NAME_ONE = "Give pid=4242, kind=tree&pid=4242, or kind=unit&value=nginx.service."
ASK: tuple[ProblemType, ...] = (
    *("unknown-process", "not-permitted", "kernel-thread", "target-exited"),
    *("empty-group", "group-too-large", "bad-group", "not-steerable"),
)
STEER: tuple[ProblemType, ...] = (*FIND_ATTACHED, *ASK_COLLECTOR, "not-steerable")


def router(registry: HostRegistry, links: CollectorLinks) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(tags=["steering"])

    def link_to(target_id: str) -> CollectorLink:
        """The collector of a target that is being sampled."""
        return links.pick(registry.require_attached(target_id).host)

    @routes.get(
        "/policies",
        summary="Policies that collectors can steer with",
        openapi_extra=raises(*PICK_HOST),
    )
    async def policies(host: str | None = None) -> PoliciesResponse:
        return PoliciesResponse(policies=links.pick(host).policies)

    @routes.get(
        "/targets/{target_id}/steering",
        summary="How a target could be steered, and is",
        openapi_extra=raises(*STEER),
    )
    async def options(target_id: str) -> SteeringOptions:
        return (await link_to(target_id).steering_options(target_id)).options

    @routes.get(
        "/steering",
        summary="How a process or a group could be steered; nothing is attached to",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR, *ASK),
    )
    async def ask(
        pid: Pid = None,
        kind: GroupKind | None = None,
        value: Annotated[str | None, Query(max_length=1024)] = None,
        host: str | None = None,
    ) -> SteeringOptions:
        if (pid is None or kind == "tree") == (kind is None):
            raise refusal(
                "bad-request", "either pid, or kind and value, or tree and pid name it", NAME_ONE
            )
        group = None
        if kind is not None:
            try:
                group = GroupSelector(kind=kind, pid=pid, value=value)
            except ValidationError:
                raise refusal("bad-request", "the group cannot be read", NAME_ONE) from None
            pid = None
        return (await links.pick(host).steering_options(pid=pid, group=group)).options

    @routes.put(
        "/targets/{target_id}/steering",
        summary="Let a policy steer it, or programs of a group",
        openapi_extra=raises(*STEER, "bad-parameter", "too-many-actions", "audit-failed"),
    )
    async def steer(target_id: str, body: SteerRequest, request: Request) -> Target:
        note(request.scope, policy=body.policy)
        actor = principal_of(request.scope).actor
        reply = await link_to(target_id).steer(target_id, body, actor)
        links.asked.note(target_id, body)
        return reply.target

    @routes.post(
        "/targets/{target_id}/steering/renew",
        summary="Renew the lease of what steers it",
        openapi_extra=raises(*STEER),
    )
    async def renew(target_id: str) -> Target:
        return (await link_to(target_id).renew_steering(target_id)).target

    @routes.post(
        "/targets/{target_id}/steering/restart",
        summary="Restart its policy's search",
        openapi_extra=raises(*STEER, "not-steered", "too-many-actions", "audit-failed"),
    )
    async def restart(target_id: str, request: Request, pid: Pid = None) -> Target:
        actor = principal_of(request.scope).actor
        return (await link_to(target_id).restart_search(target_id, pid, actor)).target

    @routes.delete(
        "/targets/{target_id}/steering",
        summary="Steer it no more: the original size comes back",
        openapi_extra=raises(*STEER, "not-steered"),
    )
    async def release(target_id: str, request: Request, pid: Pid = None) -> Target:
        actor = principal_of(request.scope).actor
        # Before it is carried out: without its collector it cannot be, and is meant all the same.
        links.asked.forget(target_id, pid)
        return (await link_to(target_id).release(target_id, pid, actor)).target

    return routes
