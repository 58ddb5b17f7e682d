"""GET /api/v1/sizes: whether pools of programs fit the CPUs that they may use."""

from fastapi import APIRouter, Request
from tidscope_wire.generated.models import SizeAudit

from tidscope_backend.api.openapi import ASK_COLLECTOR, PICK_HOST, raises
from tidscope_backend.hidden_arguments import process_without
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.security.authenticator import principal_of


def router(links: CollectorLinks) -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["processes"])

    @routes.get(
        "/sizes",
        summary="Sizes of pools of a host's programs against what they may use",
        openapi_extra=raises(*PICK_HOST, *ASK_COLLECTOR),
    )
    async def sizes(request: Request, host: str | None = None) -> SizeAudit:
        audit = (await links.pick(host).sizes()).audit
        if principal_of(request.scope).sees_arguments:
            return audit
        hidden = [
            one.model_copy(update={"process": process_without(one.process)})
            for one in audit.programs
        ]
        return audit.model_copy(update={"programs": hidden})

    return routes
