"""Confirms frames to a collector: what it may give up first, because the backend has it.

A receipt wakes the collector up, which costs it more than what the receipt saves: so one covers all
frames of a second, as long as they are few bytes and more of them keep coming.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tidscope_wire.generated.models import FramesReceived

LONGEST_SECONDS = 1.0
"""A frame waits no longer for its receipt."""
QUIET_SECONDS = 0.25
"""Nor longer than this once no other comes: whoever ends waits for receipts."""
REST_SECONDS = 0.1
"""Between two receipts, however much comes."""
MUCH_BYTES = 256 * 1024
"""So much is confirmed at once: the collector bounds what is not."""


class Receipts:
    """Receipts of one connection.

    Args:
        send: writes one text message to the collector.
    """

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._due: dict[str, int] = {}
        self._bytes = 0
        self._wake = asyncio.Event()

    def note(self, target: str, seq: int, size: int) -> None:
        """The frames of a target up to this one, of so many bytes, are here, or will not come."""
        self._due[target] = seq
        self._bytes += size
        self._wake.set()

    async def run(self) -> None:
        """Send receipts until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._wake.wait()
            until = clock() + LONGEST_SECONDS
            while self._bytes < MUCH_BYTES and (left := until - clock()) > 0:
                self._wake.clear()
                try:
                    async with asyncio.timeout(min(left, QUIET_SECONDS)):
                        await self._wake.wait()
                except TimeoutError:
                    break
            self._wake.clear()
            due, self._due, self._bytes = self._due, {}, 0
            await self._send(FramesReceived(targets=due).model_dump_json())
            await asyncio.sleep(REST_SECONDS)
