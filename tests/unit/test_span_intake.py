"""The intake of spans: who sends much waits for itself, and keeps nobody out."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tidscope_backend.traces.batches import SCHEMA, Batch
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.receiving import intake as module
from tidscope_backend.traces.receiving.intake import FullError, Intake, Sender
from tidscope_backend.traces.receiving.receiver import Receiving
from tidscope_backend.traces.span_store import SpanStore
from tidscope_traces.spans.reading import Bounds

ALICE, BOB, CAROL = (Sender(f"user id {uid}", 40_000) for uid in (1000, 1001, 1002))
OTHER_OF_ALICE = ALICE._replace(port=40_001)


class Held:
    """A reader that waits until it is let go, and says which requests it has begun."""

    def __init__(self) -> None:
        self.begun: list[bytes] = []
        self.started = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, data: bytes, _bounds: Bounds) -> Batch:
        self.begun.append(data)
        self.started.set()
        assert self.let_go.wait(60)
        return read(data, _bounds)


def read(_data: bytes, _bounds: Bounds) -> Batch:
    return Batch(SCHEMA.empty_table(), 0, ())


@pytest.fixture
def intake(tmp_path: Path) -> Iterator[Intake]:
    store = SpanStore(lambda: tmp_path, tmp_path, SpanRetention(None, None), lambda: 0.0)
    made = Intake(store, Receiving())
    yield made
    made.close()


async def send(intake: Intake, sender: Sender, read: module.Read, data: bytes = b"x") -> Batch:
    with intake.room(sender) as room:
        room.grow(len(data))
        return await intake.take(room, data, read)


async def test_a_user_whose_request_takes_long_keeps_no_other_waiting(intake: Intake) -> None:
    held = Held()
    slow = [asyncio.create_task(send(intake, ALICE, held)) for _ in range(3)]
    slow.append(asyncio.create_task(send(intake, OTHER_OF_ALICE, held)))
    assert await asyncio.to_thread(held.started.wait, 60)
    for _ in range(3):
        await send(intake, BOB, read)
    await send(intake, CAROL, read)
    assert len(held.begun) == 1
    held.let_go.set()
    await asyncio.gather(*slow)
    assert len(held.begun) == 4


async def test_connections_of_a_user_take_turns(intake: Intake) -> None:
    held = Held()
    tasks = [
        asyncio.create_task(send(intake, sender, held, data))
        for sender, data in [
            *((ALICE, b"first"), (ALICE, b"second"), (ALICE, b"third")),
            (OTHER_OF_ALICE, b"other"),
        ]
    ]
    assert await asyncio.to_thread(held.started.wait, 60)
    held.let_go.set()
    await asyncio.gather(*tasks)
    assert held.begun.index(b"other") == 1


async def test_one_user_leaves_room_for_the_next_one(
    intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING_BYTES", 100)
    with intake.room(ALICE) as mine, intake.room(BOB) as his, intake.room(CAROL) as hers:
        mine.grow(50)
        with pytest.raises(FullError):
            mine.grow(1)
        his.grow(25)
        with pytest.raises(FullError):
            his.grow(1)
        hers.grow(12)
    with intake.room(ALICE) as mine:
        mine.grow(50)


async def test_requests_of_one_user_leave_room_for_those_of_the_next_one(
    intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 4)
    with intake.room(ALICE), intake.room(ALICE):
        with pytest.raises(FullError), intake.room(ALICE):
            pass
        with intake.room(BOB):
            pass
