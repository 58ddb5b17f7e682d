"""Locks of running programs get the names that their sources give them."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from capabilities import missing, needs
from processes import start_ticks, wait_until
from programs.build import build_cargo
from programs.named_locks import WAITERS, NamedLocks, futex_waits
from tidscope_collector.inspection.lock_kinds import PARKING_LOT, THREAD_PARK
from tidscope_collector.locks.locks import Locks
from tidscope_collector.locks.registry import LockName


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
        "global": ("lock", "global_lock"),
        "static": ("lock", "static_lock"),
        "data": ("lock", "data_lock"),
        "member": ("lock", "pool+0x8"),
        "library": ("lock", "library_lock"),
        "heap": ("lock", "heap #1"),
        "stack": ("lock", "stack #1"),
        "condition": ("condition", "condition"),
        "changed": ("condition", "pool+0x30"),
        "semaphore": ("lock", "semaphore"),
        "nested": ("lock", "shop::till"),
        "reader": ("lock", "table"),
        "writer": ("lock", "table"),
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
    assert (found["library"].name, found["library"].kind) == ("library_lock", "lock")


def test_the_end_of_a_joined_thread_is_known_later(tmp_path: Path) -> None:
    """Its memory has the form of those of other threads' stacks."""
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
        wait_until(lambda: futex_waits(program.pid).keys() >= names)
        with locks_of(program.pid) as locks:
            found = look_up(locks, futex_waits(program.pid))
        program.stdin.close()
    parked = [found[name] for name in ("mutex", "table", "changed")]
    assert {(one.kind, one.name) for one in parked} == {("park", park)}
    assert len({one.lock for one in parked}) == 1
    assert found["heap"].name == "heap #1"
    assert found["static"].kind == "lock"
    assert found["static"].name.startswith(static)
