"""Targets whose frames somebody waits for, or keeps."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple


class Watched(NamedTuple):
    """Target IDs at one time.

    Attributes:
        ids: targets that subscribers read.
        recorded: targets whose frames are kept for later, read now or not.
    """

    ids: frozenset[str] = frozenset()
    recorded: frozenset[str] = frozenset()


class WatchedTargets:
    """Target IDs that subscribers read now, and those that are recorded."""

    def __init__(self) -> None:
        self._now = Watched()
        self._changed = asyncio.Event()

    def set(self, ids: Iterable[str]) -> None:
        """Replace the IDs that subscribers read."""
        self._replace(self._now._replace(ids=frozenset(ids)))

    def set_recorded(self, ids: Iterable[str]) -> None:
        """Replace the recorded IDs."""
        self._replace(self._now._replace(recorded=frozenset(ids)))

    def _replace(self, new: Watched) -> None:
        if new != self._now:
            self._now = new
            self._changed.set()
            self._changed = asyncio.Event()

    @property
    def ids(self) -> frozenset[str]:
        """The IDs that subscribers read now."""
        return self._now.ids

    async def changes(self) -> AsyncIterator[Watched]:
        """Yield the IDs now, and again whenever they have changed; never ends."""
        while True:
            changed = self._changed
            yield self._now
            await changed.wait()
