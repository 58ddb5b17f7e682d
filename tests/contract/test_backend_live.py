"""The stream, over real WebSockets: collector in, pages out."""

import asyncio
import socket as sockets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from backend_builders import (
    FIELDS,
    TARGET_ID,
    frame_bytes,
    host,
    key_frame,
    process,
    steering,
    stream,
    target,
)
from backend_server import SECRET, TOKEN, Backend, running_backend
from fake_collector import FakeCollector
from live_page import LivePage
from tidscope_wire.frame import FrameDecoder, join, split
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.limits import MAX_UNACKNOWLEDGED_FRAMES
from tidscope_wire.generated.models import (
    CollectorWelcome,
    FramesLost,
    HealthResponse,
    LiveProblem,
    LiveState,
    ProcessesReply,
    SampleFailed,
    SteeringDecided,
    StreamStats,
    TargetChanged,
    TargetForgotten,
    ThreadExited,
)
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

WAIT = 200
NOT_FINITE = (CloseCode.BAD_MESSAGE, "finite")


@pytest.fixture
async def backend(tmp_path: Path) -> AsyncIterator[Backend]:
    async with asyncio.timeout(WAIT), running_backend(state_dir=tmp_path / "state") as running:
        yield running


async def health(backend: Backend) -> HealthResponse:
    async with backend.program() as client:
        return HealthResponse.model_validate_json(
            (await client.get("/api/v1/health")).raise_for_status().content
        )


async def holds(backend: Backend, collector: FakeCollector, *frames: bytes) -> None:
    """Send frames and wait until the backend has them: it answers a ping only behind them."""
    await collector.send(*frames)
    before = len(frames)
    while (await health(backend)).frames < before:
        await (await collector.frames.ping())


async def closed(connection: LivePage | FakeCollector | ClientConnection) -> tuple[int, str]:
    """Read until the backend closes; code and reason."""
    socket = connection if isinstance(connection, ClientConnection) else connection.socket
    try:
        while True:
            await socket.recv()
    except ConnectionClosed as error:
        assert error.rcvd is not None
        return error.rcvd.code, error.rcvd.reason


def single(first: int, last: int) -> list[tuple[int, int]]:
    return [(seq, seq) for seq in range(first, last + 1)]


async def test_a_page_learns_the_state_at_once_and_at_each_change(backend: Backend) -> None:
    async with backend.page() as page:
        assert await page.text(LiveState) == LiveState(hosts=[], targets=[])
        async with backend.collector(targets=[target()]) as collector:
            assert await page.text(LiveState) == LiveState(hosts=[host()], targets=[target()])
            await collector.say(TargetChanged(target=target(state="exited")))
            assert (await page.text(LiveState)).targets == [target(state="exited")]
        gone = await page.text(LiveState)
        outage = gone.hosts[0].outage
        assert outage is not None
        assert (outage.kind, outage.back_unix_us) == ("lost", None)
        assert gone.hosts == [host().model_copy(update={"connected": False, "outage": outage})]
        assert gone.targets == [target(state="exited")]


async def test_history_then_live_in_exact_order_to_several_pages(backend: Backend) -> None:
    frames = stream(1, 60)
    async with backend.collector(targets=[target()]) as collector, backend.page() as early:
        await collector.greeted()
        await early.subscribe(TARGET_ID)
        await holds(backend, collector, *frames[:30])
        async with backend.page() as late, backend.page() as back:
            await late.subscribe(TARGET_ID)
            await back.subscribe(TARGET_ID, after_seq=25)
            await collector.send(*frames[30:])
            assert await early.frames(60) == single(1, 60)
            assert await late.frames(60) == single(1, 60)
            assert await back.frames(60) == single(26, 60)


async def test_frames_pass_unchanged(backend: Backend) -> None:
    frame = key_frame(1)
    async with backend.collector(targets=[target()]) as collector, backend.page() as page:
        await page.subscribe(TARGET_ID)
        await collector.send(frame)
        assert (await page.frame())[1] == frame


