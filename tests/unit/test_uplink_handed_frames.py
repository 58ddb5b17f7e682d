"""Which frames the sampling thread sends itself, and what it hands to the event loop."""

from typing import cast

import pytest
from backend_builders import target
from tidscope_collector.compiled.link import Link
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.uplink import direct
from tidscope_collector.uplink.direct import DirectSender, Handed, SharedConnection
from tidscope_wire.generated.models import Target

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
        """What compiled code made since."""
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
