"""Receipts confirm frames. Waking the collector costs more than a receipt saves, so one covers
several seconds of frames.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Never

from tidscope_wire.generated.models import FramesReceived

LONGEST_SECONDS = 5.0
"""Maximum delay of a receipt, in seconds."""
REST_SECONDS = 0.1
"""Minimum interval between receipts, in seconds."""
MANY_FRAMES, MUCH_BYTES = 50, 256 * 1024
"""Frames and bytes confirmed at once; the collector bounds its unconfirmed frames."""


class Receipts:
    """Receipts of one connection.

    Args:
        send: sends one text message to the collector.
    """

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._due: dict[str, int] = {}
        self._frames = self._bytes = 0
        self._noted, self._hurried = asyncio.Event(), asyncio.Event()
        self._hurries = False

    def note(self, target: str, seq: int, size: int) -> None:
        """Note that frames up to this one, of this many bytes, were received or are lost."""
        self._due[target] = seq
        self._frames += 1
        self._bytes += size
        self._noted.set()
        if self._hurries or self._frames >= MANY_FRAMES or self._bytes >= MUCH_BYTES:
            self._hurried.set()

    def hurry(self) -> None:
        """Send pending receipts now, because the collector is shutting down."""
        self._hurries = True
        self._hurried.set()

    async def run(self) -> Never:
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
