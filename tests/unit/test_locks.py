"""Locks of a target: asked once, named later, new after an execution; other accounts beside."""

import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from processes import wait_until
from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_answers import LockAnswer
from tidscope_collector.inspection.lock_kinds import Found
from tidscope_collector.locks import locks as module
from tidscope_collector.locks.locks import Locks, LockWaits
from tidscope_collector.locks.registry import Addresses
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
        join_places: that came with the questions.
    """

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.join_places: list[int] = []
        self.reply: Ask = answer
        self.allowed = threading.Semaphore(1000)

    def ask(self, pid: int, start_ticks: int, asked: Sequence[int], join_place: int) -> LockAnswer:
        self.asked.append(list(asked))
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
