"""What steered programs of a host know of each other."""

import math

import pytest
from tidscope_collector.steering.loop.core_limits import NO_LIMITS, CoreLimits
from tidscope_collector.steering.loop.loop_inputs import Contender
from tidscope_collector.steering.loop.peers import FRESH_S, Contention, PeerRegistry
from tidscope_policies.arbitration.division import Claim
from tidscope_policies.contract import Bounds


class Member:
    """Joins, and remembers why it was reported to search again."""

    def __init__(self, registry: PeerRegistry, name: str) -> None:
        self.restarts: list[str] = []
        registry.join(name, self.restarts.append)


def test_who_joins_or_leaves_makes_the_others_search_again() -> None:
    registry = PeerRegistry()
    one = Member(registry, "one")
    assert one.restarts == []
    two = Member(registry, "two")
    assert (len(one.restarts), two.restarts) == (1, [])
    registry.leave("one")
    assert two.restarts == ["another program is no longer steered"]
    registry.leave("one")
    assert len(two.restarts) == 1


def test_one_tries_sizes_at_a_time() -> None:
    registry = PeerRegistry()
    for name in ("one", "two"):
        Member(registry, name)
    assert registry.request_turn("one", 0.0, probing=True)
    assert registry.is_probing_elsewhere("two", 1.0)
    assert not registry.request_turn("two", 1.0, probing=True)
    assert not registry.is_probing_elsewhere("one", 1.0)
    registry.request_turn("one", 2.0, probing=False)
    assert registry.request_turn("two", 3.0, probing=True)
    registry.leave("two")
    assert not registry.is_probing_elsewhere("one", 3.0)


def test_alone_there_are_no_peers() -> None:
    registry = PeerRegistry()
    Member(registry, "one")
    assert registry.peers("one", 0.0) is None


def test_peers_are_the_sum_of_logarithms_of_the_others() -> None:
    registry = PeerRegistry()
    for name in ("one", "two", "three"):
        Member(registry, name)
    registry.record_interval("two", 1.0, 100.0, moved=False)
    unknown = registry.peers("one", 2.0)
    assert unknown is not None
    assert (unknown.instances, unknown.log_progress) == (3, None)
    registry.record_interval("three", 1.5, 10.0, moved=False)
    peers = registry.peers("one", 2.0)
    assert peers is not None
    assert peers.log_progress == pytest.approx(math.log(1000))
    late = registry.peers("one", 1.2 + FRESH_S)
    assert late is not None
    assert late.log_progress is None
    registry.record_interval("three", 2.0, 0.0, moved=False)
    still = registry.peers("one", 2.0)
    assert still is not None
    assert still.log_progress is None


def test_a_move_of_another_is_reported_once() -> None:
    registry = PeerRegistry()
    for name in ("one", "two"):
        Member(registry, name)
    registry.record_interval("two", 1.0, 5.0, moved=False)
    moved = []
    for at, moves in enumerate((False, True, False, False)):
        registry.record_interval("two", 2.0 + at, 5.0, moved=moves)
        peers = registry.peers("one", 2.0 + at)
        assert peers is not None
        moved.append(peers.moved)
    assert moved == [False, True, False, False]


class Divided:
    """Programs among which 8 cores are divided."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.registry = PeerRegistry(lambda: self.now_s)
        self.woken: list[str] = []
        self.restarts: list[str] = []

    def join(self, name: str, claim: Claim) -> None:
        contender = Contender(f"prog ({name})", claim, Bounds(1, 8), 8)
        contention = Contention(contender, lambda: self.woken.append(name))
        self.registry.join(name, self.restarts.append, NO_LIMITS, contention)

    def cores(self, *names: str) -> list[int]:
        grants = [self.registry.grant(name) for name in names]
        return [-1 if grant is None else grant.cores for grant in grants]


def test_cores_are_divided_when_one_joins_and_leaves() -> None:
    host = Divided()
    host.join("a", Claim())
    assert host.cores("a") == [8]
    host.woken.clear()
    host.join("b", Claim(share=3))
    assert host.cores("a", "b") == [2, 6]
    assert sorted(host.woken) == ["a", "b"]
    # What it learnt is not forgotten: no search is restarted.
    assert host.restarts == []
    host.registry.leave("b", "has ended")
    assert host.cores("a", "b") == [8, -1]
    grant = host.registry.grant("a")
    assert grant is not None
    assert grant.reason == "prog (b) has ended: its cores go to the others."


def test_the_loop_of_one_notices_that_another_is_silent() -> None:
    host = Divided()
    for name in "ab":
        host.join(name, Claim())
    host.woken.clear()
    for at in range(1, 8):
        host.now_s = 0.25 * at
        host.registry.hear("a", float(at))
    assert host.cores("a", "b") == [8, 0]
    assert sorted(host.woken) == ["a", "b"]
    host.registry.hear("b")
    assert host.cores("a", "b") == [4, 4]


def test_one_that_another_policy_steers_now_takes_part_no_more() -> None:
    host = Divided()
    for name in "ab":
        host.join(name, Claim())
    limits = CoreLimits(frozenset(range(4)))
    host.registry.join("b", host.restarts.append, limits)
    assert host.cores("a", "b") == [8, -1]
    grant = host.registry.grant("a")
    assert grant is not None
    assert grant.reason == "prog (b) is steered otherwise."
    # It searches again when others come and go; the arbiter's do not.
    host.registry.leave("a")
    assert host.restarts == ["another program is no longer steered"]
