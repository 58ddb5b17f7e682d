"""Costly reads: equal ones share an answer, and those of viewers keep no operator waiting."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
from answering_collector import reply_to
from backend_builders import target
from backend_server import Backend, kind, running_backend
from fake_collector import FakeCollector
from live_page import LivePage
from scripted_run import write_run
from tidscope_backend.api import compare, runs
from tidscope_backend.security.request_limits import ALL, EACH, WAITING
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import (
    DoctorCommand,
    ListProcessesCommand,
    LiveState,
    SteeringOptionsCommand,
)
from websockets.exceptions import ConnectionClosed

WAIT = 200
VIEW_TOKEN = "view-token-of-the-tests"
Asked = asyncio.Task[httpx.Response]


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with (
        asyncio.timeout(WAIT),
        running_backend(view_token=VIEW_TOKEN, command_seconds=WAIT) as running,
    ):
        yield running


def ask(client: httpx.AsyncClient, path: str) -> Asked:
    return asyncio.create_task(client.get(f"/api/v1{path}"))


async def answer(collector: FakeCollector, command: ListProcessesCommand) -> None:
    await collector.say(reply_to(command))


async def test_equal_reads_that_are_under_way_share_one_answer(backend: Backend) -> None:
    async with backend.collector() as collector, backend.program() as program:
        await collector.greeted()
        reads = [ask(program, "/processes")]
        command = await collector.command(ListProcessesCommand)
        reads += [ask(program, "/processes") for _ in range(5)]
        # Another kind of read goes out behind them: none of the others has.
        doctor = ask(program, "/doctor")
        await collector.say(reply_to(await collector.command(DoctorCommand)))
        assert (await doctor).status_code == 200
        reads[1].cancel()
        await answer(collector, command)
        answers = [await read for index, read in enumerate(reads) if index != 1]
        assert {one.status_code for one in answers} == {200}
        assert len({one.text for one in answers}) == 1
        # Later questions reach the collector again.
        later = ask(program, "/processes")
        await answer(collector, await collector.command(ListProcessesCommand))
        assert (await later).status_code == 200


async def test_a_read_after_a_change_does_not_share_one_from_before_it(backend: Backend) -> None:
    async with backend.collector() as collector, backend.program() as program:
        await collector.greeted()
        before = ask(program, "/doctor")
        old = await collector.command(DoctorCommand)
        change = asyncio.create_task(
            program.put("/api/v1/doctor/delay-accounting", json={"on": True})
        )
        await collector.say(reply_to(await collector.next_command()))
        assert (await change).status_code == 200
        after = ask(program, "/doctor")
        await collector.say(reply_to(await collector.command(DoctorCommand)))
        assert (await after).status_code == 200
        assert not before.done()
        await collector.say(reply_to(old))
        assert (await before).status_code == 200


async def test_a_viewers_costly_reads_do_not_keep_an_operator_waiting(backend: Backend) -> None:
    first, second = (target().model_copy(update={"id": f"t-{n}-0000000a"}) for n in (1, 2))
    paths = ["/processes", "/doctor", f"/targets/{first.id}/steering"]
    assert len(paths) == ALL
    async with AsyncExitStack() as stack:
        collector = await stack.enter_async_context(backend.collector(targets=[first, second]))
        await collector.greeted()
        sessions = [await backend.sign_in(VIEW_TOKEN) for _ in range(3)]
        viewers = [await stack.enter_async_context(backend.person(one)) for one in sessions]
        operator = await stack.enter_async_context(backend.program())
        # The bound of all viewers together, and the bound of one viewer.
        held = []
        for index, path in enumerate(paths):
            held.append(ask(viewers[index // EACH], path))
            await collector.next_command()
        path = f"/targets/{second.id}/steering"
        waiting = ask(viewers[2], path)
        # The operator's is asked and answered; the viewer's has not even been asked.
        for _ in range(2):
            read = ask(operator, path)
            command = await collector.command(SteeringOptionsCommand)
            assert command.target == second.id
            await collector.say(reply_to(command))
            assert (await read).status_code == 200
            assert not waiting.done()
        for read in (*held, waiting):
            read.cancel()


async def test_a_viewer_with_very_many_reads_is_refused_and_others_are_not(
    backend: Backend,
) -> None:
    async with backend.collector() as collector, AsyncExitStack() as stack:
        await collector.greeted()
        greedy, modest = [
            await stack.enter_async_context(backend.person(await backend.sign_in(VIEW_TOKEN)))
            for _ in range(2)
        ]
        reads = {ask(greedy, "/processes") for _ in range(EACH + WAITING + 1)}
        command = await collector.command(ListProcessesCommand)
        done, reads = await asyncio.wait(reads, return_when=asyncio.FIRST_COMPLETED)
        (refused,) = [read.result() for read in done]
        assert kind(refused) == (429, "too-many-actions")
        assert refused.headers["retry-after"] == "1"
        other = ask(modest, "/processes")
        await answer(collector, command)
        serving = asyncio.create_task(serve(collector))
        assert (await other).status_code == 200
        # Queued requests get their turn.
        assert {(await read).status_code for read in reads} == {200}
        serving.cancel()


async def test_a_viewers_comparison_does_not_keep_an_operator_waiting(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def compared(_: object, groups: list[list[str]], *__: object) -> str:
        if groups == [["slow"]]:
            begun.set()
            go_on.wait(WAIT)
        return "{}"

    monkeypatch.setattr(compare, "_compared", compared)
    async with (
        backend.program() as operator,
        backend.person(await backend.sign_in(VIEW_TOKEN)) as viewer,
    ):
        slow = ask(viewer, "/compare?runs=slow")
        await asyncio.to_thread(begun.wait, WAIT)
        assert (await operator.get("/api/v1/compare?runs=quick")).status_code == 200
        assert not slow.done()
        go_on.set()
        assert (await slow).status_code == 200


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_read_lasts_until_its_work_is_done(
    leaves: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(tmp_path).id
    go_on = threading.Event()
    hidden: list[bool] = []

    def packed(_: object, from_ns: int | None, *__: object, hide: bool) -> Iterator[bytes]:
        hidden.append(hide)
        yield b"the first frame"
        if from_ns is None:
            go_on.wait(WAIT)

    monkeypatch.setattr(runs, "_packed", packed)
    async with (
        asyncio.timeout(WAIT),
        running_backend(view_token=VIEW_TOKEN, runs_dir=tmp_path) as backend,
        AsyncExitStack() as stack,
    ):
        path = f"/runs/{run}/frames"
        sessions = [await backend.sign_in(VIEW_TOKEN) for _ in range(3)]
        viewers = [await stack.enter_async_context(backend.person(one)) for one in sessions]
        operator = await stack.enter_async_context(backend.program())
        bodies = []
        for index in range(ALL):
            held = viewers[index // EACH].stream("GET", f"/api/v1{path}")
            answered = await stack.enter_async_context(held)
            body = answered.aiter_bytes()
            bodies.append(body)
            assert await anext(body) == b"the first frame"
            if leaves:
                await answered.aclose()
        waiting = ask(viewers[2], f"{path}?from_ns=1")
        for _ in range(2):
            answered = await operator.get(f"/api/v1{path}?from_ns=1")
            assert answered.content == b"the first frame"
        assert not waiting.done()
        go_on.set()
        assert (await waiting).content == b"the first frame"
        # Only the operator may see the arguments of programs.
        assert hidden == [*[True] * ALL, False, False, True]


async def test_pages_of_viewers_leave_room_for_operators() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(
            view_token=VIEW_TOKEN, max_subscribers=3, max_viewer_subscribers=2
        ) as backend,
        LivePage(backend.socket_url, VIEW_TOKEN) as first,
        LivePage(backend.socket_url, VIEW_TOKEN) as second,
        LivePage(backend.socket_url, VIEW_TOKEN) as third,
    ):
        await first.text(LiveState)
        await second.text(LiveState)
        with pytest.raises(ConnectionClosed) as refused:
            await third.socket.recv()
        assert refused.value.rcvd is not None
        assert refused.value.rcvd.code == CloseCode.TOO_MANY
        async with backend.page() as operator:
            await operator.text(LiveState)


async def serve(collector: FakeCollector) -> None:
    """Answer all that is asked, until cancelled."""
    while True:
        await answer(collector, await collector.command(ListProcessesCommand))
