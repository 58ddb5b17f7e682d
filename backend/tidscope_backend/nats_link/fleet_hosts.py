"""Hosts that say over NATS that they are there; each gets a session, and another one after it."""

import asyncio
import json
import logging
from collections.abc import Callable, Container
from contextlib import suppress
from typing import Any

from tidscope_wire.generated.models import FrameHeader
from tidscope_wire.proof import HOST_NAME

from tidscope_backend.ingest.session import CollectorSessions
from tidscope_backend.nats_link.bus import Bus
from tidscope_backend.nats_link.relay_counts import RelayCounts
from tidscope_backend.nats_link.remote_host import RemoteHost
from tidscope_backend.nats_link.subjects import ALL_HERE, ALL_ROLES, host_of
from tidscope_backend.security.collector_access import NatsAuthority
from tidscope_backend.settings import MAX_FLEET_HOSTS, FleetSettings

_log = logging.getLogger(__name__)


class FleetHosts:
    """Finds hosts and keeps a session with each.

    Args:
        bus: connection to NATS.
        sessions: serves the connections of collectors.
        authority: returns what the key of a host of this name may represent.
        observe: takes a header with totals by role, and the host IDs that its sender speaks for.
        settings: intervals.
    """

    def __init__(
        self,
        bus: Bus,
        sessions: CollectorSessions,
        authority: Callable[[str], NatsAuthority],
        observe: Callable[[Container[str], FrameHeader], None],
        settings: FleetSettings,
    ) -> None:
        self._bus = bus
        self._sessions = sessions
        self._authority = authority
        self._observe = observe
        self._settings = settings
        self._hosts: dict[str, RemoteHost] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._said: dict[str, str] = {}

    @property
    def relays(self) -> dict[str, RelayCounts]:
        """Counts of the relays of hosts with a session, by the name of the host."""
        return {name: host.counts for name, host in self._hosts.items()}

    async def run(self) -> None:
        """Find hosts until cancelled; then end all sessions."""
        self._bus.subscribe(ALL_HERE, self._here)
        self._bus.subscribe(ALL_ROLES, self._take_roles)
        connecting = asyncio.create_task(self._bus.run())
        try:
            while True:
                await asyncio.sleep(self._settings.beat_s)
                self._beat()
        finally:
            for host in self._hosts.values():
                host.end("the backend ends")
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=2)
            await self._bus.flush()
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)

    def _here(self, subject: str, payload: bytes) -> None:
        name = host_of(subject)
        with suppress(ValueError, KeyError, TypeError):
            facts: dict[str, Any] = json.loads(payload)
            relay, counts = str(facts["relay"]), RelayCounts.read(facts)
            known = self._hosts.get(name)
            if known is not None and known.relay == relay:
                known.counts = counts
                return
            if known is not None:
                known.end("another relay speaks for the host")
            elif not HOST_NAME.fullmatch(name):
                self._say(name, "its name is no host's")
            elif len(self._hosts) >= MAX_FLEET_HOSTS:
                self._say(name, f"{MAX_FLEET_HOSTS} hosts have sessions")
            else:
                host = RemoteHost(
                    *(name, relay, self._bus, self._sessions),
                    self._authority(name),
                )
                host.counts = counts
                self._hosts[name] = host
                task = asyncio.create_task(self._keep(host))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _keep(self, host: RemoteHost) -> None:
        """Serve a session; the next word of the host begins another one."""
        try:
            self._say(host.name, await host.run())
        finally:
            del self._hosts[host.name]

    def _beat(self) -> None:
        if not self._bus.is_connected:
            return
        now_s = asyncio.get_running_loop().time()
        for host in [*self._hosts.values()]:
            if now_s - host.heard_s > self._settings.silent_s:
                host.end(
                    f"silent for {self._settings.silent_s:g} s: the host is cut off, or the NATS "
                    "server refuses its key"
                )
            else:
                host.beat()

    def _take_roles(self, subject: str, payload: bytes) -> None:
        try:
            header = FrameHeader.model_validate_json(payload)
        except ValueError as error:
            self._say(host_of(subject), f"totals by role are not understood: {error}")
            return
        host = self._hosts.get(host_of(subject))
        if host is not None:
            self._observe(host.authority.host_ids, header)

    def _say(self, name: str, text: str) -> None:
        """Log an event of a host; a repeat of the previous text is suppressed."""
        if self._said.get(name) != text:
            self._said[name] = text
            _log.warning("host %s over NATS: %s", name, text)
