"""/api/v1/session: trade a token for a session, list sessions and end them."""

from collections.abc import Iterable

from fastapi import APIRouter, Request, Response, status
from tidscope_wire.generated.models import (
    SessionInfo,
    SessionOpened,
    SessionRequest,
    SessionResponse,
    SessionsResponse,
    TicketRequest,
    TicketResponse,
)
from tidscope_wire.problems import refusal

from tidscope_backend.api.openapi import raises
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import (
    Authenticator,
    Principal,
    client_address,
    principal_of,
)
from tidscope_backend.security.rights import rights_of
from tidscope_backend.security.sessions import Session


def session_router(authenticator: Authenticator) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(tags=["session"])
    sessions = authenticator.sessions

    @routes.post(
        "/session",
        status_code=status.HTTP_201_CREATED,
        summary="Sign in: trade the token for a session",
        openapi_extra=raises("unauthenticated", "too-many-attempts"),
    )
    async def sign_in(body: SessionRequest, request: Request) -> SessionOpened:
        address = client_address(request.scope)
        grant = authenticator.check_token(body.token, request.headers, address)
        if grant == "metrics":
            raise refusal(
                "unauthenticated",
                "the metrics token only reads /metrics",
                "sign in with the token that `tidscope up` printed",
            )
        label = request.headers.get("user-agent", "")
        session, credential = sessions.open(grant, label, address)
        note(request.scope, session.id, role=session.role, program=label)
        return SessionOpened(id=session.id, role=session.role, credential=credential)

    @routes.get("/session", summary="What this session may do")
    async def session(request: Request) -> SessionResponse:
        principal = principal_of(request.scope)
        return SessionResponse(role=principal.role, id=_own_id(principal))

    @routes.delete(
        "/session",
        status_code=status.HTTP_204_NO_CONTENT,
        response_class=Response,
        summary="Sign out",
    )
    async def sign_out(request: Request) -> None:
        own = _own_id(principal_of(request.scope))
        if own is not None:
            sessions.end(own)

    @routes.post(
        "/session/tickets",
        status_code=status.HTTP_201_CREATED,
        summary="Get a ticket that lets a browser download one file, once, within seconds",
    )
    async def ticket(body: TicketRequest, request: Request) -> TicketResponse:
        own = _own_id(principal_of(request.scope))
        if own is None:
            raise refusal(
                "bad-request",
                "a ticket is for a session, and this request shows a token",
                "show the token with the download itself",
            )
        if rights_of(body.path.partition("?")[0]).get("GET") != "viewer":
            raise refusal(
                "bad-request", f"nothing is downloaded from {body.path}", "give the path of a file"
            )
        return TicketResponse(ticket=authenticator.tickets.issue(own, body.path))

    @routes.get("/sessions", summary="Open sessions")
    async def open_sessions(request: Request) -> SessionsResponse:
        own = _own_id(principal_of(request.scope))
        return SessionsResponse(sessions=_listed(sessions.list(), own))

    @routes.delete(
        "/sessions/{session_id}",
        status_code=status.HTTP_204_NO_CONTENT,
        response_class=Response,
        summary="End a session: its requests are refused and its pages close",
        openapi_extra=raises("unknown-session"),
    )
    async def revoke(session_id: str) -> None:
        if not sessions.end(session_id):
            raise refusal(
                "unknown-session",
                f"no open session has the id {session_id}",
                "it may have ended already; see the list of open sessions",
            )

    return routes


def _own_id(principal: Principal) -> str | None:
    return None if principal.session is None else principal.session.id


def _listed(found: Iterable[Session], own: str | None) -> list[SessionInfo]:
    return [
        SessionInfo(
            id=session.id,
            role=session.role,
            label=session.label,
            address=session.address,
            opened_unix_us=int(session.opened_s * 1e6),
            used_unix_us=int(session.used_s * 1e6),
            expires_unix_us=int(session.expires_s * 1e6),
            own=session.id == own,
        )
        for session in found
    ]
