"""Targets whose frames somebody waits for."""

import asyncio
from collections.abc import AsyncIterator, Iterable


class WatchedTargets:
    """Target IDs that subscribers read now."""

    def __init__(self) -> None:
        self._ids: frozenset[str] = frozenset()
        self._changed = asyncio.Event()

    def set(self, ids: Iterable[str]) -> None:
        """Replace the IDs."""
        new = frozenset(ids)
        if new != self._ids:
            self._ids = new
            self._changed.set()
            self._changed = asyncio.Event()

    @property
    def ids(self) -> frozenset[str]:
        """The IDs now."""
        return self._ids

    async def changes(self) -> AsyncIterator[frozenset[str]]:
        """Yield the IDs now, and again whenever they have changed; never ends."""
        while True:
            changed = self._changed
            yield self._ids
            await changed.wait()