async def test_after_unsubscribing_nothing_comes(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector, backend.page() as page:
        await page.subscribe(TARGET_ID)
        await collector.send(key_frame(1))
        await page.frame()
        await page.unsubscribe(TARGET_ID)
        await (await page.socket.ping())
        await holds(backend, collector, frame_bytes(2), frame_bytes(3))
        stats = await page.text(StreamStats)
        assert (stats.sent, stats.clients) == (1, 1)


async def test_a_page_that_tells_what_it_took_is_not_sent_far_ahead(backend: Backend) -> None:
    """The page reads all messages, as a browser does, but has processed none yet."""
    last = 200
    async with backend.collector(targets=[target()]) as collector, backend.page() as page:
        await holds(backend, collector, *stream(1, last))
        await page.taken(0)
        await page.subscribe(TARGET_ID)
        seen = await page.frames(MAX_UNACKNOWLEDGED_FRAMES)
        assert seen == single(1, MAX_UNACKNOWLEDGED_FRAMES)
        # Two statistics later, nothing more has come: they would stand behind it.
        for _ in range(2):
            assert (await page.text(StreamStats)).sent == MAX_UNACKNOWLEDGED_FRAMES
        taken = MAX_UNACKNOWLEDGED_FRAMES
        while seen[-1][1] < last:
            await page.taken(taken)
            header, _ = await page.frame()
            taken += 1
            assert header.first_seq == seen[-1][1] + 1
            seen.append((header.first_seq, header.seq))
        assert (await health(backend)).dropped == 0


async def test_a_page_that_took_more_than_it_was_sent_is_reported_so(backend: Backend) -> None:
    async with backend.page() as page:
        await page.taken(1)
        problem = (await page.text(LiveProblem)).problem
        assert problem.type == "urn:tidscope:problem:bad-request"
        assert "0 were sent" in problem.detail


async def test_a_slow_page_gets_fewer_frames_and_the_same_totals() -> None:
    """One page does not read; its queue is coalesced, the other page gets every frame."""
    threads = 2000
    last = 300

    def wide(seq: int) -> bytes:
        rows = {tid: [seq * 1000 + tid, None] for tid in range(1, threads + 1)}
        exits = [
            ThreadExited(
                tid=100_000 + seq,
                start_ns=0,
                name="task",
                totals={"cpu_run_ns": seq},
                exact=True,
                seen_alive=False,
            )
        ]
        identity = {tid: (0, f"w-{tid}") for tid in rows} if seq == 1 else None
        return frame_bytes(seq, rows, identity=identity, events=exits)

    async with (
        asyncio.timeout(200),
        running_backend(queue_frames=8) as backend,
        backend.collector(targets=[target()]) as collector,
        backend.page() as quick,
        backend.page() as slow,
    ):
        # Small buffers, so that what is not read is felt soon.
        slow.socket.transport.get_extra_info("socket").setsockopt(
            sockets.SOL_SOCKET, sockets.SO_RCVBUF, 65536
        )
        slow.socket.transport.pause_reading()
        await quick.subscribe(TARGET_ID)
        await slow.subscribe(TARGET_ID)
        await (await quick.socket.ping())

        async def feed() -> None:
            for seq in range(1, last + 1):
                await collector.send(wide(seq))

        feeding = asyncio.create_task(feed())
        # The quick page reads along; it never waits for the slow one.
        assert (await quick.frames(last))[-1][1] == last
        await feeding
        assert (await health(backend)).coalesced > 100
        slow.socket.transport.resume_reading()
        covered = 0
        exits: list[int] = []
        counters: dict[int, int] = {}
        frames = 0
        decoder = FrameDecoder()
        while covered < last:
            header, frame = await slow.frame()
            frames += 1
            assert header.first_seq == covered + 1
            covered = header.seq
            exits += [e.totals["cpu_run_ns"] for e in header.events if e.type == "thread_exited"]
            _, rows = decoder.decode(frame)
            counters.update(
                zip(rows.tid.tolist(), rows.columns["cpu_run_ns"].tolist(), strict=True)
            )
        assert frames < last / 2
        assert exits == list(range(1, last + 1))
        assert counters == {tid: last * 1000 + tid for tid in range(1, threads + 1)}
        stats = await slow.text(StreamStats)
        assert stats.dropped == 0
        assert stats.sent == frames
        assert stats.coalesced == last - frames


async def test_a_page_that_takes_nothing_is_closed_and_reported_so() -> None:
    words = [SampleFailed(reason="x" * 1_000_000)]
    async with (
        asyncio.timeout(WAIT),
        running_backend(stall_seconds=0.5) as backend,
        backend.collector(targets=[target()]) as collector,
        backend.page() as page,
    ):
        page.socket.transport.pause_reading()
        await page.subscribe(TARGET_ID)
        await collector.send(key_frame(1))
        for seq in range(2, 30):
            await collector.send(frame_bytes(seq, events=words))
        while (await health(backend)).clients:
            await (await collector.frames.ping())
        page.socket.transport.resume_reading()
        code, reason = await closed(page)
        assert code == CloseCode.STALLED
        assert "0.5 s" in reason


async def test_a_gap_is_counted_and_reported(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector, backend.page() as page:
        await page.subscribe(TARGET_ID)
        await collector.send(key_frame(1), frame_bytes(5))
        assert await page.frames(5) == [(1, 1), (5, 5)]
        lost = next((t for t in page.texts if isinstance(t, FramesLost)), None)
        lost = lost or await page.text(FramesLost)
        assert (lost.target, lost.from_seq, lost.to_seq) == (TARGET_ID, 2, 4)
        assert (await health(backend)).lost == 3


async def test_what_the_collector_says_is_lost_is_counted_once(backend: Backend) -> None:
    said = FramesLost(target=TARGET_ID, from_seq=2, to_seq=4, reason="the ring is full")
    async with backend.collector(targets=[target()]) as collector, backend.page() as page:
        await page.subscribe(TARGET_ID)
        await collector.send(key_frame(1))
        await page.frame()
        await collector.say(said)
        assert await page.text(FramesLost) == said
        await collector.send(frame_bytes(5))
        assert await page.frames(5) == [(5, 5)]
        assert (await health(backend)).lost == 3


async def test_a_collector_that_comes_back_is_reported_where_to_resume(backend: Backend) -> None:
    async with backend.page() as page:
        await page.subscribe(TARGET_ID)
        async with backend.collector(targets=[target()]) as collector:
            await collector.greeted()
            assert collector.welcome is not None
            assert collector.welcome.resume == {}
            await collector.send(*stream(1, 5))
            assert await page.frames(5) == single(1, 5)
        async with backend.collector(targets=[target()]) as again:
            await again.greeted()
            assert again.welcome is not None
            assert again.welcome.resume == {TARGET_ID: 5}
            # A replay that begins too early repeats nothing.
            await again.send(*stream(4, 9))
            assert await page.frames(9) == single(6, 9)
        assert (await health(backend)).lost == 0


async def test_a_page_that_waits_through_a_restart_misses_nothing() -> None:
    frames = stream(1, 40)
    async with asyncio.timeout(WAIT):
        async with running_backend() as first:
            port = first.port
            async with first.collector(targets=[target()]) as collector, first.page() as page:
                await page.subscribe(TARGET_ID)
                await collector.send(*frames[:17])
                assert await page.frames(17) == single(1, 17)
        async with running_backend(port=port) as second, second.page() as page:
            # The page is back before the collector is; the target is not known yet.
            assert (await page.text(LiveState)).targets == []
            await page.subscribe(TARGET_ID, after_seq=17)
            async with second.collector(targets=[target()]) as collector:
                await collector.greeted()
                assert collector.welcome is not None
                assert collector.welcome.resume == {}
                await collector.send(*frames[10:])
                assert await page.frames(40) == single(18, 40)
            assert (await health(second)).lost == 0


async def test_a_second_collector_of_a_host_takes_the_place_of_the_first(backend: Backend) -> None:
    async with backend.page() as page, backend.collector() as first:
        await first.greeted()
        async with backend.collector() as second:
            await second.greeted()
            code, reason = await closed(first)
            assert code == CloseCode.REPLACED
            assert host().id in reason
            assert (await health(backend)).collectors == 1
            while not (state := await page.text(LiveState)).hosts:
                pass
            assert state.hosts[0].connected


@pytest.mark.parametrize("on", ["control", "data"])
async def test_a_message_on_the_wrong_connection_is_refused(backend: Backend, on: str) -> None:
    async with backend.collector(targets=[target()]) as collector:
        await collector.greeted()
        control = on == "control"
        socket = collector.socket if control else collector.frames
        changed = TargetChanged(target=target()).model_dump_json()
        await socket.send(key_frame(1) if control else changed)
        code, why = await closed(socket)
        assert (code, f"on the {on} connection" in why) == (CloseCode.BAD_MESSAGE, True)


async def test_frames_need_the_ticket_of_their_host_and_end_with_its_connection(
    backend: Backend,
) -> None:
    async with backend.collector(targets=[target()]) as collector:
        given = await collector.command(CollectorWelcome)
        assert given.frames is not None
        await collector.open_frames("0" * 32, answered=False)
        assert (await closed(collector.frames))[0] == CloseCode.GONE
        await collector.open_frames(given.frames)
        older = collector.frames
        # The link may be back before the backend has noticed that the connection broke.
        await collector.open_frames(given.frames)
        assert (await closed(older))[0] == CloseCode.GONE
        await collector.socket.close()
        assert (await closed(collector.frames))[0] == CloseCode.GONE
        async with backend.collector(targets=[target()]) as second:
            await second.greeted()
            await collector.open_frames(given.frames, answered=False)
            assert (await closed(collector.frames))[0] == CloseCode.GONE


async def test_frames_wait_for_the_announcement_of_their_target(backend: Backend) -> None:
    async with backend.collector() as collector, backend.page() as page:
        await page.subscribe(TARGET_ID)
        await collector.send(*stream(1, 3))
        await asyncio.sleep(0.1)
        await collector.say(TargetChanged(target=target()))
        assert await page.frames(3) == single(1, 3)


async def test_two_hosts_do_not_disturb_each_other(backend: Backend) -> None:
    other, secret = host("h-ba9876543210", "other"), backend.add_host("other")
    theirs = target("t-7-00000000", host_id=other.id)
    async with (
        backend.collector(targets=[target()]) as ours,
        backend.collector(host=other, targets=[theirs], secret=secret) as other_collector,
        backend.page() as page,
    ):
        await page.subscribe(TARGET_ID)
        await page.subscribe(theirs.id)
        await ours.send(*stream(1, 20))
        await other_collector.send(*stream(1, 20, target_id=theirs.id))
        seen: dict[str, list[int]] = {TARGET_ID: [], theirs.id: []}
        while any(numbers[-1:] != [20] for numbers in seen.values()):
            header, _ = await page.frame()
            seen[header.target].append(header.seq)
        assert seen == {TARGET_ID: list(range(1, 21)), theirs.id: list(range(1, 21))}


async def test_a_restarted_collector_leaves_its_old_targets_detached(backend: Backend) -> None:
    async with backend.collector(targets=[target()]) as collector:
        await collector.greeted()
    async with backend.collector() as restarted, backend.page() as page:
        await restarted.greeted()
        assert (await page.text(LiveState)).targets == [target(state="detached")]


async def test_an_ended_target_is_forgotten_when_nothing_of_it_is_kept(backend: Backend) -> None:
    empty = target("t-8-00000000", state="exited")
    async with (
        backend.collector(targets=[target(state="exited"), empty]) as collector,
        backend.page() as page,
    ):
        await holds(backend, collector, key_frame(1))
        await collector.say(TargetForgotten(target=TARGET_ID))
        await collector.say(TargetForgotten(target=empty.id))
        state = await page.text(LiveState)
        while len(state.targets) != 1:
            state = await page.text(LiveState)
        assert state.targets == [target(state="exited")]


async def test_a_page_reads_a_bounded_number_of_targets(backend: Backend) -> None:
    async with backend.page() as page:
        for number in range(9):
            await page.subscribe(f"t-{number}-00000000")
        problem = (await page.text(LiveProblem)).problem
        assert problem.type == "urn:tidscope:problem:too-many-targets"
        assert "t-8-00000000" in problem.detail


@pytest.mark.parametrize(
    ("message", "code", "reason"),
    [
        ("garbage", CloseCode.BAD_MESSAGE, "JSON"),
        ('{"type":"dance"}', CloseCode.BAD_MESSAGE, "dance"),
        ('{"type":"subscribe","target":"x"}', CloseCode.BAD_MESSAGE, "not 'x'"),
        (f'{{"type":"subscribe","target":"{TARGET_ID}","after_seq":NaN}}', *NOT_FINITE),
        ('{"type":"frame_ack","frames":1e999}', *NOT_FINITE),
        ('{"type":"frame_ack","frames":-Infinity}', *NOT_FINITE),
        (b"\0", CloseCode.BAD_MESSAGE, "binary"),
    ],
)
async def test_what_a_page_must_not_send(
    backend: Backend, message: str | bytes, code: CloseCode, reason: str
) -> None:
    async with backend.page() as page:
        await page.socket.send(message)
        got = await closed(page)
        assert got[0] == code
        assert reason in got[1]


async def test_too_many_pages_are_turned_away() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(max_subscribers=1) as backend,
        backend.page() as page,
    ):
        await page.text(LiveState)
        async with backend.page() as second:
            assert (await closed(second))[0] == CloseCode.TOO_MANY


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("garbage", "JSON"),
        ('{"type":"dance"}', "dance"),
        (b"\xff\xff\xff\xff1234", "header of 4294967295"),
        (frame_bytes(1, target_id="t-9-00000000", fields=FIELDS)[:20], "header of"),
    ],
)
async def test_what_a_collector_must_not_send(
    backend: Backend, message: str | bytes, reason: str
) -> None:
    async with backend.collector() as collector:
        await collector.greeted()
        socket = collector.frames if isinstance(message, bytes) else collector.socket
        await socket.send(message)
        code, why = await closed(socket)
        assert code == CloseCode.BAD_MESSAGE
        assert reason in why


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_a_collector_must_not_send_a_number_that_json_does_not_have(
    backend: Backend, literal: str
) -> None:
    good = ProcessesReply(request_id=1, processes=[process()]).model_dump_json()
    message = good.replace('"cpu_percent":null', f'"cpu_percent":{literal}')
    assert literal in message
    async with backend.collector() as collector:
        await collector.greeted()
        await collector.socket.send(message)
        code, why = await closed(collector)
        assert (code, "finite" in why) == (CloseCode.BAD_MESSAGE, True)


