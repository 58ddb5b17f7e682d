"""Kinds of locks, and their layouts in memory."""

import ctypes
import json
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz.pprof import PROFILE, build_goroutines
from hypothesis import given
from hypothesis import strategies as st
from processes import start_ticks
from programs.contended import contended_go
from programs.named_locks import NamedLocks, futex_waits
from tidscope_collector.inspection import (
    go_profiles,
    go_questions,
    java_threads,
    process_files,
)
from tidscope_collector.inspection import (
    lock_addresses as addresses,
)
from tidscope_collector.inspection.answering import Arguments
from tidscope_collector.inspection.go_profiles import goroutine_profile, mutex_profile
from tidscope_collector.inspection.go_questions import go_serving
from tidscope_collector.inspection.java_threads import java_blocked
from tidscope_collector.inspection.lock_addresses import lock_addresses
from tidscope_collector.inspection.lock_kinds import (
    AFTER,
    BEFORE,
    CONDITION_BYTES,
    GO_IDLE,
    GO_LOCK,
    GO_SIGNALS,
    JVM_PARK,
    Found,
    Place,
    Program,
    Surroundings,
    Variable,
    classify,
    condition_begin,
    gil_begin,
    is_semaphore,
    kind_by_size,
    kind_of,
)
from tidscope_collector.inspection.process_files import open_below, thread_ids

ADDRESS = 0x7F0000001000


def near(word: int, more: bytes = b"") -> Surroundings:
    return Surroundings(struct.pack("<I", word) + more, 0, ADDRESS)


def variable(name: str, place: int = 0, size: int = 0, *, executable: bool = True) -> Variable:
    return Variable(name, place, size, "/opt/bin/program", executable)


def found(program: Program, word: int, where: Variable | None, *, go_heap: bool = False) -> Found:
    place: Place = "heap" if where is None else "file"
    return classify(program, ADDRESS, place, near(word), where, go_heap=go_heap)


GO, C, JVM = Program(go=True), Program(), Program(jvm=True)


def test_go_waits_in_its_heap_and_its_own_variables() -> None:
    for where in (None, variable("runtime.m0", 0x138, 2000), variable("")):
        assert found(GO, 0, where, go_heap=True)[:2] == ("park", GO_IDLE)
        assert found(GO, 0xFFFFFFFF, where, go_heap=True)[:2] == ("lock", GO_LOCK)
    assert found(GO, 2, variable("runtime.sched"))[:2] == ("lock", GO_LOCK)
    assert found(GO, 0, variable("runtime.sig"))[:2] == ("park", GO_SIGNALS)


def test_c_code_in_a_go_program_has_locks_of_its_own() -> None:
    assert found(GO, 2, None)[:2] == ("lock", "")
    assert found(GO, 2, variable("pool_lock", 0, 40))[:2] == ("mutex", "pool_lock")
    assert found(GO, 2, variable("", 0x40, executable=False))[:2] == ("lock", "program+0x40")


def test_waits_in_go_memory_of_another_program_are_locks() -> None:
    assert found(C, 0, None, go_heap=True).kind == "lock"


def test_a_member_is_named_by_its_place() -> None:
    assert found(C, 2, variable("pool", 8, 200)).name == "pool+0x8"
    assert found(C, 2, variable("pool", 0, 200)).name == "pool"
    assert found(C, 2, variable("", 0x4010)).name == "program+0x4010"


def test_a_semaphore_parks_threads_of_a_jvm_and_is_a_lock_elsewhere() -> None:
    semaphore = near(0, struct.pack("<II", 1, 128) + bytes(20))
    assert classify(JVM, ADDRESS, "heap", semaphore)[:2] == ("park", JVM_PARK)
    assert classify(C, ADDRESS, "heap", semaphore)[:2] == ("lock", "")
    library = Variable("lock_storage", 0, 32, "/lib/libjvm.so", executable=False)
    assert classify(JVM, ADDRESS, "file", semaphore, library)[:2] == ("park", JVM_PARK)
    other = Variable("lock_storage", 0, 32, "/lib/libother.so", executable=False)
    assert classify(JVM, ADDRESS, "file", semaphore, other)[:2] == ("lock", "lock_storage")


