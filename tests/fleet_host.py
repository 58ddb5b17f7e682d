"""A host of a fleet inside a test: a collector's real uplink, and the relay that connects it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from live_page import LivePage
from nats_servers import Servers
from processes import wait_until
from tidscope_backend.ingest.private_socket import open_private_socket
from tidscope_backend.nats_link.bus import Bus
from tidscope_backend.nats_link.host_relay import HostRelay
from tidscope_backend.nats_link.host_ring import HostRing
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_wire.generated.models import LiveState
from uplink_harness import MIB, UplinkHarness

LONGEST_S = 60.0


@asynccontextmanager
async def running_host(
    servers: Servers, targets: TargetRegistry, name: str = "box", ring: HostRing | None = None
) -> AsyncIterator[tuple[HostRelay, UplinkHarness]]:
    """A collector's uplink, and the relay that it is connected to."""
    settings = servers.settings(name)
    relay = HostRelay(name, Bus(settings, f"host {name}"), settings, ring)
    with open_private_socket() as sock:
        running = asyncio.create_task(relay.run(sock))
        try:
            async with UplinkHarness(targets, f"unix:{sock.getsockname()}", most_bytes=MIB) as one:
                yield relay, one
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def said(caplog: pytest.LogCaptureFixture, text: str) -> None:
    """Wait until a log line has a text."""
    await asyncio.to_thread(wait_until, lambda: text in caplog.text, LONGEST_S)


async def connected(page: LivePage, count: int = 1) -> LiveState:
    """Wait until a page hears of connected hosts."""
    async with asyncio.timeout(LONGEST_S):
        while True:
            state = await page.text(LiveState)
            if sum(host.connected for host in state.hosts) == count and state.targets:
                return state