async def test_a_frame_must_not_hold_a_number_that_json_does_not_have(backend: Backend) -> None:
    event = decision(1, 2, 1).model_copy(update={"ops": 100.0})
    frame = frame_bytes(1, {}, identity={}, events=[event])
    infinite = frame.replace(b'"ops":100.0', b'"ops":1e999')
    assert len(infinite) == len(frame)
    assert infinite != frame
    async with backend.collector(targets=[target()]) as collector:
        await collector.greeted()
        await collector.frames.send(infinite)
        code, why = await closed(collector.frames)
        assert (code, "not a frame" in why) == (CloseCode.BAD_MESSAGE, True)


async def test_a_collector_of_another_version_is_reported_both(backend: Backend) -> None:
    async with backend.collector(protocol=99) as collector:
        code, reason = await closed(collector)
        assert code == CloseCode.PROTOCOL_VERSION
        assert "99" in reason
        assert "1" in reason


async def test_a_collector_has_to_say_hello_first(backend: Backend) -> None:
    async with backend.collector(silent=True) as collector:
        await collector.socket.send(key_frame(1))
        code, reason = await closed(collector)
        assert code == CloseCode.BAD_MESSAGE
        assert "hello" in reason


async def test_a_collector_has_to_say_hello_soon() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(hello_seconds=0.2) as backend,
        backend.collector(silent=True) as collector,
    ):
        assert (await closed(collector))[0] == CloseCode.TIMED_OUT


