"""Frames that the sampling thread sends itself: in order, whole, kept until they are confirmed."""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping

import pytest
from backend_builders import TARGET_ID, frame_bytes, key_frame, stream, target
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.uplink.direct import DirectSender, SharedConnection, binary_message
from tidscope_wire.frame import split
from tidscope_wire.generated.models import FramesReceived, Target
from uplink_harness import Server, UplinkHarness, quiet_targets, welcome
from websockets.asyncio.server import ServerConnection
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri


@pytest.fixture
def targets() -> Iterator[TargetRegistry]:
    with quiet_targets() as held:
        yield held


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """True if each frame that the sampling thread tried to send went out at once."""
    tried: list[bool] = []
    send_now = SharedConnection.send_now

    def noted(link: SharedConnection, data: bytes) -> bool:
        tried.append(send_now(link, data))
        return tried[-1]

    monkeypatch.setattr(SharedConnection, "send_now", noted)
    return tried


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set once the event loop has sent what it had."""
    event = asyncio.Event()
    allow = DirectSender.allow

    def noted(
        sender: DirectSender,
        link: SharedConnection,
        reached: Callable[[], Mapping[str, tuple[Target, int]]],
    ) -> None:
        allow(sender, link, reached)
        if reached():
            event.set()

    monkeypatch.setattr(DirectSender, "allow", noted)
    return event


async def sampled(harness: UplinkHarness, frames: list[bytes], first: int) -> None:
    """Hand frames over as the sampling thread does: it is another thread."""
    await asyncio.to_thread(harness.put, frames, first, of=ATTACHED)


ATTACHED = target()
"""The same object in all frames, as long as nothing about the target changes."""


async def test_a_frame_goes_out_without_the_event_loop(
    targets: TargetRegistry, sent: list[bool], allowed: asyncio.Event
) -> None:
    got: asyncio.Queue[bytes] = asyncio.Queue()
    links: list[ServerConnection] = []

    async def behave(socket: ServerConnection) -> None:
        links.append(socket)
        await welcome(socket)
        async for message in socket:
            if isinstance(message, bytes):
                await got.put(message)

    frames = stream(1, 12)
    async with Server(behave) as server, UplinkHarness(targets, server.url) as harness:
        await sampled(harness, frames[:1], 1)
        assert await got.get() == frames[0]
        # The loop has nothing left to do once it has sent the first one.
        await allowed.wait()
        await sampled(harness, frames[1:], 2)
        assert sent == [True] * 11
        assert [await got.get() for _ in frames[1:]] == frames[1:]
        # Sent frames are kept and counted until the backend confirms them.
        assert harness.uplink.load().undelivered_bytes == sum(map(len, frames))
        await links[0].send(FramesReceived(targets={TARGET_ID: 12}).model_dump_json())
        assert await harness.uplink.deliver(60) == 0
        assert (harness.replay.count, harness.replay.sent(TARGET_ID)) == (12, 12)
        assert harness.uplink.load().sent_frames == 12


async def test_what_went_out_and_was_not_confirmed_goes_out_again(
    targets: TargetRegistry, sent: list[bool], allowed: asyncio.Event
) -> None:
    got: asyncio.Queue[int] = asyncio.Queue()
    links: list[ServerConnection] = []

    async def behave(socket: ServerConnection) -> None:
        links.append(socket)
        await welcome(socket, {TARGET_ID: 3} if len(links) > 1 else {})
        async for message in socket:
            if isinstance(message, bytes):
                await got.put(split(message)[0].seq)

    frames = stream(1, 8)
    async with Server(behave) as server, UplinkHarness(targets, server.url) as harness:
        await sampled(harness, frames[:1], 1)
        await got.get()
        await allowed.wait()
        await sampled(harness, frames[1:6], 2)
        assert sent == [True] * 5
        assert [await got.get() for _ in range(5)] == [2, 3, 4, 5, 6]
        await links[0].close(1012)
        await harness.ended()
        # Nobody is there: frames wait.
        await sampled(harness, frames[6:], 7)
        assert sent == [True] * 5
        harness.go_on()
        assert [await got.get() for _ in range(5)] == [4, 5, 6, 7, 8]


@pytest.mark.parametrize("seed", range(3))
async def test_frames_are_whole_and_in_order_whatever_the_connection_takes(
    targets: TargetRegistry, sent: list[bool], seed: int
) -> None:
    """Frames from bytes to megabytes, texts of the event loop in between, a backend that pauses."""
    chance = random.Random(seed)
    texts = 0
    got: asyncio.Queue[bytes] = asyncio.Queue()

    async def behave(socket: ServerConnection) -> None:
        nonlocal texts
        await welcome(socket)
        try:
            while True:
                if chance.random() < 0.2:
                    await asyncio.sleep(0.02)
                message = await socket.recv()
                if isinstance(message, str):
                    texts += 1
                else:
                    await got.put(message)
        except ConnectionClosed:
            return

    frames = [key_frame(1)]
    for seq in range(2, 41):
        threads = chance.choice((1, 30, 1_000, 10_000))
        frames.append(frame_bytes(seq, {tid: [seq, tid] for tid in range(1, threads)}))

    def sample(harness: UplinkHarness) -> None:
        attached = ATTACHED
        for seq, frame in enumerate(frames[1:], 2):
            if seq % 10 == 5:  # A text message must precede this frame.
                attached = attached.model_copy(update={"rate_hz": seq})
            harness.uplink.add_frame(attached, SampledFrame(seq, frame, key=False))

    most = sum(map(len, frames))
    async with (
        Server(behave) as server,
        UplinkHarness(targets, server.url, most_bytes=2 * most) as harness,
    ):
        await sampled(harness, frames[:1], 1)
        assert await got.get() == frames[0]
        sampling = asyncio.create_task(asyncio.to_thread(sample, harness))
        for number, frame in enumerate(frames[1:], 2):
            assert await got.get() == frame, number
        await sampling
    assert texts


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 300_000])
def test_a_message_is_what_the_library_makes(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("os.urandom", lambda count: b"mask"[:count])
    monkeypatch.setattr("secrets.token_bytes", lambda count: b"mask"[:count])
    data = bytes(range(256)) * (size // 256 + 1)
    expected = Frame(Opcode.BINARY, data[:size]).serialize(mask=True)
    assert binary_message(data[:size]) == expected


async def test_an_encrypted_connection_is_not_written_to_directly() -> None:
    class Encrypted(asyncio.Transport):
        def get_extra_info(self, name: str, default: object = None) -> object:
            assert name != "socket"
            return object() if name == "ssl_object" else default

        def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
            pass

    link = SharedConnection(ClientProtocol(parse_uri("wss://localhost/")))
    link.connection_made(Encrypted())
    assert not link.send_now(b"frame")
