"""Locks of running programs get the names that their sources and runtimes give them."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from capabilities import missing, needs
from processes import descendants, start_ticks, wait_until
from programs.build import build_cargo
from programs.contended import (
    attach_socket,
    contended_go,
    contended_java,
    contended_python,
)
from programs.named_locks import WAITERS, NamedLocks, futex_addresses, futex_waits, runs
from tidscope_collector.inspection.lock_kinds import (
    GIL,
    GO_IDLE,
    JVM_PARK,
    PARKING_LOT,
    THREAD_PARK,
)
from tidscope_collector.locks.locks import Locks
from tidscope_collector.locks.registry import LockName
from tidscope_collector.locks.runtime_locks import ALL, GoLocks, JavaLocks
from tidscope_collector.procfs.files import ProcFs


@contextmanager
def locks_of(pid: int) -> Iterator[Locks]:
    locks = Locks(pid, start_ticks(pid))
    yield locks
    locks.close()


def look_up(locks: Locks, addresses: Mapping[str, int]) -> dict[str, LockName]:
    """The lock of each thread that waits."""
    asked = np.array(list(addresses.values()), np.uint64)
    wait_until(lambda: bool(locks.numbers(asked).all()))
    names = {one.lock: one for one in locks.names()}
    return dict(zip(addresses, (names[int(n)] for n in locks.numbers(asked)), strict=True))


@pytest.mark.parametrize("flags", [("-pie",), ("-no-pie",), ("-m64", "-Wl,-z,norelro")])
def test_symbols_name_the_locks_of_program_and_library(flags: tuple[str, ...]) -> None:
    with NamedLocks(flags) as program, locks_of(program.pid) as locks:
        found = look_up(locks, futex_waits(program.pid))
    seen = {name: (lock.kind, lock.name) for name, lock in found.items()}
    assert seen == {
        "global": ("mutex", "global_lock"),
        "static": ("mutex", "static_lock"),
        "data": ("mutex", "data_lock"),
        "member": ("lock", "pool+0x8"),
        "library": ("mutex", "library_lock"),
        "heap": ("lock", "heap #1"),
        "stack": ("lock", "stack #1"),
        "condition": ("condition", "condition"),
        "changed": ("condition", "pool+0x30"),
        "semaphore": ("lock", "semaphore"),
        "nested": ("mutex", "shop::till"),
        "reader": ("mutex", "table"),
        "writer": ("mutex", "table"),
        "join": ("join", "pthread_join"),
    }
    assert {found[name].symbol_file for name in ("global", "condition")} == {str(program.program)}
    assert found["library"].symbol_file == str(program.library)
    assert found["heap"].symbol_file == ""
    assert {lock.source for lock in found.values()} == {"futex"}
    assert found["reader"].lock == found["writer"].lock


def test_a_stripped_program_shows_places_and_kinds(tmp_path: Path) -> None:
    with NamedLocks(folder=tmp_path) as program, locks_of(program.pid) as locks:
        found = look_up(locks, futex_waits(program.pid))
    assert found["library"].name == "library_lock"  # it is linked with
    unnamed = {name: found[name].name for name in ("global", "static", "data", "condition")}
    assert all(name.startswith("named_locks+0x") for name in unnamed.values())
    assert len(set(unnamed.values())) == len(unnamed)
    assert (found["condition"].kind, found["join"].kind) == ("condition", "join")


def test_numbers_stay_and_names_come_once() -> None:
    with NamedLocks() as program, locks_of(program.pid) as locks:
        addresses = futex_waits(program.pid)
        first = {name: lock.lock for name, lock in look_up(locks, addresses).items()}
        seen = len(locks.names())
        assert sorted(set(first.values())) == list(range(1, seen + 1))
        assert {name: lock.lock for name, lock in look_up(locks, addresses).items()} == first
        assert locks.names(after=seen) == []


@needs("root")
def test_a_file_that_is_replaced_is_not_mistaken_for_the_mapped_one(tmp_path: Path) -> None:
    """The program is open as /proc/PID/exe, and a library by its mapping."""
    with NamedLocks(folder=tmp_path) as program, locks_of(program.pid) as locks:
        for path in (program.program, program.library):
            path.unlink()
            shutil.copy("/bin/true", path)
        found = look_up(locks, futex_waits(program.pid))
    assert found["global"].name.startswith("named_locks+0x")
    assert found["global"].symbol_file == str(program.program)
    assert (found["library"].name, found["library"].kind) == ("library_lock", "mutex")


def test_the_end_of_a_joined_thread_is_known_later(tmp_path: Path) -> None:
    """The memory of an ended thread looks like other threads' stacks."""
    with NamedLocks() as program, locks_of(program.pid) as locks:
        addresses = futex_waits(program.pid)
        program.end_joined_thread()
        assert look_up(locks, {"join": addresses["join"]})["join"].kind == "join"


