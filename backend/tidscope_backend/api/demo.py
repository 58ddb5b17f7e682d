"""/api/v1/demo: starts the demo program and attaches to it, and ends it."""

from fastapi import APIRouter, Request, Response, status
from tidscope_wire.generated.models import DemoResponse

from tidscope_backend.api.openapi import ASK_COLLECTOR, PICK_HOST, raises
from tidscope_backend.demo.demo_process import DemoProcess
from tidscope_backend.security.authenticator import principal_of


def router(demo: DemoProcess) -> APIRouter:
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
