"""The uplink's connection: back-off, frames in flight and handed over."""

import asyncio
from typing import cast

import pytest
from backend_builders import target
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.compiled.link import Link
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.uplink import direct
from tidscope_collector.uplink.direct import DirectSender, Handed, SharedConnection
from tidscope_collector.uplink.reconnecting import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    REPLACED_WAIT_S,
    STEADY_S,
    Backoff,
    close_reason,
)
from tidscope_collector.uplink.replay import NARROWING, InFlight
from tidscope_wire.generated.close_code import CloseCode
from tidscope_wire.generated.models import Target
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

ONE, OTHER = target("t-1-0000000a"), target("t-2-0000000b")


def frame(seq: int, size: int = 10) -> SampledFrame:
    return SampledFrame(seq, bytes((seq,)) * size, key=False)


class Connection:
    """Takes frames as long as the test wants it to."""

    def __init__(self) -> None:
        self.takes = True
        self.got: list[bytes] = []
        self.link = Link()
        self.ended: list[bytes] = []

    def send_now(self, data: bytes) -> bool:
        if self.takes:
            self.got.append(data)
        return self.takes

    def begin_round(self) -> Link | None:
        return self.link if self.takes else None

    def end_round(self, message: memoryview) -> None:
        self.ended.append(bytes(message))


class Sending:
    """A sender that may send the frames of a target that come after the first."""

    def __init__(self) -> None:
        self.connection = Connection()
        self.sender = DirectSender()
        self.made: list[tuple[SampledFrame, bool]] = []
        self.allow({ONE.id: (ONE, 1)})

    def allow(self, reached: dict[str, tuple[Target, int]]) -> None:
        self.sender.allow(cast(SharedConnection, self.connection), lambda: reached)

    def collect(self) -> list[tuple[SampledFrame, bool]]:
        """Frames made by compiled code since then."""
        made, self.made = self.made, []
        return made

    def begin(self, whose: Target = ONE, seq: int = 1) -> Link | None:
        return self.sender.begin(whose, seq, self.collect)


@pytest.fixture
def sending() -> Sending:
    return Sending()


def test_the_next_frames_go_out_and_nobody_is_woken(sending: Sending) -> None:
    assert [sending.sender.add(ONE, frame(seq)) for seq in (2, 3)] == [False, False]
    assert sending.connection.got == [frame(2).data, frame(3).data]
    assert sending.sender.held_bytes == 20
    assert sending.sender.take() == [Handed(ONE, frame(2), True), Handed(ONE, frame(3), True)]
    assert sending.sender.take() == []
    assert sending.sender.held_bytes == 0


@pytest.mark.parametrize(
    ("whose", "seq"),
    [(ONE, 1), (ONE, 3), (OTHER, 2), (ONE.model_copy(update={"rate_hz": 5}), 2)],
    ids=["sent before", "one too far", "not reached", "target changed"],
)
def test_a_frame_whose_turn_it_is_not_is_handed_over(
    sending: Sending, whose: Target, seq: int
) -> None:
    assert sending.sender.add(whose, frame(seq))
    assert sending.connection.got == []
    assert sending.sender.take() == [Handed(whose, frame(seq), False)]


def test_no_frame_overtakes_one_that_was_not_taken(sending: Sending) -> None:
    sending.connection.takes = False
    assert sending.sender.add(ONE, frame(2))
    sending.connection.takes = True
    assert sending.sender.add(ONE, frame(3))
    assert sending.connection.got == []
    # One waits to be taken in: the permission comes too early.
    sending.allow({ONE.id: (ONE, 3)})
    assert sending.sender.add(ONE, frame(4))
    assert [one.frame.seq for one in sending.sender.take()] == [2, 3, 4]
    sending.allow({ONE.id: (ONE, 4)})
    assert not sending.sender.add(ONE, frame(5))
    assert sending.connection.got == [frame(5).data]


def test_nothing_goes_out_before_it_is_allowed_or_after_it_is_forbidden(sending: Sending) -> None:
    assert DirectSender().add(ONE, frame(2))
    sending.sender.forbid()
    assert sending.sender.add(ONE, frame(2))
    assert sending.connection.got == []


def test_the_loop_is_woken_when_much_is_held(
    sending: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "HELD_BYTES", 20)
    assert [sending.sender.add(ONE, frame(seq)) for seq in (2, 3, 4)] == [False, False, True]
    assert len(sending.connection.got) == 3
    sending.sender.take()
    assert not sending.sender.add(ONE, frame(5))


