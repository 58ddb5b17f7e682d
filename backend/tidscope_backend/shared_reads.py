"""Reads that are under way are shared: who asks the same meanwhile gets the same answer."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedReads(Generic[T]):
    """Reads of one kind. A read goes on while anybody waits for it, and after that to its end."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[T]] = {}

    async def get(self, key: Hashable, read: Callable[[], Coroutine[None, None, T]]) -> T:
        """The answer of the read with this key that is under way; else begin it.

        Raises:
            Exception: what the read raises, to all who wait for it.
        """
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(read())
            self._running[key] = task
            task.add_done_callback(lambda done: self._remove(key, done))
        # One who goes away does not end it for the others.
        return await asyncio.shield(task)

    def forget(self) -> None:
        """Something has changed: who asks from now on gets an answer from after that."""
        self._running.clear()

    def _remove(self, key: Hashable, done: asyncio.Task[T]) -> None:
        if self._running.get(key) is done:
            del self._running[key]
        if not done.cancelled():
            # Everybody may have gone away: then nobody else looks at it.
            done.exception()
