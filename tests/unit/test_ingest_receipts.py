"""When frames are confirmed: many at once, and at once to a collector that ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tidscope_backend.ingest import session as module
from tidscope_backend.ingest.session import MANY_FRAMES, MUCH_BYTES, Receipts
from tidscope_wire.generated.models import FramesReceived

TARGET, OTHER = "t-1-0000000a", "t-2-0000000b"


class Sent(asyncio.Queue[dict[str, int]]):
    """What was sent to the collector."""

    async def take(self, text: str) -> None:
        await self.put(FramesReceived.model_validate_json(text).targets)


@asynccontextmanager
async def running(sent: Sent) -> AsyncIterator[Receipts]:
    receipts = Receipts(sent.take)
    task = asyncio.create_task(receipts.run())
    try:
        yield receipts
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_many_frames_have_one_receipt() -> None:
    sent = Sent()
    async with running(sent) as receipts:
        for seq in range(1, MANY_FRAMES):
            receipts.note(TARGET, seq, 100)
            await asyncio.sleep(0)
        assert sent.empty()
        receipts.note(OTHER, 7, 100)
        assert await sent.get() == {TARGET: MANY_FRAMES - 1, OTHER: 7}


async def test_many_bytes_are_confirmed_at_once() -> None:
    sent = Sent()
    async with running(sent) as receipts:
        receipts.note(TARGET, 1, MUCH_BYTES)
        assert await sent.get() == {TARGET: 1}


async def test_few_frames_wait_for_a_limited_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_SECONDS", 0.05)
    sent = Sent()
    async with running(sent) as receipts:
        receipts.note(TARGET, 1, 100)
        assert await sent.get() == {TARGET: 1}


async def test_a_collector_that_ends_waits_for_no_receipt() -> None:
    sent = Sent()
    async with running(sent) as receipts:
        receipts.note(TARGET, 1, 100)
        receipts.hurry()
        assert await sent.get() == {TARGET: 1}
        receipts.note(TARGET, 2, 100)
        assert await sent.get() == {TARGET: 2}