async def test_a_collector_has_to_show_its_secret(backend: Backend) -> None:
    for shown in ("", f"Bearer {SECRET}", f"Bearer {TOKEN}", "Tidscope-Proof e30="):
        async with backend.collector(authorization=shown, silent=True) as collector:
            assert (await closed(collector))[0] == CloseCode.UNAUTHENTICATED


async def test_a_page_has_to_show_a_session(backend: Backend) -> None:
    for token in (None, "wrong", SECRET):
        async with LivePage(backend.socket_url, token, origin=backend.url) as page:
            assert (await closed(page))[0] == CloseCode.UNAUTHENTICATED


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
async def test_a_page_of_another_site_is_turned_away(backend: Backend, origin: str) -> None:
    async with backend.page(origin=origin) as page:
        assert (await closed(page))[0] == CloseCode.FORBIDDEN_ORIGIN
    async with LivePage(backend.socket_url, None) as page:
        assert (await closed(page))[0] == CloseCode.FORBIDDEN_ORIGIN


async def test_a_page_with_origin_and_session_is_let_in(backend: Backend) -> None:
    session = (await backend.sign_in()).credential
    async with LivePage(backend.socket_url, None, backend.url, session) as page:
        await page.text(LiveState)
        assert page.socket.subprotocol == "tidscope.v1"


