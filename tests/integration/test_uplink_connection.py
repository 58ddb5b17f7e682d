"""The collector's uplink against the real backend: away and back, refused, never in a hurry."""

import asyncio
import json
import logging
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from backend_builders import TARGET_ID, frame_bytes, key_frame, process, steering, stream, target
from backend_server import Backend, running_backend
from live_page import LivePage
from receiver import connected
from tidscope_backend import VERSION
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink import connection
from tidscope_collector.uplink.commands import Reply, reply_text
from tidscope_collector.uplink.reconnecting import (
    LONGEST_REFUSED_WAIT_S,
    LONGEST_WAIT_S,
    REPLACED_WAIT_S,
)
from tidscope_processes import free_port
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.frame import split
from tidscope_wire.generated.limits import MAX_REPLY_BYTES
from tidscope_wire.generated.models import (
    CollectorWelcome,
    FramesLost,
    FramesReceived,
    HealthResponse,
    LiveState,
    ProcessesResponse,
    Target,
)
from uplink_harness import (
    MIB,
    RELAY_ADDRESS,
    TICKET,
    Relay,
    Server,
    UplinkHarness,
    quiet_targets,
    welcome,
)
from websockets.asyncio.server import ServerConnection

MIN_RATIO, MAX_RATIO = 0.7, 1.3  # Bounds of a wait's random jitter.
OTHER = "t-200-deadbeef"


@pytest.fixture
def targets() -> Iterator[TargetRegistry]:
    with quiet_targets() as held:
        yield held


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    # No frame is to be coalesced, however slow the test is.
    async with running_backend(
        queue_frames=10_000, command_seconds=120, allow_hosts=(RELAY_ADDRESS,)
    ) as running:
        yield running


async def health(backend: Backend) -> HealthResponse:
    async with backend.program() as client:
        answer = await client.get("/api/v1/health")
    return HealthResponse.model_validate_json(answer.raise_for_status().content)


async def numbers(page: LivePage, until: int) -> list[int]:
    """Numbers of the next frames; each has to stand for itself."""
    seen = await page.frames(until)
    assert all(first == last for first, last in seen)
    return [last for _, last in seen]


def losses(page: LivePage) -> list[tuple[int, int]]:
    return [(text.from_seq, text.to_seq) for text in page.texts if isinstance(text, FramesLost)]


async def test_frames_go_out_as_they_come(targets: TargetRegistry, backend: Backend) -> None:
    async with backend.page() as page, UplinkHarness(targets, backend.port) as harness:
        harness.put(stream(1, 5))
        await page.subscribe(TARGET_ID)
        assert await numbers(page, 5) == [1, 2, 3, 4, 5]
        harness.put(stream(6, 9), first=6)
        assert await numbers(page, 9) == [6, 7, 8, 9]
        # A target that began when the connection was there.
        harness.put([key_frame(1, target_id=OTHER)], of=target(OTHER))
        await page.subscribe(OTHER)
        assert (await page.frame())[0].target == OTHER
        assert losses(page) == []


async def test_a_connection_that_breaks_loses_and_doubles_nothing(
    targets: TargetRegistry, backend: Backend
) -> None:
    async with (
        Relay(backend.port) as network,
        backend.page() as page,
        UplinkHarness(targets, network.url) as harness,
    ):
        await page.subscribe(TARGET_ID)
        harness.put(stream(1, 7))
        assert await numbers(page, 7) == list(range(1, 8))
        for first in range(8, 48, 8):
            network.cut()
            await harness.ended()
            harness.put(stream(first, first + 7), first=first)
            harness.go_on()
            assert await numbers(page, first + 7) == list(range(first, first + 8))
        reported = await health(backend)
        assert (reported.frames, reported.lost, losses(page)) == (47, 0, [])


