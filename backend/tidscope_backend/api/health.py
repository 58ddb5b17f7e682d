"""GET /api/v1/health."""

import os
from collections.abc import Callable
from dataclasses import asdict
from functools import cache

from fastapi import APIRouter
from tidscope_wire.generated.models import ConnectionsHealth, HealthResponse

from tidscope_backend import VERSION
from tidscope_backend.connections.table import ConnectionCounts
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks
from tidscope_backend.stream.fanout import Fanout

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def router(
    clock: Callable[[], float],
    registry: HostRegistry,
    links: CollectorLinks,
    fanout: Fanout,
    connections: ConnectionCounts,
) -> APIRouter:
    """Make the route; clock gives seconds, monotonic."""
    routes = APIRouter(tags=["health"])
    started = clock()

    @routes.get("/health", summary="How the backend is")
    async def health() -> HealthResponse:
        return HealthResponse(
            status="ok" if len(links) else "degraded",
            version=VERSION,
            uptime_s=clock() - started,
            uid=os.getuid(),
            collectors=len(links),
            clients=fanout.pages,
            targets=len(registry.targets),
            frames=fanout.frames,
            frame_bytes=fanout.frame_bytes,
            coalesced=fanout.coalesced + fanout.merged,
            dropped=fanout.dropped,
            lost=fanout.lost,
            history_bytes=fanout.store.bytes,
            rss_bytes=rss_bytes(),
            connections=ConnectionsHealth(**asdict(connections)),
        )

    return routes


def rss_bytes() -> int:
    """Resident memory of this process (proc(5), /proc/self/statm, second value in pages)."""
    return int(os.pread(_statm(), 128, 0).split()[1]) * PAGE_BYTES


@cache
def _statm() -> int:
    """Open for good: health is answered when no descriptor is left, too."""
    return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
