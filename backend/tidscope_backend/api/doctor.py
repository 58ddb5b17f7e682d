"""/api/v1/doctor: what a host lets tidscope measure, and the switch it may set."""

from fastapi import APIRouter, Request
from tidscope_wire.generated.models import DelayAccountingRequest, DoctorReport

from tidscope_backend.api.openapi import ASK_COLLECTOR, PICK_HOST, raises
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.security.audit import note
from tidscope_backend.security.authenticator import principal_of


def router(links: CollectorLinks) -> APIRouter:
    """Make the routes."""
    routes = APIRouter(prefix="/doctor", tags=["doctor"])

    @routes.get(
        "",
        summary="What a host lets tidscope measure",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR),
    )
    async def doctor(host: str | None = None) -> DoctorReport:
        return (await links.pick(host).doctor()).report

    @routes.put(
        "/delay-accounting",
        summary="Switch the kernel's delay accounting on or off",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR, "not-permitted", "audit-failed"),
    )
    async def delay_accounting(
        body: DelayAccountingRequest, request: Request, host: str | None = None
    ) -> DoctorReport:
        note(request.scope, on=str(body.on).lower())
        actor = principal_of(request.scope).actor
        return (await links.pick(host).set_delay_accounting(body.on, actor)).report

    return routes