async def test_a_new_backend_gets_all_that_is_kept(targets: TargetRegistry) -> None:
    """A page that waited through it sees each frame once."""
    # A port that is assigned to no connection between the two backends.
    async with running_backend(free_port()) as first, first.page() as page:
        harness = UplinkHarness(targets, first.port)
        await harness.__aenter__()
        harness.put(stream(1, 17))
        await page.subscribe(TARGET_ID)
        assert await numbers(page, 17) == list(range(1, 18))
    try:
        await harness.ended()
        harness.put(stream(18, 25), first=18)
        async with (
            running_backend(first.port, queue_frames=10_000) as second,
            second.page() as page,
            second.page() as fresh,
        ):
            await page.subscribe(TARGET_ID, 17)
            await fresh.subscribe(TARGET_ID)
            harness.go_on()
            assert await numbers(page, 25) == list(range(18, 26))
            assert await numbers(fresh, 25) == list(range(1, 26))
            assert losses(page) == losses(fresh) == []
            assert (await health(second)).lost == 0
    finally:
        await harness.__aexit__(None, None, None)


async def test_a_new_backend_gets_the_baseline_that_left_the_replay_buffer(
    targets: TargetRegistry, backend: Backend
) -> None:
    frames = stream(1, 200, baseline=True)
    room = sum(len(frame) for frame in frames[150:])
    harness = UplinkHarness(targets, backend.port, most_bytes=room)
    harness.put(frames)
    assert harness.uplink.load().undelivered_bytes <= room
    async with backend.page() as page:
        await page.subscribe(TARGET_ID)
        async with harness:
            header, data = await page.frame()
            assert (header.baseline, data) == (True, frames[0])
            header, _ = await page.frame()
            assert header.kind == "key"
            assert header.seq > 150
            assert await numbers(page, 200) == list(range(header.seq + 1, 201))
            # Frames that a backend never expected are not lost.
            assert (await health(backend)).lost == 0


async def test_decisions_alone_do_not_announce_the_target_again(
    targets: TargetRegistry, backend: Backend
) -> None:
    def steered(**changes: object) -> Target:
        return target(TARGET_ID).model_copy(update={"steering": steering(**changes)})

    async with backend.page() as page, UplinkHarness(targets, backend.port) as harness:
        await page.subscribe(TARGET_ID)
        for number in range(1, 6):
            reported = steered(
                decisions=number, size=number, state="exploring", reason=f"{number}."
            )
            harness.put([frame_bytes(number) if number > 1 else key_frame(1)], number, of=reported)
            await page.frame()
        states = [text for text in page.texts if isinstance(text, LiveState)]
        announced = [one for one in states if one.targets]
        assert len(announced) == 1
        harness.targets.update(steered(problem="The agent does not answer."))
        harness.uplink.tell_changes()
        (last,) = (await page.text(LiveState)).targets
        assert last.steering is not None
        assert last.steering.problem == "The agent does not answer."


async def test_a_backend_away_longer_than_the_bound_is_reported_what_was_lost(
    targets: TargetRegistry, backend: Backend
) -> None:
    frames = stream(1, 200)
    room = sum(len(frame) for frame in frames[150:])
    async with (
        Relay(backend.port) as network,
        backend.page() as page,
        UplinkHarness(targets, network.url, most_bytes=room) as harness,
    ):
        await page.subscribe(TARGET_ID)
        harness.put(frames[:25])
        assert await numbers(page, 25) == list(range(1, 26))
        network.cut()
        await harness.ended()
        harness.put(frames[25:], first=26)
        assert harness.uplink.load().replay_bytes <= room
        harness.go_on()
        # Groups of ten: the one of the 150th frame went whole.
        header, _ = await page.frame()
        assert (header.seq, header.kind) == (151, "key")
        assert losses(page) == [(26, 150)]
        (lost,) = [text for text in page.texts if isinstance(text, FramesLost)]
        assert lost.reason == "the collector's replay buffer was full"
        assert await numbers(page, 200) == list(range(152, 201))
        reported = await health(backend)
        assert (reported.frames, reported.lost) == (25 + 50, 125)


