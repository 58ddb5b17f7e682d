"""What steered programs of a host know of each other."""

import math

import pytest
from tidscope_collector.control.loop.fleet import FRESH_S, Fleet


class Member:
    """Joins, and remembers why it was told to search anew."""

    def __init__(self, fleet: Fleet, name: str) -> None:
        self.restarts: list[str] = []
        fleet.join(name, self.restarts.append)


def test_who_joins_or_leaves_makes_the_others_search_anew() -> None:
    fleet = Fleet()
    one = Member(fleet, "one")
    assert one.restarts == []
    two = Member(fleet, "two")
    assert (len(one.restarts), two.restarts) == (1, [])
    fleet.leave("one")
    assert two.restarts == ["another program is steered no more"]
    fleet.leave("one")
    assert len(two.restarts) == 1


def test_one_tries_sizes_at_a_time() -> None:
    fleet = Fleet()
    for name in ("one", "two"):
        Member(fleet, name)
    assert fleet.report("one", 0.0, probing=True)
    assert fleet.is_elsewhere("two", 1.0)
    assert not fleet.report("two", 1.0, probing=True)
    assert not fleet.is_elsewhere("one", 1.0)
    fleet.report("one", 2.0, probing=False)
    assert fleet.report("two", 3.0, probing=True)
    fleet.leave("two")
    assert not fleet.is_elsewhere("one", 3.0)


def test_alone_there_are_no_peers() -> None:
    fleet = Fleet()
    Member(fleet, "one")
    assert fleet.peers("one", 0.0) is None


def test_peers_are_the_sum_of_logarithms_of_the_others() -> None:
    fleet = Fleet()
    for name in ("one", "two", "three"):
        Member(fleet, name)
    fleet.say("two", 1.0, 100.0, moved=False)
    unknown = fleet.peers("one", 2.0)
    assert unknown is not None
    assert (unknown.instances, unknown.log_progress) == (3, None)
    fleet.say("three", 1.5, 10.0, moved=False)
    peers = fleet.peers("one", 2.0)
    assert peers is not None
    assert peers.log_progress == pytest.approx(math.log(1000))
    late = fleet.peers("one", 1.2 + FRESH_S)
    assert late is not None
    assert late.log_progress is None
    fleet.say("three", 2.0, 0.0, moved=False)
    still = fleet.peers("one", 2.0)
    assert still is not None
    assert still.log_progress is None


def test_a_move_of_another_is_told_once() -> None:
    fleet = Fleet()
    for name in ("one", "two"):
        Member(fleet, name)
    fleet.say("two", 1.0, 5.0, moved=False)
    moved = []
    for at, moves in enumerate((False, True, False, False)):
        fleet.say("two", 2.0 + at, 5.0, moved=moves)
        peers = fleet.peers("one", 2.0 + at)
        assert peers is not None
        moved.append(peers.moved)
    assert moved == [False, True, False, False]
