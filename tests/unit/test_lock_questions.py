"""Questions about locks, answered in this process: what they say, and that they never end badly."""

import json
import os
import socket
from pathlib import Path

import pytest
from fuzz.pprof import PROFILE
from processes import start_ticks
from programs.contended import contended_go
from programs.named_locks import NamedLocks, futex_waits
from tidscope_collector.inspection import (
    go_questions,
    java_threads,
    pprof,
    process_files,
)
from tidscope_collector.inspection import (
    lock_addresses as addresses,
)
from tidscope_collector.inspection.answering import Arguments
from tidscope_collector.inspection.go_questions import go_serving
from tidscope_collector.inspection.java_threads import java_blocked
from tidscope_collector.inspection.lock_addresses import lock_addresses
from tidscope_collector.inspection.pprof import mutex_profile
from tidscope_collector.inspection.process_files import open_below, thread_ids


@pytest.fixture(autouse=True)
def _unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits are those of a process for good: not of this one."""
    for one in (go_questions, java_threads, pprof, addresses):
        monkeypatch.setattr(one, "limit_resources", lambda _: None)
        monkeypatch.setattr(one, "confine", lambda: None)
    # Folders of a fork server.
    monkeypatch.chdir("/proc")


def about(pid: int, **more: object) -> Arguments:
    found: Arguments = {"pid": pid, "start_ticks": start_ticks(pid)}
    if "addresses" in more and isinstance(more["addresses"], list):
        found |= {"addresses": more["addresses"], "join_place": 0}
    return found


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_addresses_of_a_program_are_named(tmp_path: Path) -> None:
    with NamedLocks() as program, (tmp_path / "answer").open("wb") as answer:
        waits = futex_waits(program.pid)
        asked = [*waits.values(), 8, (1 << 64) - 1]
        lock_addresses(about(program.pid, addresses=asked), answer.fileno())
    head, *found, end = lines_of(tmp_path / "answer")
    assert end == {}
    assert isinstance(head["join_place"], int)
    assert head["join_place"] > 0
    by_address = {line["address"]: line for line in found}
    assert by_address.keys() == set(asked)
    for name in ("global", "static", "data", "library"):
        assert by_address[waits[name]]["name"] == f"{name}_lock"
    assert by_address[waits["join"]]["kind"] == "join"
    for gone in (8, (1 << 64) - 1):
        assert (by_address[gone]["kind"], by_address[gone]["place"]) == ("unknown", "gone")


def test_a_process_that_is_another_one_by_now_is_unreadable(tmp_path: Path) -> None:
    asked = about(os.getpid(), addresses=[8])
    asked["start_ticks"] += 1
    with (tmp_path / "answer").open("wb") as answer:
        lock_addresses(asked, answer.fileno())
        java_blocked(asked, answer.fileno())
    assert all(line.keys() == {"unreadable"} for line in lines_of(tmp_path / "answer"))


def test_functions_of_a_go_program_say_what_it_can_serve(tmp_path: Path) -> None:
    with contended_go() as program, (tmp_path / "answer").open("wb") as answer:
        go_serving(about(program.pid), answer.fileno())
        go_serving(about(os.getpid()), answer.fileno())
    go, python = lines_of(tmp_path / "answer")
    assert go == {"profile": True, "metrics": True}
    assert python == {"profile": False, "metrics": False}


@pytest.mark.parametrize("profile", [PROFILE, b"nonsense"])
def test_a_profile_is_answered_line_by_line(profile: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(profile)
        ours.shutdown(socket.SHUT_WR)
        mutex_profile({}, theirs.fileno())
        theirs.close()
        *found, last = [json.loads(line) for line in ours.makefile()]
    if profile == PROFILE:
        assert found[0] == {"function": "main.(*pool).use", "delay_ns": 900, "waits": 9}
        assert last == {}
    else:
        assert (found, list(last)) == ([], ["damaged"])


def test_a_process_without_an_attach_socket_has_trouble(tmp_path: Path) -> None:
    with (tmp_path / "answer").open("wb") as answer:
        java_blocked(about(os.getpid()), answer.fileno())
    (line,) = lines_of(tmp_path / "answer")
    assert line["trouble"] == "none"


@pytest.mark.parametrize("openat2", [437, 100_000])
def test_files_below_a_folder_are_opened_without_links(
    openat2: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Open paths by openat2(2), and on kernels without it."""
    monkeypatch.setattr(process_files, "_OPENAT2", openat2)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_text("content")
    (tmp_path / "in" / "link").symlink_to("file")
    (tmp_path / "way").symlink_to("in")
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    file = open_below(folder, "in", b"/file")
    assert os.read(file, 10) == b"content"
    os.close(file)
    for wrong in (b"/link", b"/none", b"/../in/file", b"//file", b"", b"/"):
        assert open_below(folder, "in", wrong) == -1
    assert open_below(folder, ".", b"/way/file") == -1
    assert open_below(folder, "none", b"/file") == -1
    assert thread_ids(folder) == []
    os.close(folder)
