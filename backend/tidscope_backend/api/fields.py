"""GET /api/v1/fields."""

from fastapi import APIRouter
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import FieldCatalogue


def router() -> APIRouter:
    """Make the route."""
    routes = APIRouter(tags=["fields"])

    @routes.get("/fields", summary="What is measured, in which unit, how exactly")
    async def fields() -> FieldCatalogue:
        return CATALOGUE

    return routes