def test_another_program_has_other_locks(tmp_path: Path) -> None:
    other = tmp_path / "other"
    with NamedLocks() as program:
        shutil.copy(program.program, other)
    with NamedLocks(replaced_by=other) as program, locks_of(program.pid) as locks:
        before = look_up(locks, futex_waits(program.pid))
        program.end_joined_thread()
        program.execute()
        wait_until(lambda: futex_waits(program.pid).keys() >= WAITERS)
        locks.executed()
        after = look_up(locks, futex_waits(program.pid))
    assert after["global"].symbol_file == str(other)
    assert after["global"].name == before["global"].name
    assert after.pop("join").lock == before.pop("join").lock  # it has no address of its own
    numbers = [{lock.lock for lock in found.values()} for found in (before, after)]
    assert not numbers[0] & numbers[1]


def test_locks_of_a_program_that_ended_get_numbers_all_the_same() -> None:
    with NamedLocks() as program:
        addresses = futex_waits(program.pid)
        ticks = start_ticks(program.pid)
    locks = Locks(program.pid, ticks)
    found = look_up(locks, addresses)
    locks.close()
    assert {(lock.kind, lock.name) for lock in found.values()} == {("unknown", "")}


def test_what_is_not_examined_yet_gets_a_number_at_the_end() -> None:
    with NamedLocks() as program, locks_of(program.pid) as locks:
        asked = np.array(sorted(futex_waits(program.pid).values()), np.uint64)
        assert locks.numbers(asked, final=True).all()


def rust(*flags: str) -> Path:
    """The program of parked threads; the test is skipped where there is no way to its crates."""
    try:
        return build_cargo(
            Path(__file__).parents[1] / "programs" / "parked_rust", flags=" ".join(flags)
        )
    except RuntimeError as error:
        if "could not compile" in str(error):
            raise
        raise missing("crates", str(error)) from None


@needs("x86_64")
@pytest.mark.parametrize(
    ("flags", "park", "static"),
    [
        ((), PARKING_LOT, "parked_rust::shop::TILL"),
        (("-C symbol-mangling-version=v0",), PARKING_LOT, "parked_rust::shop::TILL"),
        (("-C strip=symbols",), THREAD_PARK, "parked_rust+0x"),
    ],
)
def test_threads_of_rust_are_parked_by_parking_lot(
    flags: tuple[str, ...], park: str, static: str
) -> None:
    names = {"mutex", "table", "changed", "heap", "static"}
    with subprocess.Popen([rust(*flags)], stdin=subprocess.PIPE) as program:
        assert program.stdin is not None
        # While a thread runs, another one may wait for a lock that is free again soon.
        wait_until(lambda: futex_waits(program.pid).keys() >= names and not runs(program.pid))
        with locks_of(program.pid) as locks:
            found = look_up(locks, futex_waits(program.pid))
        program.stdin.close()
    parked = [found[name] for name in ("mutex", "table", "changed")]
    assert {(one.kind, one.name) for one in parked} == {("park", park)}
    assert len({one.lock for one in parked}) == 1
    assert found["heap"].name == "heap #1"
    assert found["static"].kind == "lock"
    assert found["static"].name.startswith(static)


PROC = ProcFs()
LONG_NS = 3_000_000_000


def seen_locks(pid: int, count: int) -> list[LockName]:
    """The locks at which threads of a process wait in so many samples."""
    addresses: set[int] = set()
    for _ in range(count):
        addresses |= futex_addresses(pid)
    with locks_of(pid) as locks:
        asked = np.array(sorted(addresses), np.uint64)
        wait_until(lambda: bool(locks.numbers(asked).all()))
        return locks.names()


def interpreters() -> list[str]:
    """This interpreter, and other versions of CPython that run here."""
    others = filter(None, map(shutil.which, ("python3.10", "python3.12", "python3.13")))
    runs = [
        path
        for path in others
        if subprocess.run([path, "-c", ""], check=False, capture_output=True).returncode == 0
    ]
    return [sys.executable, *runs]


@pytest.mark.parametrize("interpreter", interpreters())
def test_threads_that_compute_wait_for_the_gil(interpreter: str) -> None:
    with contended_python(4, interpreter) as program:
        wait_until(lambda: len(futex_addresses(program.pid)) > 0)
        found = seen_locks(program.pid, 100)
    gils = [one for one in found if one.kind == "gil"]
    assert [one.name for one in gils] == [GIL]
    assert "python" in gils[0].symbol_file
    # All of its futexes are one lock; the main thread waits for its event.
    assert len(found) <= 2


@needs("go")
@pytest.mark.parametrize("flags", [(), ("-ldflags=-s -w",), ("-buildmode=pie",)])
def test_threads_of_go_are_idle_at_one_lock(flags: tuple[str, ...]) -> None:
    with contended_go(flags=flags) as program:
        wait_until(lambda: len(futex_addresses(program.pid)) > 1)
        found = seen_locks(program.pid, 100)
    names = [one.name for one in found if one.kind == "park"]
    assert names.count(GO_IDLE) == 1
    assert {one.kind for one in found} <= {"park", "lock"}


