"""Locks of a group's processes: one is a place in one process, and its name says in which."""

from collections.abc import Iterator

import numpy as np
import pytest
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_answers import LockAnswer
from tidscope_collector.inspection.lock_kinds import Found
from tidscope_collector.locks import group_locks, registry
from tidscope_collector.locks.group_locks import GroupLocks, LockOwner

FOUND = {
    0x10: Found("lock", "pool", 0x10, "file", "/bin/server"),
    0x20: Found("lock", "", 0x20, "heap", ""),
    0x30: Found("park", "JVM park", 0x30, "heap", ""),
    0x38: Found("park", "JVM park", 0x38, "heap", ""),
}


class Processes:
    """The processes of a test."""

    def __init__(self) -> None:
        self.owners = {
            5: LockOwner(5, 1, "server", lives=True),
            6: LockOwner(6, 2, "server", lives=True),
        }
        self.asked: list[tuple[int, tuple[int, ...]]] = []

    def find(self, pid: int) -> LockOwner | None:
        return self.owners.get(pid)

    def answer(self, pid: int, _: int, asked: list[int], __: int) -> LockAnswer:
        self.asked.append((pid, tuple(asked)))
        if pid not in self.owners:
            raise NoAnswerError("it has ended")
        return LockAnswer("a program", 0, {one: FOUND[one] for one in asked if one in FOUND})


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    made = Processes()
    monkeypatch.setattr(group_locks, "ask_lock_addresses", made.answer)
    monkeypatch.setattr(group_locks, "_BETWEEN_S", 0)
    return made


@pytest.fixture
def locks(processes: Processes) -> Iterator[GroupLocks]:
    made = GroupLocks(processes.find)
    yield made
    made.close()


def numbers(locks: GroupLocks, *places: tuple[int, int]) -> list[int]:
    pids, addresses = zip(*places, strict=True)
    found = locks.numbers_in(np.array(pids, np.uint32), np.array(addresses, np.uint64))
    return [int(number) for number in found]


def names(locks: GroupLocks) -> list[str]:
    return [one.name for one in locks.names()]


def test_a_lock_is_a_place_in_a_process(locks: GroupLocks, processes: Processes) -> None:
    places = (5, 0x10), (6, 0x10), (5, 0x20)
    assert numbers(locks, *places) == [0, 0, 0]
    assert locks.join(120)
    assert len(set(numbers(locks, *places))) == 3
    assert sorted(names(locks)) == ["heap #1 in server", "pool in server", "pool in server 6"]
    assert sorted(processes.asked) == [(5, (0x10, 0x20)), (6, (0x10,))]
    assert locks.waits() == []


def test_threads_that_a_runtime_parks_wait_at_one_lock(locks: GroupLocks) -> None:
    numbers(locks, (5, 0x30), (5, 0x38), (5, 0x99))
    assert locks.join(120)
    first, second, unknown = numbers(locks, (5, 0x30), (5, 0x38), (5, 0x99))
    assert first == second != unknown
    assert set(names(locks)) == {"JVM park in server", "lock in server"}


def test_locks_of_processes_that_have_ended_are_one_for_each_name(
    locks: GroupLocks, processes: Processes
) -> None:
    for pid in (7, 8):
        processes.owners[pid] = LockOwner(pid, 3, "cc1", lives=False)
    assert numbers(locks, (7, 0x10), (8, 0x20)) == [1, 1]
    assert names(locks) == ["locks in ended cc1"]
    assert not processes.asked
    assert numbers(locks, (9, 0x10)) == [2]  # nobody knows what that was
    assert names(locks)[1] == "locks in ended"


def test_one_that_ends_before_its_turn_comes_keeps_its_counts(
    locks: GroupLocks, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> LockAnswer:
        raise NoAnswerError("it has ended")

    monkeypatch.setattr(group_locks, "ask_lock_addresses", refuse)
    assert numbers(locks, (5, 0x10)) == [0]
    assert locks.join(120)
    assert numbers(locks, (5, 0x10)) == [1]
    assert names(locks) == ["lock in server"]
    assert locks.reason == "locks of server (5) have no names: it has ended"
    numbers(locks, (6, 0x10))
    assert locks.join(10)
    assert locks.reason.startswith("locks of server (6) have no names")
    assert locks.reason.endswith("so have those of 1 more")
    processes.owners[6] = processes.owners[6]._replace(lives=False)
    assert "(5)" in locks.reason
    monkeypatch.setattr(group_locks, "ask_lock_addresses", processes.answer)
    numbers(locks, (5, 0x20))
    assert locks.join(10)
    assert locks.reason == ""


def test_addresses_of_another_program_are_other_locks(locks: GroupLocks) -> None:
    numbers(locks, (5, 0x10), (6, 0x10))
    assert locks.join(120)
    before = numbers(locks, (5, 0x10), (6, 0x10))
    locks.executed_in(5)
    assert numbers(locks, (5, 0x10), (6, 0x10)) == [0, before[1]]
    assert locks.join(120)
    assert numbers(locks, (5, 0x10))[0] not in (0, *before)


def test_there_are_only_so_many_locks(
    locks: GroupLocks, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "MAX_LOCKS", 1)
    numbers(locks, (5, 0x10), (5, 0x20))
    assert locks.join(120)
    assert sorted(numbers(locks, (5, 0x10), (5, 0x20))) == [0, 1]
    assert locks.without_number == 1


def test_places_that_nobody_asks_for_any_more_are_forgotten(
    locks: GroupLocks, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_locks, "SPARE_PLACES", 10)
    first = (5, 0x10)
    numbers(locks, first)
    assert locks.join(120)
    for pid in range(1000, 1100):
        processes.owners[pid] = LockOwner(pid, 1, "cc", lives=False)
        before = numbers(locks, first, (pid, 0x10))
    assert numbers(locks, first) == before[:1]
    assert locks.places <= 2 + 10