OWNER = 4711
BASE = 0x7F00_0000_1000


def around(data: bytes, place: int) -> Surroundings:
    """Bytes that begin at BASE, seen from a place in them."""
    return Surroundings(data, place, BASE + place)


def mutex(lock: int, owner: int, users: int = 1) -> bytes:
    return struct.pack("<iIiIi", lock, 0, owner, users, 0) + bytes(20)


def old_condition(waits: int = 5, waiting: int = 1) -> bytes:
    """Layout up to glibc 2.40."""
    rest = struct.pack("<IIiiIIII", 0, 2, 0, 1, 4, waiting << 3 | 2, 0, 0)
    return struct.pack("<QQ", waits * 2, 2) + rest


def new_condition(waits: int = 5, waiting: int = 1) -> bytes:
    """Layout from glibc 2.41 on."""
    rest = struct.pack("<iiIIIIII", 0, 1, 4, waiting << 3 | 2, 0, 0, 0, 0)
    return struct.pack("<QQ", waits * 2, 2) + rest


def gil(condition: bytes, interval: int = 5000, locked: int = 1) -> bytes:
    head = struct.pack("<QQixxxxQ", interval, 0x55D3FD09B3F0, locked, 109)
    return head + condition + mutex(0, 0, 2) + condition + mutex(0, 0, 0)


def test_all_futexes_of_a_condition_variable_lead_to_its_beginning() -> None:
    places = {old_condition(): (40, 44, 16, 20, 32, 36), new_condition(): (32, 36, 24, 28)}
    for data, waits in places.items():
        for place in waits:
            near = around(b"\7" * 64 + data + b"\7" * 64, 64 + place)
            assert condition_begin(near) == -place
            assert kind_of(near, {OWNER}) == "condition"


def test_a_mutex_behind_others_is_a_lock() -> None:
    data = mutex(1, OWNER) + mutex(0, 0, 0) + mutex(2, OWNER)
    for place in (0, 40, 80):
        assert kind_of(around(data, place), {OWNER}) == "lock"


def test_a_number_before_a_lock_does_not_make_it_a_condition() -> None:
    data = struct.pack("<Q", 12) + bytes(32) + mutex(0, 0, 0)
    assert kind_of(around(data, 40), {OWNER}) == "lock"


def test_a_semaphore_in_memory_of_malloc_is_no_condition() -> None:
    """The bytes are those around a lock of a CPython thread, which waits for it."""
    before = struct.pack("<QQQ", 0x7CA1C020, 0x31, 1 << 32)
    semaphore = around(bytes(64) + before + bytes(64), 80)
    assert kind_of(semaphore, ()) == "lock"
    # The same number is a counter of a condition variable elsewhere than where memory begins.
    counter = Surroundings(semaphore.data, 80, semaphore.address + 8)
    assert kind_of(counter, ()) == "condition"


def test_a_condition_that_nobody_ever_waited_at_is_none() -> None:
    assert condition_begin(around(old_condition(0, 0), 40)) is None
    assert condition_begin(around(b"", 0)) is None


def test_each_futex_of_the_gil_leads_to_it() -> None:
    for condition, waits in ((old_condition(), (40, 44, 16, 20, 32)), (new_condition(), (32, 36))):
        data = bytes(64) + gil(condition) + bytes(AFTER)
        for place in (*(32 + one for one in waits), 80, *(120 + one for one in waits), 168):
            seen = around(data, 64 + place)
            assert gil_begin(seen) == -place


def test_other_pairs_of_condition_and_mutex_are_not_the_gil() -> None:
    for wrong in (
        gil(old_condition(), interval=0),
        gil(old_condition(), interval=1 << 40),
        gil(old_condition(), locked=7),
        gil(old_condition(0, 0)),
        gil(b"\xff" * CONDITION_BYTES),
    ):
        assert gil_begin(around(bytes(64) + wrong + bytes(AFTER), 64 + 72)) is None


