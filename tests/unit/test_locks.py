"""Locks of programs and of groups, and the registry of their names."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import wait_until
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_answers import LockAnswer
from tidscope_collector.inspection.lock_kinds import Found
from tidscope_collector.locks import group_locks, registry
from tidscope_collector.locks import locks as module
from tidscope_collector.locks import registry as registry_module
from tidscope_collector.locks.group_locks import GroupLocks, LockOwner
from tidscope_collector.locks.locks import Locks, LockWaits
from tidscope_collector.locks.registry import Addresses, LockRegistry
from tidscope_collector.locks.runtime_locks import Waited

Ask = Callable[[list[int]], LockAnswer]


def addresses(*values: int) -> Addresses:
    return np.array(values, np.uint64)


def answer(asked: Sequence[int], program: str = "first") -> LockAnswer:
    """Each address is a lock that is named like it."""
    return LockAnswer(
        program, 7, {one: Found("lock", f"l{one}", one, "file", "p") for one in asked}
    )


class Child:
    """Stands in for limited children.

    Attributes:
        asked: what was asked, in order.
        reply: makes answers.
        join_places: addresses of joins that came with the questions.
        waiters: threads that wait at addresses, as they came with the questions.
    """

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.join_places: list[int] = []
        self.waiters: dict[int, int] = {}
        self.reply: Ask = answer
        self.allowed = threading.Semaphore(1000)

    def ask(
        self,
        pid: int,
        start_ticks: int,
        asked: Sequence[int],
        join_place: int,
        waiters: Mapping[int, int],
    ) -> LockAnswer:
        self.asked.append(list(asked))
        self.waiters |= waiters
        self.join_places.append(join_place)
        self.allowed.acquire()
        return self.reply(list(asked))


class Account:
    """A program's own account of its locks."""

    def __init__(self, rows: list[Waited]) -> None:
        self.reason = "why not"
        self.rows = rows
        self.reads = 0

    def read(self) -> list[Waited]:
        self.reads += 1
        return self.rows


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Child:
    made = Child()
    monkeypatch.setattr(module, "ask_lock_addresses", made.ask)
    return made


@pytest.fixture
def locks(child: Child) -> Iterator[Locks]:
    made = Locks(1, 1)
    yield made
    made.close()


def numbered(locks: Locks, *values: int) -> list[int]:
    wait_until(lambda: bool(locks.numbers(addresses(*values)).all()))
    return [int(number) for number in locks.numbers(addresses(*values))]


def test_an_address_is_asked_for_once_and_has_no_number_until_then(
    locks: Locks, child: Child
) -> None:
    child.allowed = threading.Semaphore(0)
    assert locks.numbers(addresses(8, 16)).tolist() == [0, 0]
    wait_until(lambda: len(child.asked) == 1)
    assert locks.numbers(addresses(8, 24)).tolist() == [0, 0]
    child.allowed.release(10)
    assert numbered(locks, 8, 16, 24) == [1, 2, 3]
    assert [one.name for one in locks.names(after=1)] == ["l16", "l24"]
    assert child.asked == [[8, 16], [24]]
    assert child.join_places == [0, 7]
    assert locks.without_number == 0


def test_what_a_child_leaves_out_is_a_lock_without_a_name(locks: Locks, child: Child) -> None:
    child.reply = lambda asked: answer(asked[:1])
    numbered(locks, 8, 16)
    assert [(one.kind, one.name) for one in locks.names()] == [("lock", "l8"), ("unknown", "")]


def test_without_an_answer_all_are_locks_without_names(locks: Locks, child: Child) -> None:
    def fail(_: list[int]) -> LockAnswer:
        raise NoAnswerError("it has ended")

    child.reply = fail
    numbered(locks, 8)
    assert [(one.kind, one.name) for one in locks.names()] == [("unknown", "")]


def test_an_answer_about_the_program_before_is_of_no_use(locks: Locks, child: Child) -> None:
    child.allowed = threading.Semaphore(0)
    locks.numbers(addresses(8))
    wait_until(lambda: len(child.asked) == 1)
    locks.executed()
    child.allowed.release(10)
    child.reply = lambda asked: answer(asked, "second")
    assert numbered(locks, 8) == [1]
    assert len(child.asked) == 2


