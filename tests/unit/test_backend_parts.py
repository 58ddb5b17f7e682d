"""The small pure parts of the backend."""

import pytest
from backend_builders import HOST_ID, TARGET_ID, host, target
from pydantic import TypeAdapter, ValidationError
from tidscope_backend.cli.collect import socket_url
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.doctor import table
from tidscope_backend.connections.connection import MAX_REASON_BYTES, fit_reason
from tidscope_backend.host_registry import HostRegistry
from tidscope_backend.ingest.announced import Sequence
from tidscope_backend.listen_socket import reachable
from tidscope_backend.security.access import AllowedOrigins
from tidscope_backend.security.authenticator import FailedAttempts, bearer
from tidscope_backend.security.rights import is_guarded
from tidscope_backend.settings import (
    Settings,
    SettingsError,
    settings_from,
)
from tidscope_backend.text import validation_text
from tidscope_wire.generated.models import AttachRequest, DoctorCheck, DoctorReport
from tidscope_wire.proof import host_secret


def test_sequence_finds_what_is_missing() -> None:
    sequence = Sequence()
    assert sequence.accept(7, 7) == (True, None)
    assert sequence.accept(8, 8) == (True, None)
    assert sequence.accept(8, 8) == (False, None)
    assert sequence.accept(12, 14) == (True, (9, 11))
    # A coalesced frame that begins with what is here and ends with what is not.
    assert sequence.accept(13, 16) == (True, None)
    assert sequence.last_seq == 16


def test_a_loss_counts_once_and_only_if_something_was_expected() -> None:
    sequence = Sequence()
    assert sequence.skip(1, 90) == 0
    sequence.accept(91, 91)
    assert sequence.skip(92, 94) == 3
    assert sequence.skip(92, 94) == 0
    assert sequence.skip(94, 96) == 2
    assert sequence.accept(97, 97) == (True, None)


def test_what_lies_between_a_baseline_and_the_first_frame_was_not_expected() -> None:
    sequence = Sequence()
    assert sequence.accept(1, 1, baseline=True) == (True, None)
    assert sequence.accept(1, 1, baseline=True) == (False, None)
    assert sequence.last_seq is None
    assert sequence.skip(2, 90) == 0
    assert sequence.accept(91, 91) == (True, None)
    assert sequence.accept(93, 93) == (True, (92, 92))
    assert sequence.accept(1, 1, baseline=True) == (False, None)


def test_wrong_tokens_are_counted_by_address_and_forgotten() -> None:
    now = 0.0
    attempts = FailedAttempts(lambda: now, limit=2, window_seconds=10, addresses=2)
    attempts.record_failure("a")
    assert attempts.wait_seconds("a") == 0
    attempts.record_failure("a")
    assert attempts.wait_seconds("a") == 10
    assert attempts.wait_seconds("b") == 0
    now = 4
    assert attempts.wait_seconds("a") == 6
    now = 11
    assert attempts.wait_seconds("a") == 0
    attempts.record_failure("a")
    assert attempts.wait_seconds("a") == 0


def test_attempts_are_bounded() -> None:
    attempts = FailedAttempts(lambda: 0.0, limit=1, addresses=2)
    for address in ("a", "b", "c"):
        attempts.record_failure(address)
    assert [attempts.wait_seconds(address) > 0 for address in "abc"] == [False, True, True]


@pytest.mark.parametrize(
    ("bound", "header", "ours"),
    [
        ("127.0.0.1", "127.0.0.1:8787", True),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "[::1]:8787", True),
        ("127.0.0.1", "10.1.2.3", False),
        ("10.1.2.3", "10.1.2.3:80", True),
        ("0.0.0.0", "10.1.2.3:80", True),
        ("::", "[fe80::1]:80", True),
        ("0.0.0.0", "box.example", False),
        ("127.0.0.1", "TIDSCOPE.example:1", True),
        ("127.0.0.1", None, False),
        ("127.0.0.1", "[::1", False),
        ("127.0.0.1", "x@localhost", False),
        ("127.0.0.1", "localhost/x", False),
    ],
)
def test_host_headers(bound: str, header: str | None, ours: bool) -> None:
    assert AllowedOrigins(bound, allow_hosts=["tidscope.EXAMPLE"]).is_host(header) is ours


@pytest.mark.parametrize(
    ("origin", "scheme", "ours"),
    [
        ("http://localhost:8787", "http", True),
        ("http://localhost:8787", "ws", True),
        ("https://localhost:8787", "wss", True),
        ("https://localhost:8787", "ws", False),
        ("http://localhost", "http", False),
        ("https://proxy.example", "ws", True),
        ("null", "http", False),
    ],
)
def test_origins(origin: str, scheme: str, ours: bool) -> None:
    places = AllowedOrigins("127.0.0.1", allow_origins=["https://proxy.example/"])
    assert places.is_origin(origin, scheme, "localhost:8787") is ours


