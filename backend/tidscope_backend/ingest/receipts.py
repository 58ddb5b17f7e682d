"""Confirms frames to a collector: what it may give up first, because the backend has it."""

import asyncio
from collections.abc import Awaitable, Callable

from tidscope_wire.generated.models import FramesReceived

RECEIPT_SECONDS = 0.1
"""Between two receipts; one covers all frames that came meanwhile."""


class Receipts:
    """Receipts of one connection.

    Args:
        send: writes one text message to the collector.
    """

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._due: dict[str, int] = {}
        self._wake = asyncio.Event()

    def note(self, target: str, seq: int) -> None:
        """The frames of a target up to this one are here, or known not to come."""
        self._due[target] = seq
        self._wake.set()

    async def run(self) -> None:
        """Send receipts until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            due, self._due = self._due, {}
            await self._send(FramesReceived(targets=due).model_dump_json())
            await asyncio.sleep(RECEIPT_SECONDS)