def test_a_program_that_nobody_spoke_of_is_noticed(locks: Locks, child: Child) -> None:
    assert numbered(locks, 8) == [1]
    child.reply = lambda asked: answer(asked, "second")
    locks.numbers(addresses(16))
    wait_until(lambda: len(child.asked) == 2)
    assert numbered(locks, 8, 16) == [2, 3]


def test_holders_are_asked_for_while_waits_last(
    locks: Locks, child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HOLDERS_EVERY_S", 0.0)
    holder = {8: 3, 16: 0}

    def held(asked: list[int]) -> LockAnswer:
        found = answer(asked)
        known = {
            one: found.found[one]._replace(holder=holder.get(one, 0), held=one == 32)
            for one in asked
        }
        return replace(found, found=known)

    child.reply = held

    def holders(*at: int) -> list[int]:
        waiters = np.arange(1, len(at) + 1, dtype=np.uint32)
        found: list[int] = locks.holders(addresses(*at), waiters).tolist()
        return found

    assert holders(8, 16) == [0, 0]
    wait_until(lambda: holders(8, 16) == [3, 0])
    assert child.waiters == {8: 1, 16: 2}
    holder[8] = 4
    wait_until(lambda: holders(8) == [4])
    # An address without a held mutex is asked about once a wait.
    assert sum(16 in asked for asked in child.asked) == 1
    assert holders(24) == [0]
    wait_until(lambda: holders(32) == [module.HELD])
    assert [one.name for one in locks.names()] == []


def test_at_the_end_nothing_is_asked(locks: Locks, child: Child) -> None:
    assert locks.numbers(addresses(8), final=True).tolist() == [1]
    locks.close()
    assert locks.numbers(addresses(16)).tolist() == [2]
    assert child.asked == []


def test_rows_of_one_lock_and_thread_are_added_up(child: Child) -> None:
    rows = [
        Waited("java-monitor", "monitor", "monitor", 5, 100, 1),
        Waited("java-monitor", "monitor", "monitor", 5, 20, 1),
        Waited("java-monitor", "monitor", "monitor", 6, 3, 1),
        Waited("go-metrics", "monitor", "lock", 0, 4, 0),
    ]
    account = Account(rows)
    locks = Locks(1, 1, account)
    wait_until(lambda: len(locks.waits()) > 0)
    assert locks.waits() == [LockWaits(1, 5, 120, 2), LockWaits(1, 6, 3, 1), LockWaits(2, 0, 4, 0)]
    assert [one.source for one in locks.names()] == ["java-monitor", "go-metrics"]
    assert locks.reason == "why not"
    assert account.reads == 1
    locks.executed(Account([]))
    wait_until(lambda: locks.waits() == [])
    locks.executed()
    assert locks.reason == ""
    locks.close()


def lock(base: int, name: str = "", place: str = "heap") -> Found:
    found = Found("lock", name, base, "heap", "")
    return found._replace(place="stack") if place == "stack" else found


def test_addresses_of_one_lock_share_its_number() -> None:
    made = LockRegistry()
    made.enter(
        {40: Found("condition", "", 0, "heap", ""), 44: Found("condition", "", 0, "heap", "")}
    )
    assert made.numbers(addresses(40, 44, 48)).tolist() == [1, 1, 0]
    assert [(one.lock, one.address, one.name) for one in made.names()] == [(1, 0, "heap #1")]


def test_parked_threads_of_one_kind_share_a_number() -> None:
    made = LockRegistry()
    made.enter(
        {8: Found("park", "JVM park", 8, "heap", ""), 16: Found("park", "JVM park", 16, "heap", "")}
    )
    made.enter({24: Found("park", "idle", 24, "heap", "")})
    assert made.numbers(addresses(8, 16, 24)).tolist() == [1, 1, 2]


def test_places_are_counted_in_order_of_appearance() -> None:
    made = LockRegistry()
    made.enter({800: lock(800)})
    made.enter({80: lock(80), 8: lock(8, place="stack"), 16: lock(16, "pool")})
    names = {one.address: one.name for one in made.names()}
    assert names == {800: "heap #1", 80: "heap #2", 8: "stack #1", 16: "pool"}


def test_after_an_execution_addresses_have_new_numbers() -> None:
    made = LockRegistry()
    made.enter({8: lock(8, "first")})
    made.forget_addresses()
    assert made.numbers(addresses(8)).tolist() == [0]
    made.enter({8: lock(8, "second")})
    assert made.numbers(addresses(8)).tolist() == [2]
    assert [one.name for one in made.names(after=1)] == ["second"]


def test_locks_without_addresses_keep_their_number_too() -> None:
    made = LockRegistry()
    first = made.number_of("go-mutex-profile", "main.work", "lock")
    made.forget_addresses()
    assert made.number_of("go-mutex-profile", "main.work", "lock") == first == 1
    assert made.number_of("go-metrics", "main.work", "lock") == 2


def test_those_beyond_the_most_have_no_number_and_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry_module, "MAX_LOCKS", 2)
    made = LockRegistry()
    made.enter({one: lock(one) for one in (8, 16, 24, 32)})
    assert made.numbers(addresses(8, 16, 24, 32)).tolist() == [1, 2, 0, 0]
    assert made.without_number == 2
    assert made.unknown(addresses(24, 40)).tolist() == [40]
    assert made.number_of("go-metrics", "all", "lock") == 0


