"""Totals by role of all hosts of a backend: taken, kept, and asked about."""

import json
from collections import defaultdict
from collections.abc import Callable, Container, Coroutine, Iterator, Mapping
from typing import Any

from tidscope_wire.generated.models import FrameHeader, Host

from tidscope_backend.fleet.asking import Questions
from tidscope_backend.fleet.recent_roles import RecentRoles
from tidscope_backend.fleet.role_keeper import RoleKeeper
from tidscope_backend.fleet.role_rows import Reading
from tidscope_backend.fleet.role_table import FOLDER
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.metrics.meters import Meters
from tidscope_backend.settings import Settings
from tidscope_backend.store.disk import Disk

NOTABLE_US = 60_000_000
"""Smallest difference of a host's clock that answers mention."""


class FleetTotals:
    """Totals by role of a backend's hosts. Belongs to the event loop.

    Args:
        settings: settings of the backend.
        registry: hosts and targets.
        meters: newest totals of each target.
        disk: threads that write.
        clock: monotonic time, in seconds.

    Attributes:
        questions: answers questions about the totals.
    """

    def __init__(
        self,
        settings: Settings,
        registry: HostRegistry,
        meters: Meters,
        disk: Disk,
        clock: Callable[[], float],
    ) -> None:
        self._registry, self._meters = registry, meters
        folder = None if settings.runs_dir is None else settings.runs_dir / FOLDER
        self._keeper: RoleKeeper | None = None
        if folder is not None and settings.keep_roles_seconds is not None:
            self._keeper = RoleKeeper(
                folder, disk, settings.keep_roles_seconds, settings.roles_store
            )
        self._recent = RecentRoles(self._readings, self._keeper)
        self.questions = Questions(
            folder, self._recent, self._live_hosts, self._wrong_clocks, clock
        )

    def observe(self, host_ids: Container[str], header: FrameHeader) -> None:
        """Take totals by role that came alone, unless frames have brought newer ones."""
        target = self._registry.target(header.target)
        meter = self._meters.targets.get(header.target)
        is_newer = meter is None or meter.unix_us < header.unix_us
        if is_newer and target is not None and target.host in host_ids:
            self._meters.observe(target.host, header)

    def work(self) -> Iterator[Coroutine[Any, Any, None]]:
        """Yield what runs in the background, until cancelled."""
        yield self._recent.run()
        if self._keeper is not None:
            yield self._keeper.run()

    async def close(self) -> None:
        """Write the last rows."""
        await self.questions.close()
        if self._keeper is not None:
            self._recent.take()
            await self._keeper.close()

    @property
    def outcomes(self) -> Mapping[str, int]:
        """Rows that are kept, by outcome."""
        return {} if self._keeper is None else self._keeper.outcomes

    @property
    def parts_waiting(self) -> int:
        """Parts that wait on this machine for their store."""
        return 0 if self._keeper is None else self._keeper.parts_waiting

    def _readings(self) -> Iterator[Reading]:
        hosts = {one.id: (one.name, _labels_text(one)) for one in self._registry.hosts}
        for target in self._registry.targets:
            meter = self._meters.targets.get(target.id)
            if meter is not None:
                name, labels = hosts.get(target.host, ("", None))
                yield Reading(target, name, meter, labels)

    def _live_hosts(self) -> dict[str, Any]:
        """Return what pages show of connected hosts beside their totals."""
        attached: dict[str, list[str]] = defaultdict(list)
        for target, _ in self._registry.attached():
            attached[target.host].append(target.id)
        return {
            one.id: {
                "name": one.name,
                "labels": one.labels,
                "connected": True,
                "targets": attached[one.id],
            }
            for one in self._registry.hosts
            if one.connected
        }

    def _wrong_clocks(self) -> str | None:
        """Return which connected hosts have rows at other times, or None."""
        wrong = [
            one.name
            for one in self._registry.hosts
            if one.connected and abs(one.clock_ahead_us or 0) >= NOTABLE_US
        ]
        if not wrong:
            return None
        hosts = wrong[0] if len(wrong) == 1 else f"{len(wrong)} hosts, such as {wrong[0]},"
        return (
            f"The clock of {hosts} differs from the backend's by a minute or more, "
            "so rows are at the times of that clock."
        )


def _labels_text(host: Host) -> str | None:
    return json.dumps(host.labels, sort_keys=True) if host.labels else None
