"""Confirms frames to a collector: what it may give up first, because the backend has it.

A receipt wakes the collector up, which costs it more than what the receipt saves: so one covers
many frames, of several seconds, as long as they are few bytes and the collector does not end.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from tidscope_wire.generated.models import FramesReceived

LONGEST_SECONDS = 5.0
"""A frame waits no longer for its receipt."""
REST_SECONDS = 0.1
"""Between two receipts, however much comes."""
MANY_FRAMES, MUCH_BYTES = 50, 256 * 1024
"""So much is confirmed at once: the collector bounds what is not."""


class Receipts:
    """Receipts of one connection.

    Args:
        send: writes one text message to the collector.
    """

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._due: dict[str, int] = {}
        self._frames = self._bytes = 0
        self._noted, self._hurried = asyncio.Event(), asyncio.Event()
        self._hurries = False

    def note(self, target: str, seq: int, size: int) -> None:
        """The frames of a target up to this one, of so many bytes, are here, or will not come."""
        self._due[target] = seq
        self._frames += 1
        self._bytes += size
        self._noted.set()
        if self._hurries or self._frames >= MANY_FRAMES or self._bytes >= MUCH_BYTES:
            self._hurried.set()

    def hurry(self) -> None:
        """The collector ends, and waits for receipts."""
        self._hurries = True
        self._hurried.set()

    async def run(self) -> None:
        """Send receipts until cancelled."""
        while True:
            await self._noted.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_SECONDS):
                    await self._hurried.wait()
            self._noted.clear()
            self._hurried.clear()
            due, self._due, self._frames, self._bytes = self._due, {}, 0, 0
            await self._send(FramesReceived(targets=due).model_dump_json())
            await asyncio.sleep(REST_SECONDS)