async def test_a_new_backend_after_a_long_time(targets: TargetRegistry, backend: Backend) -> None:
    """Each page is reported of what it did not have, and of no more."""
    frames = stream(1, 200)
    room = sum(len(frame) for frame in frames[150:])
    harness = UplinkHarness(targets, backend.port, most_bytes=room)
    harness.put(frames)
    async with backend.page() as waiting, backend.page() as fresh:
        await waiting.subscribe(TARGET_ID, 120)
        await fresh.subscribe(TARGET_ID)
        async with harness:
            assert await numbers(waiting, 200) == list(range(151, 201))
            assert await numbers(fresh, 200) == list(range(151, 201))
        assert losses(waiting) == [(121, 150)]
        assert losses(fresh) == []


async def test_a_wrong_secret_is_named_once_and_waited_for(
    targets: TargetRegistry, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with UplinkHarness(targets, backend.port, secret="not-the-secret") as harness:
        for turn, wait in enumerate(await harness.tries(6)):
            wanted = min(LONGEST_WAIT_S * 2**turn, LONGEST_REFUSED_WAIT_S)
            assert wanted * MIN_RATIO <= wait <= wanted * MAX_RATIO
    said = [record.message for record in caplog.records if record.name == "tidscope.uplink"]
    assert len(said) == 1
    assert f"the program at 127.0.0.1:{backend.port} does not know the secret" in said[0]
    assert "the same TIDSCOPE_COLLECTOR_SECRET" in said[0]
    assert "not-the-secret" not in caplog.text


async def test_another_version_is_named_and_waited_for(
    targets: TargetRegistry,
    backend: Backend,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "PROTOCOL_VERSION", 99)
    async with UplinkHarness(targets, backend.port) as harness:
        assert min(await harness.tries(2)) >= LONGEST_WAIT_S * MIN_RATIO
    assert (
        f"the collector speaks version 99 (tidscope {VERSION}), the backend {PROTOCOL_VERSION} "
        in caplog.text
    )
    assert "install the same version" in caplog.text


async def test_too_many_collectors(
    targets: TargetRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        running_backend(max_collectors=0) as full,
        UplinkHarness(targets, full.port) as harness,
    ):
        assert min(await harness.tries(2)) >= LONGEST_WAIT_S * MIN_RATIO
    assert "4429" in caplog.text


async def test_two_collectors_of_a_host_do_not_fight(
    targets: TargetRegistry, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    async with UplinkHarness(targets, backend.port) as harness:
        harness.put(stream(1, 3))
        async with backend.page() as page:
            await page.subscribe(TARGET_ID)
            await numbers(page, 3)
        async with backend.collector() as other:
            await other.greeted()
            assert await harness.ended() >= REPLACED_WAIT_S * MIN_RATIO
    assert "stop one of the two collectors" in caplog.text


async def test_no_backend_is_said_once_and_the_wait_grows(
    targets: TargetRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    # A bound socket that does not listen keeps the port from the servers of other tests.
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        async with UplinkHarness(targets, kept.getsockname()[1]) as harness:
            waits = await harness.tries(8)
    for turn, wait in enumerate(waits):
        assert min(0.1 * 2**turn, 5) * MIN_RATIO <= wait <= min(0.1 * 2**turn, 5) * MAX_RATIO
    assert len([record for record in caplog.records if "no backend at" in record.message]) == 1


async def test_a_refused_frame_is_left_out_alone(
    targets: TargetRegistry, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    """Not those before and behind it, and not those of another target."""
    frames = [*stream(1, 12), b"no frame at all", *stream(14, 30)]
    others = stream(1, 30, target_id=OTHER)
    harness = UplinkHarness(targets, backend.port)
    harness.put(frames)
    harness.put(others, of=target(OTHER))

    async def account() -> None:
        """Look at the load, as the engine does."""
        while True:
            harness.uplink.load()
            await asyncio.sleep(0.1)

    async with backend.page() as page, backend.page() as neighbour, harness:
        accounting = asyncio.create_task(account())
        await page.subscribe(TARGET_ID)
        await neighbour.subscribe(OTHER)
        # Sending fewer frames at a time isolates the refused one: seven of 60, and then one.
        expected = [*range(1, 13), *range(14, 31)]
        assert await numbers(page, 30) == expected
        assert losses(page) == [(13, 13)]
        assert await numbers(neighbour, 30) == list(range(1, 31))
        # The frame is left out for good, also for a backend without history.
        harness.put(stream(31, 31), first=31)
        await numbers(page, 31)
        assert harness.waits == []
        accounting.cancel()
        assert harness.uplink.load().dropped == {TARGET_ID: 1, OTHER: 0}
    assert "frames cannot be sent: the backend refused a message (4400: not a frame" in caplog.text


async def test_replay_starts_right_behind_what_the_backend_has(targets: TargetRegistry) -> None:
    got: asyncio.Queue[int] = asyncio.Queue()
    points = iter(({}, {TARGET_ID: 7, OTHER: 3}))

    async def behave(socket: ServerConnection) -> None:
        resume = next(points, None)
        if resume is None:
            return
        await welcome(socket, resume)
        for _ in range(3):
            message = await socket.recv()
            assert isinstance(message, bytes)
            await got.put(split(message)[0].seq)
        await socket.close(1012)

    async with Server(behave) as server, UplinkHarness(targets, server.url) as harness:
        harness.put(stream(1, 12))
        assert [await got.get() for _ in range(6)] == [1, 2, 3, 8, 9, 10]
        assert harness.waits == []


async def test_what_changed_between_hello_and_welcome_is_reported(targets: TargetRegistry) -> None:
    reported: asyncio.Queue[dict[str, object]] = asyncio.Queue()
    targets.update(target())

    async def behave(socket: ServerConnection) -> None:
        hello = json.loads(await socket.recv())
        assert [one["rate_hz"] for one in hello["targets"]] == [10]
        targets.update(target(rate_hz=50))
        message = CollectorWelcome(protocol=PROTOCOL_VERSION, resume={}, frames=TICKET)
        await socket.send(message.model_dump_json())
        async for text in socket:
            await reported.put(json.loads(text))

    async with Server(control=behave) as server, UplinkHarness(targets, server.url):
        changed = await reported.get()
    assert changed["type"] == "target_changed"
    assert changed["target"] == target(rate_hz=50).model_dump(mode="json")


@pytest.mark.parametrize("code", [1011, 1012, 1000])
async def test_a_backend_that_welcomes_and_fails_is_not_hammered(
    targets: TargetRegistry, code: int
) -> None:
    async def behave(socket: ServerConnection) -> None:
        await welcome(socket)
        await socket.close(code)

    async with Server(control=behave) as server, UplinkHarness(targets, server.url) as harness:
        harness.put(stream(1, 3))
        waits = await harness.tries(7)
    assert waits[0] <= 0.1 * MAX_RATIO
    assert waits[-1] >= LONGEST_WAIT_S * MIN_RATIO


@pytest.mark.parametrize("answer", ["nonsense", '{"type":"detach","request_id":1,"target":"x"}'])
async def test_an_answer_that_is_no_welcome(
    targets: TargetRegistry, caplog: pytest.LogCaptureFixture, answer: str
) -> None:
    caplog.set_level(logging.INFO)

    async def behave(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send(answer)
        await socket.wait_closed()

    async with Server(control=behave) as server, UplinkHarness(targets, server.url) as harness:
        first, second = await harness.tries(2)
    assert second > first
    assert "did not answer the hello with a welcome" in caplog.text


async def test_a_server_that_is_no_backend(
    targets: TargetRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1 << 16)
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port: int = server.sockets[0].getsockname()[1]
        async with UplinkHarness(targets, port) as harness:
            assert min(await harness.tries(2)) >= LONGEST_WAIT_S * MIN_RATIO
    assert f"the program at 127.0.0.1:{port} does not know the secret" in caplog.text


async def test_a_slow_backend_slows_nobody_and_hears_of_each_frame_or_its_loss(
    targets: TargetRegistry,
) -> None:
    """The connection is full, and the buffer drops frames meanwhile."""
    size, count = 50_000, 600
    read = asyncio.Event()
    got: asyncio.Queue[tuple[int, int]] = asyncio.Queue()

    async def behave(socket: ServerConnection) -> None:
        await welcome(socket)
        await read.wait()
        async for message in socket:
            if isinstance(message, bytes):
                seq = int.from_bytes(message[:4], "big")
                await got.put((seq, seq))
            else:
                text = json.loads(message)
                if text["type"] == "frames_lost":
                    await got.put((text["from_seq"], text["to_seq"]))

    async with (
        Server(behave) as server,
        UplinkHarness(targets, server.url, most_bytes=4 * MIB) as harness,
    ):
        for seq in range(1, count + 1):
            harness.put([seq.to_bytes(4, "big") + b"." * (size - 4)], first=seq)
            assert harness.uplink.load().replay_bytes <= 4 * MIB
            await asyncio.sleep(0)
        read.set()
        reported = [await got.get()]
        while reported[-1][1] < count:
            reported.append(await got.get())
    assert [first for first, _ in reported] == [1, *(last + 1 for _, last in reported[:-1])]
    assert sum(last > first for first, last in reported) >= 1
    assert sum(last == first for first, last in reported) >= 80


async def test_ended_targets_are_forgotten_once_their_frames_are_sent(
    targets: TargetRegistry,
) -> None:
    """Sixteen are kept; those before may have ended while nobody was there."""
    said: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def behave(socket: ServerConnection) -> None:
        await welcome(socket)
        async for message in socket:
            if isinstance(message, bytes):
                await said.put(("frame", split(message)[0].target))
            elif (text := json.loads(message))["type"] == "target_forgotten":
                await said.put(("forgotten", text["target"]))

    names = [f"t-{number}-deadbeef" for number in range(1, 21)]
    async with Server(behave) as server:
        harness = UplinkHarness(targets, server.url)
        for name in names:
            harness.put(stream(1, 4, target_id=name), of=target(name, state="exited"))
        async with harness:
            heard = [await said.get() for _ in range(20 * 4 + 4)]
    assert [name for what, name in heard if what == "forgotten"] == names[:4]
    for name in names[:4]:
        assert heard[: heard.index(("forgotten", name))].count(("frame", name)) == 4
    assert {one.id for one in targets.all()} == set(names[4:])
    assert set(harness.frames.native.last()) == set(names[4:])


async def test_a_target_that_ends_meanwhile_is_not_forgotten_before_its_last_frame(
    targets: TargetRegistry,
) -> None:
    said: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def behave(socket: ServerConnection) -> None:
        await welcome(socket)
        async for message in socket:
            if isinstance(message, bytes):
                await said.put(("frame", split(message)[0].target))
            elif (text := json.loads(message))["type"] == "target_forgotten":
                await said.put(("forgotten", text["target"]))

    async with Server(behave) as server, UplinkHarness(targets, server.url) as harness:
        harness.put(stream(1, 2))
        for number in range(16):
            targets.update(target(f"t-{number}-deadbeef", state="exited"))
        heard = [await said.get() for _ in range(2)]
        harness.put(stream(3, 3), first=3, of=target(state="exited"))
        heard += [await said.get() for _ in range(2)]
    assert heard == [("frame", TARGET_ID)] * 3 + [("forgotten", TARGET_ID)]


async def test_a_fault_of_its_own_is_survived(
    targets: TargetRegistry, backend: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    faults = [RuntimeError("a bug")]
    async with backend.page() as page:
        harness = UplinkHarness(targets, backend.port)
        connect = harness.frames.connect

        def failing(ticket: str) -> None:
            if faults:
                raise faults.pop()
            connect(ticket)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(harness.frames, "connect", failing)
            async with harness:
                harness.put([key_frame(1), frame_bytes(2)])
                assert await harness.ended() >= LONGEST_WAIT_S * MIN_RATIO
                harness.go_on()
                await page.subscribe(TARGET_ID)
                assert await numbers(page, 2) == [1, 2]
    assert "a bug" in caplog.text


async def test_hosts_and_targets_are_there_for_a_new_backend(
    targets: TargetRegistry, backend: Backend
) -> None:
    targets.update(target())
    async with backend.page() as page, UplinkHarness(targets, backend.port):
        state = await page.text(LiveState)
        while not state.targets:
            state = await page.text(LiveState)
    assert [one.id for one in state.targets] == [TARGET_ID]
    assert [one.connected for one in state.hosts] == [True]


async def test_what_a_backend_does_not_confirm_slows_sampling_before_anything_is_dropped(
    targets: TargetRegistry,
) -> None:
    got: asyncio.Queue[int] = asyncio.Queue()
    confirm = asyncio.Event()

    async def behave(socket: ServerConnection) -> None:
        await welcome(socket)
        for _ in range(60):
            while not isinstance(await socket.recv(), bytes):
                pass
            await got.put(1)
        await confirm.wait()
        await socket.send(FramesReceived(targets={TARGET_ID: 60}).model_dump_json())
        await socket.wait_closed()

    frames = stream(1, 60)
    size = sum(len(frame) for frame in frames)
    async with (
        Server(behave) as server,
        UplinkHarness(targets, server.url, most_bytes=size) as harness,
    ):
        harness.put(frames[:10])
        await got.get()
        assert not harness.uplink.load().backlog
        harness.put(frames[10:20], first=11)
        assert (harness.uplink.load().backlog, harness.frames.native.is_stalled()) == (True, False)
        harness.put(frames[20:], first=21)
        assert (harness.uplink.load().backlog, harness.frames.native.is_stalled()) == (True, True)
        assert await harness.uplink.deliver(0) == size
        confirm.set()
        assert await harness.uplink.deliver(60) == 0
        load = harness.uplink.load()
        assert (load.backlog, load.dropped) == (False, {TARGET_ID: 0})
        assert not harness.frames.native.is_stalled()
    # Without a connection the oldest frames leave at last, and sampling goes on slowly.
    harness.put(stream(61, 120), first=61)
    assert (harness.uplink.load().backlog, harness.frames.native.is_stalled()) == (True, False)
    assert await harness.uplink.deliver(10) > 0


async def test_frames_of_a_new_target_do_not_come_before_the_target(
    targets: TargetRegistry, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def prepare_slowly(reply: Reply) -> str:
        loop.call_soon_threadsafe(asked.set)
        go_on.wait()
        return reply_text(reply)

    monkeypatch.setattr(connection, "reply_text", prepare_slowly)
    monkeypatch.setattr(targets, "attach", lambda *_: (target(TARGET_ID), True))
    try:
        async with (
            backend.page() as page,
            backend.program() as client,
            UplinkHarness(targets, backend.port) as harness,
        ):
            await connected(page)
            attached = asyncio.create_task(client.post("/api/v1/targets", json={"pid": 100}))
            await asked.wait()
            # The target's frames wait at the backend until the reply has announced the target.
            harness.frames.native.add(TARGET_ID, 1, key_frame(1), True)
            await page.subscribe(TARGET_ID)
            await asyncio.sleep(0.3)
            go_on.set()
            assert await numbers(page, 1) == [1]
            assert (await attached).status_code == 201
            assert harness.waits == []
    finally:
        go_on.set()


async def test_a_machine_full_of_processes_is_listed_in_part_and_no_frame_is_lost(
    targets: TargetRegistry, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty thousand, with command lines of 4,000 characters: 80 MB; the socket takes 67."""
    full = [process(pid).model_copy(update={"command": "x" * 4_000}) for pid in range(1, 20_001)]
    monkeypatch.setattr(targets, "processes", lambda: full)
    async with backend.page() as page, UplinkHarness(targets, backend.port) as harness:
        harness.put(stream(1, 5))
        await page.subscribe(TARGET_ID)
        await numbers(page, 5)
        async with backend.program() as client:
            answer = await client.get("/api/v1/processes")
        listed = ProcessesResponse.model_validate_json(answer.raise_for_status().content)
        assert 1_000 < len(listed.processes) < 20_000
        assert f"{len(listed.processes):,} of 20,000 processes are listed" in listed.note
        assert len(answer.content) <= MAX_REPLY_BYTES
        harness.put(stream(6, 9), first=6)
        assert await numbers(page, 9) == [6, 7, 8, 9]
        assert (harness.waits, losses(page)) == ([], [])