@pytest.mark.parametrize(
    ("whose", "seq"),
    [(ONE, 2), (OTHER, 1), (ONE.model_copy(), 1)],
    ids=["another frame", "not reached", "target changed"],
)
def test_no_round_begins_out_of_turn(sending: Sending, whose: Target, seq: int) -> None:
    assert sending.begin(whose, seq) is None
    assert sending.begin() is sending.connection.link


def test_no_round_begins_without_a_connection_that_takes_frames(sending: Sending) -> None:
    sending.connection.takes = False
    assert sending.begin() is None
    sending.connection.takes = True
    sending.sender.forbid()
    assert sending.begin() is None
    # None began, so there is none to end.
    assert not sending.sender.end(memoryview(b"message"))
    assert sending.connection.ended == []


def test_frames_of_a_round_are_handed_over_and_the_next_goes_on_from_there(
    sending: Sending,
) -> None:
    assert sending.begin() is sending.connection.link
    sending.made = [(frame(2), True)]
    assert sending.sender.take() == [Handed(ONE, frame(2), True)]
    sending.made = [(frame(3), True)]
    assert not sending.sender.end(memoryview(b"message"))
    assert sending.connection.ended == [b"message"]
    assert sending.sender.held_bytes == 10
    assert not sending.sender.add(ONE, frame(4))
    assert [one.frame.seq for one in sending.sender.take()] == [3, 4]
    # The round is over: what it made is not asked for again.
    sending.made = [(frame(5), True)]
    assert sending.sender.take() == []


def test_a_frame_of_a_round_that_did_not_go_out_wakes_the_loop(sending: Sending) -> None:
    sending.begin()
    sending.made = [(frame(2), True), (frame(3), False)]
    assert sending.sender.end(memoryview(b""))
    assert sending.begin(seq=3) is None
    assert sending.sender.add(ONE, frame(4))
    assert [(one.frame.seq, one.sent) for one in sending.sender.take()] == [
        (2, True),
        (3, False),
        (4, False),
    ]
    assert sending.connection.got == []


def test_a_round_that_made_much_wakes_the_loop(
    sending: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "HELD_BYTES", 15)
    sending.begin()
    sending.made = [(frame(2), True), (frame(3), True)]
    assert sending.sender.end(memoryview(b""))


def test_a_permission_during_a_round_does_not_pass_over_its_frames(sending: Sending) -> None:
    sending.begin()
    sending.made = [(frame(2), True)]
    sending.allow({ONE.id: (ONE, 1), OTHER.id: (OTHER, 1)})
    assert sending.sender.add(OTHER, frame(2))
    sending.sender.end(memoryview(b""))
    assert not sending.sender.add(ONE, frame(3))
    assert sending.connection.got == [frame(3).data]


HELD = st.one_of(st.none(), st.floats(0, 2 * STEADY_S))


def test_the_wait_doubles_up_to_the_longest() -> None:
    backoff = Backoff()
    waits = [backoff.wait_s(None) for _ in range(9)]
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5]


def test_a_backend_that_was_there_is_looked_for_at_once() -> None:
    backoff = Backoff()
    for _ in range(9):
        backoff.wait_s(None)
    assert backoff.wait_s(60) == FIRST_WAIT_S
    assert backoff.wait_s(None) == 2 * FIRST_WAIT_S


def test_a_backend_that_welcomes_and_throws_out_is_not_asked_faster_and_faster() -> None:
    backoff = Backoff()
    waits = [backoff.wait_s(0.01) for _ in range(9)]
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5]
    assert backoff.wait_s(STEADY_S) == FIRST_WAIT_S


def test_a_reason_may_ask_for_more() -> None:
    backoff = Backoff()
    assert backoff.wait_s(1, at_least_s=30) == 30
    assert backoff.wait_s(None, at_least_s=0.05) == 2 * FIRST_WAIT_S


@given(st.lists(HELD, max_size=40))
def test_there_is_never_a_busy_loop(tries: list[float | None]) -> None:
    """In any 5 s there are few tries, however connections end."""
    backoff = Backoff()
    now, began = 0.0, []
    for held in tries:
        began.append(now)
        wait = backoff.wait_s(held)
        assert FIRST_WAIT_S <= wait <= LONGEST_WAIT_S
        now += (held or 0) + wait
    for at in began:
        # A try that found nobody may come between two that were welcomed.
        assert sum(at <= other < at + STEADY_S for other in began) <= 14