@needs("go")
@pytest.mark.parametrize("flags", [(), ("-ldflags=-s -w",)])
def test_the_profile_of_a_go_program_says_who_holds_its_mutex(flags: tuple[str, ...]) -> None:
    with contended_go("profile", "metrics", flags=flags) as program:
        source = GoLocks(program.pid, start_ticks(program.pid))
        earliest = program.waited_ns()
        source.read()
        assert source.reason == ""
        first = program.waited_ns()
        wait_until(lambda: program.waited_ns() - first > LONG_NS)
        last = program.waited_ns()
        found = {one.name: one for one in source.read()}
        latest = program.waited_ns()
    # The program's account is read before and after each reading, which takes long on a busy
    # machine.
    least, most = last - first, latest - earliest
    held = found["mutex released by main.(*pool).use"]
    assert (held.source, held.kind, held.tid) == ("go-mutex-profile", "lock", 0)
    assert held.waits > 100
    # The runtime charges those behind the first in line with a mean: up to 1.35 of what they wait.
    assert 0.7 * least < held.wait_ns < 1.6 * most
    # The runtime's counter is made of one wait in eight.
    assert found[ALL].source == "go-metrics"
    assert 0.3 * least < found[ALL].wait_ns < 3 * most


@needs("go")
def test_a_go_program_that_serves_nothing_is_not_asked() -> None:
    with contended_go() as program:
        source = GoLocks(program.pid, start_ticks(program.pid))
        assert source.read() == []
        assert "SetMutexProfileFraction" in source.reason


@needs("go")
def test_a_program_that_serves_something_else_has_no_profile() -> None:
    with contended_go("metrics") as program:
        source = GoLocks(program.pid, start_ticks(program.pid))
        assert {one.name for one in source.read()} == {ALL}


@needs("go")
def test_after_the_end_a_source_keeps_what_it_read() -> None:
    with contended_go("profile") as program:
        source = GoLocks(program.pid, start_ticks(program.pid))
        wait_until(lambda: len(source.read()) > 0)
    assert len(source.read()) > 0


@needs("go")
def test_rows_of_a_go_program_are_those_of_the_wire() -> None:
    with contended_go("profile", "metrics") as program:
        ticks = start_ticks(program.pid)
        locks = Locks(program.pid, ticks, GoLocks(program.pid, ticks))
        wait_until(lambda: len(locks.waits()) > 1)
        names = {one.lock: one for one in locks.names()}
        rows = locks.waits()
        locks.close()
    assert {names[row.lock].source for row in rows} == {"go-mutex-profile", "go-metrics"}
    assert {row.tid for row in rows} == {0}
    assert locks.reason == ""


def test_threads_of_a_java_virtual_machine_are_parked_at_one_lock() -> None:
    with contended_java() as program:
        found = seen_locks(program.pid, 30)
    assert [one.kind for one in found if one.name == JVM_PARK] == ["park"]
    assert {one.kind for one in found} <= {"park", "join", "lock"}


def test_a_dump_says_which_threads_wait_for_which_monitor() -> None:
    with contended_java("-XX:+StartAttachListener") as program:
        wait_until(attach_socket(program.pid).exists)
        source = JavaLocks(program.pid, start_ticks(program.pid))
        for _ in range(12):
            found = source.read()
            assert source.reason == ""
        tids = {int(task.name) for task in Path(f"/proc/{program.pid}/task").iterdir()}
    names = {one.name for one in found}
    assert "java.lang.Object in Contended.useMonitor" in names
    lock = "java.util.concurrent.locks.ReentrantLock$NonfairSync in Contended.useLock"
    assert lock in names
    assert names <= {"java.lang.Object in Contended.useMonitor", lock}
    assert {one.tid for one in found} <= tids
    assert {(one.source, one.kind) for one in found} == {("java-monitor", "monitor")}
    assert all(one.wait_ns > 0 < one.waits <= 11 for one in found)


@needs("root")
def test_threads_of_a_virtual_machine_in_a_container_have_our_ids() -> None:
    """In a PID namespace of its own it knows its threads by other ids."""
    within = ("unshare", "--pid", "--fork", "--kill-child")
    with contended_java("-XX:+StartAttachListener", within=within) as program:
        (machine,) = descendants(program.pid)
        wait_until(attach_socket(machine, 1).exists)
        source = JavaLocks(machine, start_ticks(machine))
        wait_until(lambda: len(source.read()) > 0)
        found = source.read()
        tids = {int(task.name) for task in Path(f"/proc/{machine}/task").iterdir()}
        attach_socket(machine, 1).unlink()
    assert {one.tid for one in found} <= tids


def test_without_an_attach_socket_nothing_is_sent_and_the_reason_says_what_to_do() -> None:
    with contended_java() as program:
        source = JavaLocks(program.pid, start_ticks(program.pid))
        assert source.read() == []
        assert not attach_socket(program.pid).exists()
    assert f"jcmd {program.pid} VM.version" in source.reason
