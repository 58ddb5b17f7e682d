"""Sessions over NATS: numbered parts, kept frames, what a backend lacks."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from backend_builders import TARGET_ID, frame_bytes, key_frame
from tidscope_backend.nats_link import envelopes, relay_session
from tidscope_backend.nats_link.envelopes import (
    BEAT,
    CONTROL,
    DATA,
    FRAME,
    Inbound,
    Message,
    Outbound,
    StreamBrokenError,
)
from tidscope_backend.nats_link.kept_frames import KeptFrames, read_frame
from tidscope_backend.nats_link.keys import KeyFileError, read_seed
from tidscope_backend.nats_link.relay_session import RelaySession
from tidscope_backend.nats_link.subjects import Subjects, host_of, session_of


def taken(inbound: Inbound, parts: Iterator[bytes]) -> list[Message]:
    return [message for part in parts if (message := inbound.take(part)) is not None]


def test_messages_come_whole_in_parts_that_servers_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envelopes, "PART_BYTES", 4)
    outbound, inbound = Outbound(), Inbound()
    for body in (b"", b"abc", b"abcd", b"abcdefghi"):
        parts = [*outbound.parts(FRAME, body)]
        assert len(parts) == max(1, -(-len(body) // 4))
        assert taken(inbound, iter(parts)) == [(FRAME, body)]


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_lost_message_is_noticed_by_the_next_one_or_the_next_beat(lost: int) -> None:
    outbound, inbound = Outbound(), Inbound()
    parts = [part for body in (b"1", b"2", b"3") for part in outbound.parts(CONTROL, body)]
    del parts[lost]
    with pytest.raises(StreamBrokenError, match="lost"):
        taken(inbound, iter([*parts, *outbound.parts(BEAT, b"")]))


def test_beats_are_no_messages_of_their_own() -> None:
    outbound, inbound = Outbound(), Inbound()
    for kind in (CONTROL, BEAT, BEAT, DATA, BEAT):
        assert taken(inbound, outbound.parts(kind, b"")) == [(kind, b"")]


@pytest.mark.parametrize("payload", [b"", b"x", b"c" * 16])
def test_what_is_no_message_is_refused(payload: bytes) -> None:
    with pytest.raises(StreamBrokenError):
        Inbound().take(payload)


def test_subjects_are_of_one_host() -> None:
    subjects = Subjects("db-17.example")
    assert subjects.to("s1") == "tidscope.db-17_example.to.s1"
    assert (host_of(subjects.here), session_of(subjects.from_("s1"))) == ("db-17.example", "s1")


def keep(kept: KeptFrames, first: int, last: int) -> None:
    """Keep frames with a key frame at 1, 11, …; the first is the baseline."""
    for seq in range(first, last + 1):
        data = key_frame(seq, baseline=seq == 1) if seq % 10 == 1 else frame_bytes(seq)
        assert kept.add(read_frame(data)[0])


def numbers(messages: list[Message]) -> list[int | str]:
    """Numbers of frames, and ranges of lost ones."""
    found: list[int | str] = []
    for kind, body in messages:
        if kind == FRAME:
            found.append(read_frame(body)[0].seq)
        else:
            text = json.loads(body)
            found.append(f"{text['from_seq']}-{text['to_seq']}")
    return found


class Backend:
    """A session, and what arrives of it."""

    def __init__(self) -> None:
        self._inbound = Inbound()
        self._messages: list[Message] = []
        self.session = RelaySession(self._take, 0.0)

    def _take(self, part: bytes) -> None:
        message = self._inbound.take(part)
        if message is not None:
            self._messages.append(message)

    def got(self, kept: KeptFrames) -> list[int | str]:
        """Send frames as far as there is room; return numbers of those that arrive."""
        self._messages.clear()
        self.session.advance({TARGET_ID: kept}, [TARGET_ID])
        return numbers(self._messages)


def test_a_reader_gets_baseline_and_past_and_each_frame_once() -> None:
    kept, backend = KeptFrames(), Backend()
    keep(kept, 1, 25)
    assert backend.got(kept) == []
    backend.session.watch([TARGET_ID], [])
    assert backend.got(kept) == [*range(1, 26)]
    keep(kept, 26, 27)
    assert backend.got(kept) == [26, 27]
    assert backend.got(kept) == []


def test_a_recording_begins_at_the_newest_key_frame() -> None:
    kept, backend = KeptFrames(), Backend()
    keep(kept, 1, 25)
    backend.session.watch([], [TARGET_ID])
    assert backend.got(kept) == [*range(21, 26)]


def test_evicted_frames_are_named_unless_they_were_never_expected() -> None:
    size = len(frame_bytes(2))
    kept, early, late = KeptFrames(25 * size), Backend(), Backend()
    keep(kept, 1, 5)
    early.session.watch([TARGET_ID], [])
    assert early.got(kept) == [1, 2, 3, 4, 5]
    early.session.watch([], [])
    keep(kept, 6, 60)
    first = kept.first_seq
    assert first % 10 == 1
    assert first > 6
    late.session.watch([TARGET_ID], [])
    assert late.got(kept) == [1, *range(first, 61)]
    early.session.watch([TARGET_ID], [])
    assert early.got(kept) == [f"6-{first - 1}", *range(first, 61)]


def test_a_slow_backend_has_a_bounded_window_and_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = len(frame_bytes(2))
    monkeypatch.setattr(relay_session, "WINDOW_BYTES", 3 * size)
    kept, backend = KeptFrames(), Backend()
    keep(kept, 1, 10)
    backend.session.watch([TARGET_ID], [])
    first = backend.got(kept)
    assert first == [*range(1, len(first) + 1)]
    assert len(first) < 10
    assert backend.got(kept) == []
    backend.session.confirm({TARGET_ID: len(first)})
    assert backend.got(kept)[0] == len(first) + 1


def test_a_forgotten_target_names_what_a_reader_did_not_get() -> None:
    kept, backend = KeptFrames(), Backend()
    keep(kept, 1, 5)
    backend.session.watch([TARGET_ID], [])
    backend.got(kept)
    keep(kept, 6, 9)
    backend.session.forget(TARGET_ID, 9)
    assert numbers(backend._messages[-1:]) == ["6-9"]


def test_frames_that_a_collector_replays_are_known() -> None:
    kept = KeptFrames()
    keep(kept, 1, 5)
    assert not kept.add(read_frame(frame_bytes(5))[0])


def test_a_seed_is_read_from_a_file_of_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("SUAKEY\n")
    file.chmod(0o600)
    assert read_seed(file) == "SUAKEY"
    file.chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        read_seed(file)
    file.chmod(0o600)
    file.write_text("a token")
    with pytest.raises(KeyFileError, match="no NKey seed"):
        read_seed(file)
    with pytest.raises(KeyFileError, match="No such file"):
        read_seed(tmp_path / "none")
