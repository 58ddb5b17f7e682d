"""/api/v1/proof: the backend proves that it knows a secret, and takes a proof for a session."""

import asyncio

from fastapi import APIRouter, Request, status
from tidscope_wire.generated.models import ClientProof, ProofRequest, ProofResponse, SessionOpened

from tidscope_backend.api.openapi import raises
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import Authenticator, client_address, own_port


def router(authenticator: Authenticator) -> APIRouter:
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