async def test_a_message_beyond_the_bound_ends_the_connection() -> None:
    async with (
        asyncio.timeout(WAIT),
        running_backend(max_message_bytes=10_000) as backend,
        backend.collector() as collector,
    ):
        await collector.greeted()
        for socket in (collector.frames, collector.socket):
            await socket.send(b"\0" * 20_000)
            # Found by the WebSocket layer itself, with the code that RFC 6455 gives it.
            assert (await closed(socket))[0] == 1009


async def test_a_page_that_reloads_gets_the_counters_at_attach_first() -> None:
    frames = stream(1, 60, baseline=True)
    async with (
        asyncio.timeout(WAIT),
        running_backend(history_seconds=2) as backend,
        backend.collector(targets=[target()]) as collector,
    ):
        await holds(backend, collector, *frames)
        async with backend.page() as page:
            await page.subscribe(TARGET_ID)
            header, data = await page.frame()
            assert (header.seq, header.baseline, data) == (1, True, frames[0])
            later = await page.frames(60)
            assert later[0][0] > 2
            assert later == single(later[0][0], 60)
            assert not [text for text in page.texts if isinstance(text, FramesLost)]
        assert (await health(backend)).dropped == 0


async def test_frames_pass_through_the_backend_without_being_decoded() -> None:
    """Their rows are garbage: whoever decoded them would refuse or change them."""
    frames = []
    for data in stream(1, 30, baseline=True):
        header, body = split(data)
        # The backend decodes the columns of key frames.
        schema = 8 + int.from_bytes(body[4:8], "little") if header.kind == "key" else 0
        frames.append(join(header, bytes(body[:schema]).ljust(len(body), b"\xff")))
    async with (
        asyncio.timeout(WAIT),
        running_backend() as backend,
        backend.collector(targets=[target()]) as collector,
        backend.page() as page,
    ):
        await page.subscribe(TARGET_ID)
        await collector.send(*frames)
        assert [(await page.frame())[1] for _ in frames] == frames
        async with backend.page() as later:
            await later.subscribe(TARGET_ID)
            assert [(await later.frame())[1] for _ in frames] == frames
        async with backend.program() as client:
            assert "tidscope_target_frames_total" in (await client.get("/metrics")).text
        reported = await health(backend)
        assert (reported.frames, reported.coalesced, reported.dropped) == (30, 0, 0)


