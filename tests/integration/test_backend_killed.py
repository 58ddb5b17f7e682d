"""The backend is killed and comes back: the real collector replays, and no frame is missing."""

from contextlib import AsyncExitStack

import httpx
from backend_server import TOKEN
from live_page import LivePage
from programs.known_work import KnownWork
from receiver import connected
from tidscope_processes import CollectorProcess, free_port, served
from tidscope_wire.generated.models import FramesLost, Target
from websockets.exceptions import ConnectionClosed


def reported_of_losses(page: LivePage) -> list[FramesLost]:
    return [text for text in page.texts if isinstance(text, FramesLost)]


async def follow(page: LivePage, last: int, until: int) -> int:
    """Read on, each frame behind the one before; the number of the last one."""
    while last < until:
        header, _ = await page.frame()
        assert header.first_seq == last + 1
        last = header.seq
    return last


async def read_to_the_end(page: LivePage, last: int) -> int:
    """Read what still comes before the connection breaks; the number of the last frame."""
    while True:
        try:
            last = await follow(page, last, last + 1)
        except ConnectionClosed:
            return last


async def attach(port: int, pid: int) -> Target:
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}",
        headers={"authorization": f"Bearer {TOKEN}"},
        timeout=120,
    ) as client:
        answer = await client.post("/api/v1/targets", json={"pid": pid, "rate_hz": 50})
    return Target.model_validate_json(answer.raise_for_status().content)


async def test_no_frame_is_lost_or_doubled_when_the_backend_is_killed(
    known_work: KnownWork,
) -> None:
    port = free_port()
    url = f"ws://127.0.0.1:{port}"
    seen = 0
    async with CollectorProcess(port), AsyncExitStack() as pages:
        async with served(port):
            page = await pages.enter_async_context(LivePage(url, TOKEN))
            await connected(page)
            target = await attach(port, known_work.pid)
            await page.subscribe(target.id)
            seen = await follow(page, seen, 20)
        for _ in range(2):
            seen = await read_to_the_end(page, seen)
            async with served(port):
                page = await pages.enter_async_context(LivePage(url, TOKEN))
                # The backend does not know the target yet, and has nothing of it.
                await page.subscribe(target.id, seen)
                seen = await follow(page, seen, seen + 60)
                fresh = await pages.enter_async_context(LivePage(url, TOKEN))
                await fresh.subscribe(target.id)
                # All of it is still in the collector.
                await follow(fresh, 0, seen)
                assert reported_of_losses(page) == reported_of_losses(fresh) == []
