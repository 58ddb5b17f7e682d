"""Targets that nobody looks at any more: sampled slowly after a while, detached later.

Somebody looks at a target while a page reads it, a run of it is recorded, or a policy steers it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from tidscope_wire.audit import TIDSCOPE
from tidscope_wire.generated.models import Target
from tidscope_wire.problems import ProblemError

from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.links import CollectorLinks, was_steered

SLOW_HZ = 1.0
AGAIN_SECONDS = 10.0
"""Pause after a collector could not be asked, in seconds."""
_log = logging.getLogger(__name__)


@dataclass
class _Seen:
    """Use of an attached target, and what was asked of its collector because of it.

    Attributes:
        used_s: when it was used last.
        rate_hz: the rate before it was slowed; None while it is not.
        slow: True once the slow rate was seen.
        asking: True while the collector is asked about it.
    """

    used_s: float
    rate_hz: float | None = None
    slow: bool = False
    asking: bool = False


class UnwatchedTargets:
    """Slows and detaches targets through their collectors, and gives rates back.

    Args:
        registry: known targets.
        links: connected collectors.
        clock: seconds, monotonic.
        slow_seconds: time after which a target is sampled at SLOW_HZ.
        detach_seconds: time after which a target is detached; None for never.
    """

    def __init__(
        self,
        registry: HostRegistry,
        links: CollectorLinks,
        clock: Callable[[], float],
        slow_seconds: float,
        detach_seconds: float | None,
    ) -> None:
        self._registry = registry
        self._links = links
        self._clock = clock
        self._slow_s = slow_seconds
        self._detach_s = detach_seconds
        self._seen: dict[str, _Seen] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def update(self, used: Iterable[str]) -> None:
        """Have done what is due, in the background; call about once a second.

        Args:
            used: IDs of targets that pages read or that are recorded.
        """
        now_s, in_use = self._clock(), set(used)
        attached = [one for one in self._registry.targets if one.state == "attached"]
        self._seen = {one.id: self._seen.get(one.id) or _Seen(now_s) for one in attached}
        for target in attached:
            seen = self._seen[target.id]
            if target.id in in_use or was_steered(target):
                seen.used_s = now_s
            if target.rate_hz != SLOW_HZ and seen.slow:
                # Somebody has set another rate meanwhile.
                seen.rate_hz, seen.slow, seen.used_s = None, False, now_s
            seen.slow = seen.rate_hz is not None and target.rate_hz == SLOW_HZ
            if not seen.asking:
                self._decide(target, seen, now_s - seen.used_s)

    def _decide(self, target: Target, seen: _Seen, alone_s: float) -> None:
        links = self._links
        if self._detach_s is not None and alone_s >= self._detach_s:
            self._begin(seen, target, lambda: links.pick(target.host).detach(target.id, TIDSCOPE))
        elif alone_s >= self._slow_s and seen.rate_hz is None and target.rate_hz > SLOW_HZ:
            self._set_rate(seen, target, SLOW_HZ, before_hz=target.rate_hz)
        elif alone_s < self._slow_s and seen.rate_hz is not None:
            self._set_rate(seen, target, seen.rate_hz, before_hz=None)

    def _set_rate(
        self, seen: _Seen, target: Target, rate_hz: float, before_hz: float | None
    ) -> None:
        links = self._links

        async def ask() -> None:
            await links.pick(target.host).set_rate(target.id, rate_hz, TIDSCOPE)
            seen.rate_hz, seen.slow = before_hz, False

        self._begin(seen, target, ask)

    def _begin(self, seen: _Seen, target: Target, ask: Callable[[], Awaitable[object]]) -> None:
        seen.asking = True
        task = asyncio.create_task(self._ask(seen, target, ask))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, seen: _Seen, target: Target, ask: Callable[[], Awaitable[object]]) -> None:
        try:
            await ask()
        except ProblemError as error:
            # The collector is away, or the target has just ended.
            _log.info("unwatched target %s: %s", target.id, error.problem.detail)
            await asyncio.sleep(AGAIN_SECONDS)
        finally:
            seen.asking = False
