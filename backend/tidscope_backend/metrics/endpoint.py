"""GET /metrics."""

import asyncio
from collections.abc import Callable, Iterator

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tidscope_backend.api.openapi import binary
from tidscope_backend.metrics.facts import Facts
from tidscope_backend.metrics.families import families

PATH = "/metrics"


def router(gather: Callable[[], Facts]) -> APIRouter:
    """Make the route; `gather` takes the facts together."""
    routes = APIRouter(tags=["metrics"])

    @routes.get(
        PATH,
        summary="For Prometheus: totals by role, and tidscope's own health",
        response_class=Response,
        responses={200: binary("text/plain", "application/openmetrics-text")},
    )
    async def metrics(request: Request) -> Response:
        facts = gather()
        # Writing takes a while where there are many roles; frames come in meanwhile.
        text, kind = await asyncio.to_thread(write, facts, request.headers.get("accept", ""))
        return Response(text, media_type=kind, headers={"Cache-Control": "no-store"})

    return routes


def write(facts: Facts, accept: str) -> tuple[bytes, str]:
    """Write facts, and the state of this process, as text or as OpenMetrics.

    Args:
        facts: what to tell.
        accept: the Accept header, which decides.

    Returns:
        The text and its media type.
    """
    registry = CollectorRegistry()
    registry.register(_FactsCollector(facts))
    ProcessCollector(registry=registry)
    try:
        encode, kind = choose_encoder(accept)
    except (TypeError, ValueError):
        # A version that is no version (parse_version then gives text): what every reader takes.
        encode, kind = choose_encoder("")
    return encode(registry), kind


class _FactsCollector(Collector):
    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def collect(self) -> Iterator[Metric]:
        """Make the families."""
        return families(self._facts)
