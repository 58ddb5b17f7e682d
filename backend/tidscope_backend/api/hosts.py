"""GET /api/v1/hosts."""

from fastapi import APIRouter
from tidscope_wire.generated.models import HostsResponse

from tidscope_backend.host_registry import HostRegistry


def router(registry: HostRegistry) -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["hosts"])

    @routes.get("/hosts", summary="Machines with a collector")
    async def hosts() -> HostsResponse:
        return HostsResponse(hosts=registry.hosts)

    return routes
