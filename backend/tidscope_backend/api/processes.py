"""GET /api/v1/processes."""

from fastapi import APIRouter, Request
from tidscope_wire.generated.models import ProcessesResponse

from tidscope_backend.api.openapi import ASK_COLLECTOR, PICK_HOST, raises
from tidscope_backend.hidden_arguments import process_without
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.security.authenticator import principal_of


def router(links: CollectorLinks) -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["processes"])

    @routes.get(
        "/processes",
        summary="Processes of a host",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR),
    )
    async def processes(request: Request, host: str | None = None) -> ProcessesResponse:
        link = links.pick(host)
        listed = (await link.processes()).processes
        if not principal_of(request.scope).sees_arguments:
            listed = [process_without(process) for process in listed]
        return ProcessesResponse(host=link.host.id, processes=listed)

    return routes