def closed(code: int, reason: str = "why") -> ConnectionClosedError:
    return ConnectionClosedError(Close(code, reason), None, None)


@pytest.mark.parametrize("code", list(CloseCode))
def test_every_refusal_is_named_and_waited_for(code: CloseCode) -> None:
    end = close_reason(closed(code))
    assert f"{int(code)}: why" in end.text
    longest = REPLACED_WAIT_S if code is CloseCode.REPLACED else LONGEST_WAIT_S
    assert end.wait_s == longest
    assert end.refused == (code is CloseCode.BAD_MESSAGE)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (CloseCode.UNAUTHENTICATED, "the same TIDSCOPE_COLLECTOR_SECRET"),
        (CloseCode.PROTOCOL_VERSION, "the same version"),
        (CloseCode.REPLACED, "stop one of the two"),
        (CloseCode.FORBIDDEN_ORIGIN, "--allow-host"),
    ],
)
def test_what_a_person_can_fix_comes_with_advice(code: CloseCode, advice: str) -> None:
    assert advice in close_reason(closed(code)).text


def test_a_message_that_is_too_big_for_the_server_is_a_refused_one() -> None:
    assert close_reason(closed(1009)).refused


@pytest.mark.parametrize("code", [1001, 1011, 1012])
def test_a_backend_that_ends_or_fails_is_looked_for_soon(code: int) -> None:
    end = close_reason(closed(code, ""))
    assert (end.wait_s, end.refused) == (0, False)
    assert str(code) in end.text


def test_a_connection_that_breaks_off() -> None:
    end = close_reason(ConnectionClosedError(None, None, None))
    assert (end.wait_s, end.refused) == (0, False)
    assert "was lost" in end.text


A, B = "t-1-0000000a", "t-2-0000000b"


def sent(flight: InFlight, *frames: tuple[str, int]) -> None:
    for target_id, seq in frames:
        flight.add(target_id, seq)


def test_a_frame_that_was_alone_is_the_one() -> None:
    flight = InFlight()
    sent(flight, (A, 1))
    assert flight.refused() == (A, 1)


def test_none_of_several_is_given_up_on_a_guess() -> None:
    flight = InFlight()
    sent(flight, (A, 1), (B, 1))
    assert flight.refused() is None


def test_a_message_that_is_no_frame_may_be_the_one() -> None:
    flight = InFlight()
    flight.add_text()
    sent(flight, (A, 1))
    assert flight.refused() is None


def test_what_went_out_before_a_confirmed_frame_is_there() -> None:
    flight = InFlight()
    sent(flight, (A, 1))
    flight.add_text()
    sent(flight, (B, 1), (A, 2))
    flight.confirm({B: 1})
    assert flight.refused() == (A, 2)


async def narrowed(flight: InFlight, count: int) -> int:
    """Frames that go out before the next has to wait."""
    for seq in range(1, count + 1):
        try:
            async with asyncio.timeout(0):
                await flight.room()
        except TimeoutError:
            return seq - 1
        flight.add(A, seq)
    return count


async def test_fewer_frames_go_out_after_a_refusal_until_the_one_is_found() -> None:
    flight = InFlight()
    frames = NARROWING * NARROWING
    assert await narrowed(flight, frames) == frames
    assert flight.refused() is None
    flight.connected({})
    assert await narrowed(flight, frames) == NARROWING
    assert flight.refused() is None
    flight.connected({})
    assert await narrowed(flight, frames) == 1
    assert flight.refused() == (A, 1)
    flight.connected({})
    assert await narrowed(flight, frames) == frames


async def test_room_comes_with_a_confirmation() -> None:
    flight = InFlight()
    sent(flight, (A, 1), (A, 2))
    assert flight.refused() is None
    flight.connected({})
    sent(flight, (A, 1))
    waiting = asyncio.create_task(flight.room())
    await asyncio.sleep(0)
    assert not waiting.done()
    flight.confirm({A: 1})
    await waiting


def test_suspects_of_a_target_that_is_forgotten_hold_nothing_up() -> None:
    flight = InFlight()
    sent(flight, (A, 1), (A, 2))
    assert flight.refused() is None
    flight.forget(A)
    asyncio.run(flight.room())