def decision(number: int, size: int, time_ns: int, *, probing: bool = True) -> SteeringDecided:
    return SteeringDecided(
        policy="fixed",
        number=number,
        at_ns=time_ns,
        elapsed_s=2,
        ops=10,
        mean_wait_s=None,
        size=size - 1,
        next_size=size,
        proposed=None,
        state="exploring",
        reason="It may be better.",
        counted=True,
        probing=probing,
    )


async def test_a_decision_reaches_a_page_once_and_a_newcomer_in_the_state() -> None:
    steered = target().model_copy(update={"steering": steering(decisions=1, since_unix_us=0)})
    second = 1_000_000_000
    async with (
        asyncio.timeout(WAIT),
        running_backend() as backend,
        backend.collector(targets=[steered]) as collector,
        backend.page() as page,
    ):
        await page.subscribe(TARGET_ID)
        await collector.send(key_frame(1))
        await page.frame()
        page.texts.clear()
        for seq in range(2, 7):
            reported = decision(seq, size=seq, time_ns=seq * second, probing=seq < 5)
            await collector.send(frame_bytes(seq, events=[reported], time_ns=seq * second))
            header, _ = await page.frame()
            assert header.events == [reported]
        # A replayed one changes nothing.
        await collector.send(frame_bytes(7, events=[decision(3, size=9, time_ns=3 * second)]))
        await page.frame()
        assert not [text for text in page.texts if isinstance(text, LiveState)]
        async with backend.page() as newcomer:
            (found,) = (await newcomer.text(LiveState)).targets
        assert found.steering is not None
        assert (found.steering.size, found.steering.decisions) == (6, 6)
        assert found.steering.state == "exploring"
        # The fifth was the first one that did not try a size out.
        assert (found.steering.decided_unix_us or 0) - (found.steering.chosen_unix_us or 0) == 1e6
