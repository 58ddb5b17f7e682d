"""Routes of steering: policies, proofs of secrets, and models of the prediction service.

The owner and name of a model reach the prediction service in a message only.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Query, Request, status
from pydantic import ValidationError
from tidscope_predictd.client import Connection, ServiceError, connect
from tidscope_predictd.messages import NAME, OWN, Open, Reset
from tidscope_wire.generated.models import (
    ClientProof,
    GroupKind,
    GroupSelector,
    PoliciesResponse,
    PredictionModel,
    PredictionService,
    PredictionWeights,
    ProblemType,
    ProofRequest,
    ProofResponse,
    SessionOpened,
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
from tidscope_backend.security.authenticator import (
    Authenticator,
    client_address,
    own_port,
    principal_of,
)

Pid = Annotated[int | None, Query(ge=1, le=(1 << 31) - 1)]
NAME_ONE = "Give pid=4242, kind=tree&pid=4242, or kind=unit&value=nginx.service."
ASK: tuple[ProblemType, ...] = (
    *("unknown-process", "not-permitted", "kernel-thread", "target-exited"),
    *("empty-group", "group-too-large", "bad-group", "not-steerable"),
)
STEER: tuple[ProblemType, ...] = (*FIND_ATTACHED, *ASK_COLLECTOR, "not-steerable")


def steering_router(registry: HostRegistry, links: CollectorLinks) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(tags=["steering"])

    def link_to(target_id: str) -> CollectorLink:
        """Return the link to the collector that samples a target."""
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
        # Forget before releasing: the release must hold even without a collector.
        links.asked.forget(target_id, pid)
        return (await link_to(target_id).release(target_id, pid, actor)).target

    return routes


def proof_router(authenticator: Authenticator) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/proof", tags=["session"])

    @routes.post("", summary="Have the backend prove that it knows a secret")
    async def prove(body: ProofRequest, request: Request) -> ProofResponse:
        if authenticator.keys.is_slow(body.subject):
            await asyncio.to_thread(authenticator.keys.valid, body.subject)
        return authenticator.proofs.prove(body, own_port(request.scope))

    @routes.post(
        "/session",
        status_code=status.HTTP_201_CREATED,
        summary="Sign in: prove that the token is known, without sending it",
        openapi_extra=raises("unauthenticated", "too-many-attempts"),
    )
    async def sign_in(body: ClientProof, request: Request) -> SessionOpened:
        role = authenticator.check_role_proof(body, request.scope)
        label = request.headers.get("user-agent", "")
        address = client_address(request.scope)
        session, credential = authenticator.sessions.open(role, label, address)
        note(request.scope, session.id, role=session.role, program=label)
        return SessionOpened(id=session.id, role=session.role, credential=credential)

    return routes


Owner = Annotated[int, Path(ge=0, lt=OWN)]
Name = Annotated[str, Path(pattern=f"^{NAME.pattern}$", max_length=64)]
Result = TypeVar("Result")
HINT = "See tidscope predictd --list; --administrator of the service may reset what others own."


def predictions_router(socket: FilePath) -> APIRouter:
    """Make the routes.

    Args:
        socket: socket of the service.
    """
    routes = APIRouter(prefix="/predictions", tags=["predictions"])

    @routes.get("", summary="The prediction service and its models")
    async def models() -> PredictionService:
        return await asyncio.to_thread(_service, socket)

    @routes.get(
        "/{owner}/{name}",
        summary="The weights of a model",
        openapi_extra=raises("bad-request", "prediction-refused"),
    )
    async def weights(owner: Owner, name: Name) -> PredictionWeights:
        return await asyncio.to_thread(_of_model, socket, owner, name, _weights)

    @routes.post(
        "/{owner}/{name}/reset",
        summary="Let a model forget everything",
        openapi_extra=raises("bad-request", "prediction-refused"),
    )
    async def reset(owner: Owner, name: Name, request: Request) -> PredictionService:
        note(request.scope, object=f"{owner}/{name}")
        await asyncio.to_thread(_of_model, socket, owner, name, _reset)
        return await asyncio.to_thread(_service, socket)

    return routes


def _service(socket: FilePath) -> PredictionService:
    try:
        connection = connect(socket)
        try:
            found = connection.models()
        finally:
            connection.close()
        models = [PredictionModel.model_validate(one) for one in found]
        return PredictionService(reason=None, models=models)
    except (ServiceError, ValidationError) as error:
        reason = str(error) if isinstance(error, ServiceError) else "its list cannot be read"
        return PredictionService(reason=reason, models=[])


def _of_model(
    socket: FilePath, owner: int, name: str, work: Callable[[Connection, int, bytes], Result]
) -> Result:
    """Open a model and pass the service's handle and the model's weights to a function.

    Raises:
        ProblemError: the service refused, or does not answer.
    """
    try:
        connection = connect(socket)
        try:
            handle, memory = connection.open(Open(name, owner))
            weights = bytes(memory.weights)
            memory.close()
            return work(connection, handle, weights)
        finally:
            connection.close()
    except ServiceError as error:
        raise refusal("prediction-refused", f"{name} of user {owner}: {error}", HINT) from error


def _weights(_: Connection, __: int, weights: bytes) -> PredictionWeights:
    return PredictionWeights(weights=list(memoryview(weights).cast("b")))


def _reset(connection: Connection, handle: int, _: bytes) -> None:
    connection.ask(Reset(handle, ()))