def test_the_interpreter_of_this_test_has_the_gil_where_it_is_looked_for() -> None:
    """Memory of a lock, read in place; two competing threads set its condition."""
    if not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled():
        competing = [threading.Thread(target=lambda: sum(range(300_000))) for _ in range(3)]
        for one in competing:
            one.start()
        for one in competing:
            one.join()
        runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
        data = ctypes.string_at(runtime, 100_000)
        places = [
            place
            for place in range(BEFORE, len(data) - AFTER, 8)
            if gil_begin(
                Surroundings(data[place - BEFORE : place + AFTER], BEFORE, runtime + place)
            )
            is not None
        ]
        begins = {place + (gil_begin(around(data, place)) or 0) for place in places}
        assert len(begins) == 1


def test_a_semaphore_has_no_units_and_waiters() -> None:
    assert is_semaphore(around(struct.pack("<III", 0, 2, 128) + bytes(20), 0))
    assert not is_semaphore(around(struct.pack("<III", 2, 0, 0) + bytes(20), 0))
    assert not is_semaphore(around(b"", 0))


def test_the_size_of_a_variable_tells_its_kind() -> None:
    assert kind_by_size(40, 0) == kind_by_size(56, 8) == kind_by_size(56, 12) == "mutex"
    assert kind_by_size(48, 44) == "condition"
    assert kind_by_size(48, 0) is None
    assert kind_by_size(400, 40) is None


@given(st.binary(max_size=BEFORE + AFTER), st.integers(0, BEFORE), st.integers(0, 1 << 64))
def test_any_bytes_are_some_kind(data: bytes, place: int, address: int) -> None:
    near = Surroundings(data, place, address)
    assert kind_of(near, {1, 2}) in ("lock", "condition")
    for begin in (gil_begin(near), condition_begin(near)):
        assert begin is None or (begin < 0 and (address + begin) % 8 == 0)
    assert near.word() is None or len(data) >= place + 4


@pytest.fixture(autouse=True)
def _unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits are those of a process for good: not of this one."""
    for one in (go_questions, java_threads, go_profiles, addresses):
        monkeypatch.setattr(one, "limit_resources", lambda _: None)
        monkeypatch.setattr(one, "confine", lambda: None)
    # Folders of a fork server.
    monkeypatch.chdir("/proc")


def about(pid: int, **more: object) -> Arguments:
    found: Arguments = {"pid": pid, "start_ticks": start_ticks(pid)}
    if "addresses" in more and isinstance(more["addresses"], list):
        found |= {"addresses": more["addresses"], "join_place": 0, "waiters": []}
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


def answered(question: Callable[[Arguments, int], None], profile: bytes) -> list[dict[str, object]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(profile)
        ours.shutdown(socket.SHUT_WR)
        question({}, theirs.fileno())
        theirs.close()
        return [json.loads(line) for line in ours.makefile()]


def test_a_profile_is_answered_line_by_line() -> None:
    first, *_, last = answered(mutex_profile, PROFILE)
    assert first == {"function": "main.(*pool).use", "delay_ns": 900, "waits": 9}
    assert last == {}
    stack = [("runtime.gopark", "proc.go", 4), ("time.Sleep", "time.go", 3), ("main.f", "m.go", 9)]
    frames = [list(frame) for frame in stack]
    stacks = [(5, [("main.g", "m.go", 1)]), (7, stack)]
    assert answered(goroutine_profile, build_goroutines(stacks)) == [
        {"goroutines": 12, "reason": "all", "place": ["", "", 0], "frames": []},
        {"goroutines": 7, "reason": "sleep", "place": ["main.f", "m.go", 9], "frames": frames},
        {
            **{"goroutines": 5, "reason": "running", "place": ["main.g", "m.go", 1]},
            "frames": [["main.g", "m.go", 1]],
        },
        {},
    ]


@pytest.mark.parametrize("question", [mutex_profile, goroutine_profile])
def test_what_is_no_profile_is_answered_as_damaged(
    question: Callable[[Arguments, int], None],
) -> None:
    assert [list(line) for line in answered(question, b"nonsense")] == [["damaged"]]


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
