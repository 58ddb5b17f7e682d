"""/api/v1/session: trades the printed token for a cookie, and ends that."""

from fastapi import APIRouter, Request, Response, status
from tidscope_wire.generated.models import SessionRequest

from tidscope_backend.security.door import Door
from tidscope_backend.security.gate import client_address


def router(door: Door) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/session", tags=["session"])

    @routes.post("", status_code=status.HTTP_204_NO_CONTENT, summary="Sign in with the token")
    async def begin(body: SessionRequest, request: Request, response: Response) -> None:
        door.try_token(body.token, client_address(request.scope))
        secure = request.url.scheme == "https"
        response.headers["Set-Cookie"] = door.sessions.cookie_header(secure)

    @routes.delete("", status_code=status.HTTP_204_NO_CONTENT, summary="Sign out")
    async def end(request: Request, response: Response) -> None:
        response.headers["Set-Cookie"] = door.sessions.end_header(request.url.scheme == "https")

    return routes