@pytest.mark.parametrize(
    ("header", "credential"),
    [("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("Basic abc", None), ("Bearer", None)],
)
def test_bearer(header: str, credential: str | None) -> None:
    assert bearer({"authorization": header}) == credential


@pytest.mark.parametrize(
    ("path", "guarded"),
    [
        ("/", False),
        ("/doctor", False),
        ("/apiary", False),
        ("/api/v1/session", True),
        ("/api", True),
        ("/api/v1/health", True),
        ("/ws/live", True),
        ("/docs", True),
        ("/openapi.json", True),
    ],
)
def test_what_is_none_of_the_pages_files(path: str, guarded: bool) -> None:
    assert is_guarded(path) is guarded


def test_secrets_come_from_the_environment_or_are_made() -> None:
    given = settings_from({"TIDSCOPE_TOKEN": "given-token-of-1"})
    assert given.token == "given-token-of-1"
    assert len(given.collector_secret) >= 32
    assert settings_from({}).token != settings_from({}).token
    assert "given-token" not in repr(given)
    for name in ("TIDSCOPE_TOKEN", "TIDSCOPE_VIEW_TOKEN", "TIDSCOPE_COLLECTOR_SECRET"):
        with pytest.raises(SettingsError, match=f"{name} has 15 characters; give at least 16"):
            settings_from({name: "x" * 15})


def test_the_secret_of_another_host_is_not_the_backends_own() -> None:
    secret = host_secret("web-1", bytes(32))
    with pytest.raises(SettingsError, match="is the secret of host web-1"):
        settings_from({"TIDSCOPE_COLLECTOR_SECRET": secret})
    own = host_secret("default", bytes(32))
    assert settings_from({"TIDSCOPE_COLLECTOR_SECRET": own}).collector_secret == own


def test_the_defaults_stay_within_the_memory_that_is_promised() -> None:
    settings = Settings("token", "secret")
    slow_subscribers = 2 * (settings.queue_bytes + settings.merged_bytes)
    assert settings.history_total_bytes + slow_subscribers < 150 * 1024 * 1024


def test_a_reason_fits_into_a_close_frame() -> None:
    assert fit_reason("short") == "short"
    cut = fit_reason("ä" * 200)
    assert len(cut.encode()) <= MAX_REASON_BYTES
    assert cut.endswith("ä…")


def test_a_complaint_names_the_place_and_the_value() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(AttachRequest).validate_json('{"pid": 1, "rate_hz": 1000}')
    assert validation_text(caught.value) == (
        "rate_hz: Input should be less than or equal to 100, not 1000"
    )
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(AttachRequest).validate_python({"pid": "x" * 500})
    assert len(validation_text(caught.value)) < 200


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("ws://box:1", "ws://box:1/ws/collector"),
        ("http://box:1/", "ws://box:1/ws/collector"),
        ("https://box", "wss://box/ws/collector"),
        ("wss://box/behind/proxy", "wss://box/behind/proxy"),
    ],
)
def test_the_address_of_a_backend(given: str, url: str) -> None:
    assert socket_url(given) == url


@pytest.mark.parametrize("given", ["box:8787", "ftp://box", "ws://", ""])
def test_what_is_no_address(given: str) -> None:
    with pytest.raises(CommandError, match="--backend"):
        socket_url(given)


@pytest.mark.parametrize(
    ("bound", "address"),
    [
        ("127.0.0.1", "127.0.0.1:9"),
        ("0.0.0.0", "127.0.0.1:9"),
        ("::", "[::1]:9"),
        ("fe80::1", "[fe80::1]:9"),
        ("localhost", "localhost:9"),
    ],
)
def test_where_this_machine_reaches_it(bound: str, address: str) -> None:
    assert reachable(bound, 9) == address


def test_the_doctors_table_copies_commands_as_they_are() -> None:
    command = "sysctl -w kernel.task_delayacct=1 && echo a-very-long-word-that-is-not-cut"
    checks = [
        DoctorCheck(name="a", title="Kernel", status="ok", finding="6.18", impact="", fix=""),
        DoctorCheck(
            name="b", title="Delays", status="failed", finding="0", impact="I/O", fix=command
        ),
    ]
    report = DoctorReport(
        host="box", kernel="6.18", checked_unix_ms=1, status="failed", checks=checks
    )
    lines = list(table(report, 40))
    assert lines[0] == "box, Linux 6.18: failed"
    assert "ok       Kernel: 6.18" in lines
    assert "FAILED   Delays: 0" in lines
    assert "         impact: I/O" in lines
    assert "a-very-long-word-that-is-not-cut" in "\n".join(lines)


def registry() -> tuple[HostRegistry, list[str]]:
    heard: list[str] = []
    known = HostRegistry(max_ended=2)
    known.subscribe(lambda: heard.append("changed"), heard.append)
    return known, heard


def test_a_registry_tells_of_each_change_once() -> None:
    known, heard = registry()
    known.connect_host(host(), [target()])
    known.update_target(target())
    known.update_target(target(rate_hz=20))
    known.disconnect_host(HOST_ID)
    known.disconnect_host("h-000000000000")
    known.remove_target(TARGET_ID)
    known.remove_target(TARGET_ID)
    assert heard == ["changed", "changed", "changed", TARGET_ID, "changed"]
    assert not known.hosts[0].connected


def test_a_registry_forgets_the_oldest_ended_targets() -> None:
    known, heard = registry()
    for number in range(4):
        known.update_target(target(f"t-{number}-00000000", state="exited", attached_unix_us=number))
    known.update_target(target("t-9-00000000", attached_unix_us=0))
    assert [t.id for t in known.targets] == ["t-9-00000000", "t-2-00000000", "t-3-00000000"]
    assert [said for said in heard if said != "changed"] == ["t-0-00000000", "t-1-00000000"]
