"""GET /api/v1/processes."""

from fastapi import APIRouter
from tidscope_wire.generated.models import ProcessesResponse

from tidscope_backend.api.openapi import ASK_COLLECTOR, PICK_HOST, raises
from tidscope_backend.ingest.links import CollectorLinks


def router(links: CollectorLinks) -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["processes"])

    @routes.get(
        "/processes",
        summary="Processes of a host",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR),
    )
    async def processes(host: str | None = None) -> ProcessesResponse:
        link = links.pick(host)
        reply = await link.processes()
        return ProcessesResponse(host=link.host.id, processes=reply.processes)

    return routes