def test_the_text_of_names_is_bounded() -> None:
    made = LockRegistry()
    for one in range(1000):
        made.enter({one: Found("lock", "x" * 512, one, "file", f"/{one}/" + "y" * 8192)})
    kept = sum(len(one.name) + len(one.symbol_file) for one in made.names())
    assert kept < registry_module.MAX_CHARACTERS + 16384
    assert made.without_number > 400


@given(st.lists(st.lists(st.integers(0, (1 << 64) - 1), max_size=8), max_size=6))
def test_a_number_never_changes(batches: list[list[int]]) -> None:
    made = LockRegistry()
    given_numbers: dict[int, int] = {}
    for batch in batches:
        asked = np.array(batch, np.uint64)
        new = made.unknown(asked).tolist()
        assert sorted(new) == sorted(set(batch) - given_numbers.keys())
        made.enter({one: lock(one) for one in new})
        numbers = made.numbers(asked).tolist()
        for one, number in zip(batch, numbers, strict=True):
            assert given_numbers.setdefault(one, number) == number > 0
    assert len(set(given_numbers.values())) == len(given_numbers) == made.revision


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
        self.executed: dict[int, str] = {}

    def name_now(self, owner: LockOwner) -> str:
        return self.executed.get(owner.pid, owner.name)

    def find(self, pid: int) -> LockOwner | None:
        return self.owners.get(pid)

    def answer(self, pid: int, _: int, asked: list[int], __: int, ___: object) -> LockAnswer:
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
def locks_of_group(processes: Processes) -> Iterator[GroupLocks]:
    made = GroupLocks(processes.find, processes.name_now)
    yield made
    made.close()


def numbers(locks: GroupLocks, *places: tuple[int, int]) -> list[int]:
    pids, addresses = zip(*places, strict=True)
    found = locks.numbers_in(np.array(pids, np.uint32), np.array(addresses, np.uint64))
    return [int(number) for number in found]


def names(locks: GroupLocks) -> list[str]:
    return [one.name for one in locks.names()]


def test_a_lock_is_a_place_in_a_process(locks_of_group: GroupLocks, processes: Processes) -> None:
    places = (5, 0x10), (6, 0x10), (5, 0x20)
    assert numbers(locks_of_group, *places) == [0, 0, 0]
    assert locks_of_group.join(120)
    assert len(set(numbers(locks_of_group, *places))) == 3
    assert sorted(names(locks_of_group)) == [
        "heap #1 in server",
        "pool in server",
        "pool in server 6",
    ]
    assert sorted(processes.asked) == [(5, (0x10, 0x20)), (6, (0x10,))]
    assert locks_of_group.waits() == []


