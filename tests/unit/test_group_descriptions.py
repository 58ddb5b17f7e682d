"""When the members of a group are described."""

from concurrent.futures import Executor, Future
from typing import Any

import pytest
from tidscope_collector.groups.descriptions import EVERY_NS, NEW_NS, Description, Descriptions
from tidscope_collector.groups.members import Member, Members
from tidscope_collector.procfs.files import ProcFs


class Asked(Executor):
    """Notes whom it is to describe, and is done with them at once."""

    def __init__(self) -> None:
        self.rounds: list[set[int]] = []

    def submit(self, function: Any, /, *arguments: Any, **_: Any) -> Future[Any]:
        self.rounds.append(set(arguments[1]))
        done: Future[Any] = Future()
        done.set_result(None)
        return done


def member(number: int, start_ns: int) -> Member:
    return Member(number, 100 + number, 0, start_ns, number, "work", 0, before=False)


@pytest.fixture
def asked() -> Asked:
    return Asked()


def test_new_ones_are_described_soon_and_known_ones_now_and_then(asked: Asked) -> None:
    descriptions = Descriptions(ProcFs(), asked, lambda give: give())
    members = Members()
    members.alive = {1: member(1, 0)}
    now = 10 * EVERY_NS
    descriptions.ask(members, now)
    assert asked.rounds == [{1}]
    descriptions._take({1: Description(title="one")})
    members.alive[2] = member(2, now)
    descriptions.ask(members, now + NEW_NS - 1)
    assert asked.rounds == [{1}], "not more often"
    descriptions.ask(members, now + NEW_NS + 1)
    assert asked.rounds == [{1}, {2}]
    descriptions._take({2: Description(title="two")})
    descriptions.ask(members, now + 3 * NEW_NS)
    assert asked.rounds == [{1}, {2}], "nobody is new"
    descriptions.ask(members, now + EVERY_NS)
    assert asked.rounds[2:] == [{1}]


def test_one_that_lives_for_a_moment_waits_for_its_turn(asked: Asked) -> None:
    descriptions = Descriptions(ProcFs(), asked, lambda give: give())
    members = Members()
    now = 10 * EVERY_NS
    members.alive = {1: member(1, now - NEW_NS)}
    descriptions.ask(members, now)
    members.alive = {2: member(2, now + NEW_NS)}
    descriptions.ask(members, now + NEW_NS + 1)
    assert asked.rounds == [{1}]


def test_after_an_exec_a_member_is_new(asked: Asked) -> None:
    descriptions = Descriptions(ProcFs(), asked, lambda give: give())
    members = Members()
    members.alive = {1: member(1, 0)}
    now = 10 * EVERY_NS
    descriptions.ask(members, now)
    descriptions._take({1: Description(title="sh")})
    descriptions.executed(members.alive[1])
    descriptions.ask(members, now + NEW_NS)
    assert asked.rounds == [{1}, {1}]
