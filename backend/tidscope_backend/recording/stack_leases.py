"""Has stacks taken of targets while runs of them last that ask for stacks."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from tidscope_wire.generated.models import Target
from tidscope_wire.problems import ProblemError

from tidscope_backend.recording.recording import Recording

LEASE_SECONDS = 30.0
RENEW_SECONDS = 10.0
"""Interval between renewals: two may fail before a lease ends, in seconds."""
Take = Callable[[Target, float], Awaitable[object]]
"""Have stacks of a target taken for so many seconds. Raises ProblemError."""
_log = logging.getLogger(__name__)


class StackLeases:
    """Leases of stacks, renewed for active recordings.

    Args:
        take: has stacks taken.
        clock: seconds, monotonic.
    """

    def __init__(self, take: Take, clock: Callable[[], float]) -> None:
        self._take = take
        self._clock = clock
        self._renewed_s: dict[str, float] = {}
        self._renewing: set[asyncio.Task[None]] = set()

    async def begin(self, target: Target) -> None:
        """Take a first lease. Raises ProblemError if no stacks can be taken."""
        await self._take(target, LEASE_SECONDS)
        self._renewed_s[target.id] = self._clock()

    def renew(self, recordings: Iterable[Recording]) -> None:
        """Renew the leases of recordings with stacks that are due, in the background."""
        targets = {one.target.id: one.target for one in recordings if one.stacks}
        now_s = self._clock()
        kept = {name: then for name, then in self._renewed_s.items() if name in targets}
        for name, target in targets.items():
            if now_s - kept.get(name, -RENEW_SECONDS) >= RENEW_SECONDS:
                kept[name] = now_s
                task = asyncio.create_task(self._renew(target))
                self._renewing.add(task)
                task.add_done_callback(self._renewing.discard)
        self._renewed_s = kept

    async def _renew(self, target: Target) -> None:
        try:
            await self._take(target, LEASE_SECONDS)
        except ProblemError as error:
            _log.warning("stacks of %s are not taken: %s", target.id, error.problem.detail)