def test_threads_that_a_runtime_parks_wait_at_one_lock(locks_of_group: GroupLocks) -> None:
    numbers(locks_of_group, (5, 0x30), (5, 0x38), (5, 0x99))
    assert locks_of_group.join(120)
    first, second, unknown = numbers(locks_of_group, (5, 0x30), (5, 0x38), (5, 0x99))
    assert first == second != unknown
    assert set(names(locks_of_group)) == {"JVM park in server", "lock in server"}


def test_locks_of_processes_that_have_ended_are_one_for_each_name(
    locks_of_group: GroupLocks, processes: Processes
) -> None:
    for pid in (7, 8):
        processes.owners[pid] = LockOwner(pid, 3, "cc1", lives=False)
    assert numbers(locks_of_group, (7, 0x10), (8, 0x20)) == [1, 1]
    assert names(locks_of_group) == ["locks in ended cc1"]
    assert not processes.asked
    assert numbers(locks_of_group, (9, 0x10)) == [2]  # The lock is unknown.
    assert names(locks_of_group)[1] == "locks in ended"


def test_one_that_ends_before_its_turn_comes_keeps_its_counts(
    locks_of_group: GroupLocks, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> LockAnswer:
        raise NoAnswerError("it has ended")

    monkeypatch.setattr(group_locks, "ask_lock_addresses", refuse)
    assert numbers(locks_of_group, (5, 0x10)) == [0]
    assert locks_of_group.join(120)
    assert numbers(locks_of_group, (5, 0x10)) == [1]
    assert names(locks_of_group) == ["lock in server"]
    assert locks_of_group.reason == "locks of server (5) have no names: it has ended"
    numbers(locks_of_group, (6, 0x10))
    assert locks_of_group.join(10)
    assert locks_of_group.reason.startswith("locks of server (6) have no names")
    assert locks_of_group.reason.endswith("so have those of 1 more")
    processes.owners[6] = processes.owners[6]._replace(lives=False)
    assert "(5)" in locks_of_group.reason
    monkeypatch.setattr(group_locks, "ask_lock_addresses", processes.answer)
    numbers(locks_of_group, (5, 0x20))
    assert locks_of_group.join(10)
    assert locks_of_group.reason == ""


def test_addresses_of_another_program_are_other_locks(locks_of_group: GroupLocks) -> None:
    numbers(locks_of_group, (5, 0x10), (6, 0x10))
    assert locks_of_group.join(120)
    before = numbers(locks_of_group, (5, 0x10), (6, 0x10))
    locks_of_group.executed_in(5)
    assert numbers(locks_of_group, (5, 0x10), (6, 0x10)) == [0, before[1]]
    assert locks_of_group.join(120)
    assert numbers(locks_of_group, (5, 0x10))[0] not in (0, *before)


def test_a_lock_is_one_of_the_program_that_runs_when_it_is_examined(
    locks_of_group: GroupLocks, processes: Processes
) -> None:
    """A process executed another program, which the group does not know yet."""
    processes.executed[5] = "python3"
    numbers(locks_of_group, (5, 0x10), (6, 0x10))
    assert locks_of_group.join(120)
    assert sorted(names(locks_of_group)) == ["pool in python3", "pool in server"]


def test_there_are_only_so_many_locks(
    locks_of_group: GroupLocks, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "MAX_LOCKS", 1)
    numbers(locks_of_group, (5, 0x10), (5, 0x20))
    assert locks_of_group.join(120)
    assert sorted(numbers(locks_of_group, (5, 0x10), (5, 0x20))) == [0, 1]
    assert locks_of_group.without_number == 1


def test_places_that_nobody_asks_for_any_more_are_forgotten(
    locks_of_group: GroupLocks, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_locks, "SPARE_PLACES", 10)
    first = (5, 0x10)
    numbers(locks_of_group, first)
    assert locks_of_group.join(120)
    for pid in range(1000, 1100):
        processes.owners[pid] = LockOwner(pid, 1, "cc", lives=False)
        before = numbers(locks_of_group, first, (pid, 0x10))
    assert numbers(locks_of_group, first) == before[:1]
    assert locks_of_group.places <= 2 + 10
