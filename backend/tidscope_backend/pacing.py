"""Periodic work of the event loop, at common instants: one wake-up serves all of it."""

import asyncio
from contextlib import suppress


def _rest(seconds: float) -> float:
    """Return the time until the next multiple of an interval on the loop's clock."""
    return seconds - asyncio.get_running_loop().time() % seconds


async def next_multiple(seconds: float) -> None:
    """Sleep until the next multiple of an interval, in seconds."""
    await asyncio.sleep(_rest(seconds))


async def next_multiple_or(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most until the next multiple of an interval, in seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_rest(seconds)):
            await event.wait()
