"""Sessions over NATS: numbered parts, kept frames, what a backend lacks."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import nkeys
import pytest
from backend_builders import TARGET_ID, frame_bytes, key_frame
from recorded import story
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.fleet_options import (
    fleet_arguments,
    fleet_settings,
    make_key,
    with_fleet,
)
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
from tidscope_backend.nats_link.kept_frames import KeptFrames, header_of, read_frame
from tidscope_backend.nats_link.keys import KeyFileError, read_seed
from tidscope_backend.nats_link.relay_counts import RelayCounts
from tidscope_backend.nats_link.relay_session import RelaySession
from tidscope_backend.nats_link.subjects import Subjects, host_of, session_of
from tidscope_backend.settings import MAX_FLEET_HOSTS, FleetSettings, Settings
from tidscope_wire.envelope import LENGTH, split_text


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


@pytest.mark.parametrize("count", [-1, 1 << 63, 10**400, 1.5, True, "1", None, [1]])
def test_a_count_that_is_none_is_refused(count: object) -> None:
    known = RelayCounts(sent=3, reconnects=(1 << 63) - 1)
    assert RelayCounts.read(known._asdict()) == known
    assert RelayCounts.read({"relay": "1"}) == RelayCounts()
    with pytest.raises(ValueError, match="a count is no number, or too large"):
        RelayCounts.read({"sent": count})


def test_subjects_are_of_one_host() -> None:
    subjects = Subjects("db-17.example")
    assert subjects.to("s1") == "tidscope.db-17_example.to.s1"
    assert (host_of(subjects.here), session_of(subjects.from_("s1"))) == ("db-17.example", "s1")


def keep(kept: KeptFrames, first: int, last: int) -> None:
    """Keep frames with a key frame at 1, 11, …; the first is the baseline."""
    for seq in range(first, last + 1):
        data = key_frame(seq, baseline=seq == 1) if seq % 10 == 1 else frame_bytes(seq)
        assert kept.add(read_frame(data))


def numbers(messages: list[Message]) -> list[int | str]:
    """Numbers of frames, and ranges of lost ones."""
    found: list[int | str] = []
    for kind, body in messages:
        if kind == FRAME:
            found.append(read_frame(body).seq)
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
    assert not kept.add(read_frame(frame_bytes(5)))


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


def test_the_command_makes_a_key_and_its_user_for_the_servers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "db-17.nk"
    make_key(file, "db-17")
    user = capsys.readouterr().out
    public = nkeys.from_seed(bytearray(read_seed(file).encode())).public_key.decode()
    assert user == f"{{ nkey: {public}, permissions: {Subjects('db-17').permissions()} }}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CommandError, match="File exists"):
        make_key(file, None)


@pytest.mark.parametrize("url", ["http://a:4222", "nats://", "nats://a:x", "a:4222", ""])
def test_an_address_of_no_server_is_refused(url: str) -> None:
    options = argparse.Namespace(fleet=f"nats://a:4222,{url}", fleet_key=None)
    with pytest.raises(CommandError, match="not an address"):
        fleet_settings(options)


def test_a_backend_of_a_fleet_has_room_for_its_hosts() -> None:
    alone = Settings(token="", collector_secret="")
    nobody = argparse.Namespace(fleet=None, fleet_key=None)
    assert with_fleet(alone, nobody) == alone
    fleet = argparse.Namespace(fleet="nats://a:4222,tls://b", fleet_key=None)
    settings = with_fleet(alone, fleet)
    assert settings.fleet == FleetSettings(("nats://a:4222", "tls://b"))
    assert settings.max_collectors > MAX_FLEET_HOSTS
    assert fleet_arguments(fleet) == ["--fleet", "nats://a:4222,tls://b"]


def test_a_frame_is_read_by_its_beginning_as_by_its_whole_header() -> None:
    for data in story(120, 3).frames:
        header, body = split_text(data)
        other = json.dumps(json.loads(header), sort_keys=True).encode()
        size = -(-(LENGTH.size + len(other)) // 8) * 8 - LENGTH.size
        sorted_data = LENGTH.pack(size) + other.ljust(size) + bytes(body)
        assert read_frame(sorted_data)._replace(data=data) == read_frame(data)
        assert read_frame(data).roles == (header_of(data).get("roles") is not None)
