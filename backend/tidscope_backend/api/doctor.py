"""GET /api/v1/doctor."""

from fastapi import APIRouter
from tidscope_wire.generated.models import DoctorReport

from tidscope_backend.ingest.links import CollectorLinks


def router(links: CollectorLinks) -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["doctor"])

    @routes.get("/doctor", summary="What a host lets tidscope measure")
    async def doctor(host: str | None = None) -> DoctorReport:
        return (await links.pick(host).doctor()).report

    return routes
