"""/api/v1/session: trades a printed token for a cookie, tells its role, ends it."""

from fastapi import APIRouter, Request, Response, status
from tidscope_wire.generated.models import SessionRequest, SessionResponse

from tidscope_backend.api.openapi import raises
from tidscope_backend.security.access import client_address
from tidscope_backend.security.authenticator import Authenticator


def router(authenticator: Authenticator) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/session", tags=["session"])

    @routes.post(
        "",
        status_code=status.HTTP_204_NO_CONTENT,
        response_class=Response,
        summary="Sign in with the token",
        openapi_extra=raises("unauthenticated", "too-many-attempts"),
    )
    async def begin(body: SessionRequest, request: Request, response: Response) -> None:
        role = authenticator.check_token(body.token, request.headers, client_address(request.scope))
        secure = request.url.scheme == "https"
        response.headers["Set-Cookie"] = authenticator.sessions.cookie_header(role, secure)

    @routes.get(
        "",
        summary="What this session may do",
        openapi_extra=raises("unauthenticated", "too-many-attempts"),
    )
    async def role(request: Request) -> SessionResponse:
        return SessionResponse(
            role=authenticator.authenticate(request.headers, client_address(request.scope))
        )

    @routes.delete(
        "", status_code=status.HTTP_204_NO_CONTENT, response_class=Response, summary="Sign out"
    )
    async def end(request: Request, response: Response) -> None:
        response.headers["Set-Cookie"] = authenticator.sessions.end_header(
            request.url.scheme == "https"
        )

    return routes
