"""GET /metrics for Prometheus, and the same families pushed to an OpenTelemetry collector."""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator
from typing import Protocol
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tidscope_backend import VERSION
from tidscope_backend.metrics.families import ExportCounts, Facts, families
from tidscope_backend.settings import metrics_address
from tidscope_backend.web import binary

PATH = "/metrics"


def metrics_router(gather: Callable[[], Facts]) -> APIRouter:
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
        # Writing takes long with many roles; the event loop must handle frames meanwhile.
        text, kind = await asyncio.to_thread(write, facts, request.headers.get("accept", ""))
        return Response(text, media_type=kind, headers={"Cache-Control": "no-store"})

    return routes


def write(facts: Facts, accept: str) -> tuple[bytes, str]:
    """Format facts and this process's state as Prometheus text or as OpenMetrics.

    Args:
        facts: facts to export.
        accept: the Accept header, which selects the format.

    Returns:
        Text and media type.
    """
    registry = CollectorRegistry()
    registry.register(_FactsCollector(facts))
    ProcessCollector(registry=registry)
    try:
        encode, kind = choose_encoder(accept)
    except (TypeError, ValueError):
        # An invalid version (for which parse_version returns text): use the format that every
        # reader accepts.
        encode, kind = choose_encoder("")
    return encode(registry), kind


class _FactsCollector(Collector):
    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def collect(self) -> Iterator[Metric]:
        """Make the families."""
        return families(self._facts)


TIMEOUT_SECONDS = 5.0
"""Deadline of one export, retries included, in seconds."""
_log = logging.getLogger(__name__)


class _Exporter(Protocol):
    def send(self, facts: Facts) -> bool:
        """Send metrics. Return True if the receiver accepted them. Blocks."""
        ...

    def close(self) -> None:
        """Cancel a running export; called from another thread."""
        ...


class Pusher:
    """Exports metrics periodically, with retries.

    Args:
        endpoint: address of the OpenTelemetry collector.
        every_s: interval between exports, in seconds.
        gather: gathers the facts.
        exports: counts of exports, updated here.
        make: makes an exporter for the address; defaults to the OpenTelemetry SDK's.
    """

    def __init__(
        self,
        endpoint: str,
        every_s: float,
        gather: Callable[[], Facts],
        exports: ExportCounts,
        make: Callable[[str], _Exporter] | None = None,
    ) -> None:
        self._endpoint = metrics_address(endpoint)
        self._every_s = every_s
        self._gather = gather
        self._exports = exports
        self._make = make or _SdkExporter

    async def run(self) -> None:
        """Export until cancelled; failures are counted, and logged once."""
        exporter = await asyncio.to_thread(self._make, self._endpoint)
        try:
            await self._keep_sending(exporter)
        finally:
            exporter.close()

    async def _keep_sending(self, exporter: _Exporter) -> None:
        working = True
        while True:
            arrived = await asyncio.to_thread(exporter.send, self._gather())
            if arrived:
                self._exports.sent += 1
            else:
                self._exports.failed += 1
            if arrived != working:
                working = arrived
                self._say(arrived=arrived)
            await asyncio.sleep(self._every_s)

    def _say(self, *, arrived: bool) -> None:
        where = urlsplit(self._endpoint)
        address = f"{where.scheme}://{where.hostname}:{where.port or ''}{where.path}"
        if arrived:
            _log.warning("metrics arrive at %s again", address)
        else:
            _log.warning(
                "metrics cannot be sent to %s; it is tried again every %g s, and nothing is lost: "
                "counters are cumulative",
                address,
                self._every_s,
            )


def pusher(
    endpoint: str | None, every_s: float, gather: Callable[[], Facts], exports: ExportCounts
) -> list[Coroutine[None, None, None]]:
    """Return the background tasks; empty without an address."""
    return [] if endpoint is None else [Pusher(endpoint, every_s, gather, exports).run()]


class _SdkExporter:
    """OTLP/HTTP exporter of the OpenTelemetry SDK, which reads OTEL_EXPORTER_OTLP_HEADERS."""

    def __init__(self, address: str) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.resources import Resource

        # Failures are logged once, by the pusher instead of the SDK.
        logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
        self._exporter = OTLPMetricExporter(endpoint=address, timeout=TIMEOUT_SECONDS)
        self._resource = Resource(
            {
                "service.name": "tidscope",
                "service.version": VERSION,
                "service.instance.id": str(uuid.uuid4()),
            }
        )
        self._started_ns = time.time_ns()

    def send(self, facts: Facts) -> bool:
        """See _Exporter."""
        from opentelemetry.sdk.metrics.export import MetricExportResult

        from tidscope_backend.metrics.otlp import metrics_data

        attached = {target.id: target.attached_unix_us * 1000 for target, _ in facts.targets}
        data = metrics_data(
            families(facts), self._resource, time.time_ns(), self._started_ns, attached
        )
        return self._exporter.export(data) is MetricExportResult.SUCCESS

    def close(self) -> None:
        """See _Exporter."""
        self._exporter.shutdown()
