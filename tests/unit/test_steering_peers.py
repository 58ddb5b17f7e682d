"""Knowledge of steered programs of a host about each other."""

import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from fake_proc import FakeProc
from tidscope_collector.procfs.control_groups import memberships
from tidscope_collector.procfs.cpu_limit import cpu_limits
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop.loop_inputs import Contender
from tidscope_collector.steering.loop.peers import (
    FRESH_S,
    NO_LIMITS,
    Contention,
    CoreLimits,
    PeerRegistry,
    divided_pools,
    parse_cpu_list,
    read_core_limits,
    share_of,
)
from tidscope_policies.arbitration.division import Claim, Pool
from tidscope_policies.contract import Bounds, CoreShare, Observation, Peers
from tidscope_policies.registry import POLICIES


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
    # Learnt values are kept: no search restarts.
    assert host.restarts == []
    host.registry.leave("b", "has ended")
    assert host.cores("a", "b") == [8, -1]
    grant = host.registry.grant("a")
    assert grant is not None
    assert grant.reason == (
        "prog (b) has ended: its cores go to the others. It takes 6 free cores."
    )


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
    assert grant.reason == "prog (b) is steered otherwise. It takes 4 free cores."
    # A search restarts when another program joins or leaves; the arbiter's programs do not restart.
    host.registry.leave("a")
    assert host.restarts == ["another program is no longer steered"]


EIGHT = frozenset(range(8))


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0", {0}),
        ("0-3,8", {0, 1, 2, 3, 8}),
        ("2-2", {2}),
        ("", set()),
        ("a-b", set()),
        ("1,,2", set()),
    ],
)
def test_lists_of_cpus(text: str, cpus: set[int]) -> None:
    assert parse_cpu_list(text) == cpus


def test_affinity_of_a_process_limits_it(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process(100, status=b"Name:\tprog\nCpus_allowed_list:\t0-1,5\n")
    assert read_core_limits(ProcFs(tmp_path), 100).cpus == {0, 1, 5}
    assert read_core_limits(ProcFs(tmp_path), 101) == CoreLimits(frozenset(), {})


def test_every_limit_of_the_chain_is_found(tmp_path: Path) -> None:
    FakeProc(tmp_path).process(100)
    (tmp_path / "100" / "cgroup").write_text("0::/a/b/c\n")
    groups = tmp_path / "cgroup"
    for path, limit in (("a", "400000 100000"), ("a/b", "max 100000"), ("a/b/c", "150000 100000")):
        (groups / path).mkdir(parents=True, exist_ok=True)
        (groups / path / "cpu.max").write_text(limit)
    found = {
        str(one.group.relative_to(groups)): one.cores
        for one in cpu_limits(memberships(ProcFs(tmp_path), 100, groups))
    }
    assert found == {"a": 4.0, "a/b/c": 1.5}


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        # Alone: what it may use.
        ({"me": CoreLimits(EIGHT)}, CoreShare(8, 8)),
        ({"me": CoreLimits(EIGHT, {"/a": 1.5})}, CoreShare(1.5, 1.5)),
        # Two on the same CPUs.
        ({"me": CoreLimits(EIGHT), "you": CoreLimits(EIGHT)}, CoreShare(8, 4)),
        # The other one has CPUs of its own.
        (
            {"me": CoreLimits(frozenset({0, 1})), "you": CoreLimits(frozenset({2, 3}))},
            CoreShare(2, 2),
        ),
        # Two under one limit, which is tighter than their part of the machine.
        (
            {"me": CoreLimits(EIGHT, {"/a": 2}), "you": CoreLimits(EIGHT, {"/a": 2})},
            CoreShare(2, 1),
        ),
        # A limit of the other one is none of this one.
        ({"me": CoreLimits(EIGHT), "you": CoreLimits(EIGHT, {"/a": 2})}, CoreShare(8, 4)),
        ({"me": NO_LIMITS}, None),
        ({"you": CoreLimits(EIGHT)}, None),
    ],
    ids=["alone", "limited", "two", "own-cpus", "one-group", "other-group", "unknown", "absent"],
)
def test_shares(limits: Mapping[str, CoreLimits], expected: CoreShare | None) -> None:
    assert share_of("me", limits) == expected


@pytest.mark.parametrize(
    ("cores", "peers", "size", "words"),
    [
        (CoreShare(2, 2), None, 6, "the program's own size"),
        (CoreShare(2, 1), Peers(2), 1, "2 cores for 2 programs"),
        (CoreShare(1.5, 0.75), Peers(2), 1, "1.5 cores for 2 programs"),
        (CoreShare(1, 1), Peers(2), 1, "1 core for 2 programs"),
        (CoreShare(4, 2, used=1.5), Peers(2), 2, "4 cores for 2 programs"),
        (CoreShare(4, 2, used=0.2), Peers(2), 6, "its threads wait more than they compute"),
        (None, None, 6, "the program's own size"),
    ],
    ids=["two", "shared", "fraction", "one", "computing", "waiting", "unknown"],
)
def test_cooperative_begins_at_its_share(
    cores: CoreShare | None, peers: Peers | None, size: int, words: str
) -> None:
    policy = POLICIES["cooperative"].make().policy
    seen = Observation(2.0, 2.0, 100.0, 8, Bounds(1, 8), peers=peers, cores=cores, original=6)
    decided = policy.observe(seen)
    assert (decided.size, decided.state) == (size, "starting")
    assert words in decided.reason


def pool(cores: int, *members: str) -> Pool:
    return Pool(cores, frozenset(members))


@pytest.mark.parametrize(
    ("named", "limits", "expected"),
    [
        ({"a": 0, "b": 0}, {"a": CoreLimits(EIGHT), "b": CoreLimits(EIGHT)}, [pool(8, "a", "b")]),
        # A third one that is steered otherwise keeps its part.
        ({"a": 0, "b": 0}, dict.fromkeys("abc", CoreLimits(EIGHT)), [pool(5, "a", "b")]),
        # A number of the operator's takes the place of what the machine has.
        (
            {"a": 12, "b": 12, "c": 0},
            dict.fromkeys("abc", CoreLimits(EIGHT)),
            [pool(12, "a", "b"), pool(2, "c")],
        ),
        # CPUs of their own, and all together.
        (
            {"a": 0, "b": 0},
            {"a": CoreLimits(frozenset({0, 1})), "b": CoreLimits(frozenset({1, 2, 3}))},
            [pool(2, "a"), pool(4, "a", "b"), pool(3, "b")],
        ),
        # A limit of a group, in whole cores.
        (
            {"a": 0, "b": 0},
            {"a": CoreLimits(EIGHT, {"/g": 2.5}), "b": CoreLimits(EIGHT)},
            [pool(8, "a", "b"), pool(2, "a")],
        ),
        ({"a": 0}, {"a": CoreLimits(EIGHT, {"/g": 0.5})}, [pool(8, "a"), pool(1, "a")]),
        # Nothing is known.
        ({"a": 0}, {"a": NO_LIMITS}, [pool(1, "a")]),
    ],
    ids=["machine", "others", "named", "cpus", "group", "part-of-a-core", "unknown"],
)
def test_what_an_arbiter_divides(
    named: dict[str, int], limits: dict[str, CoreLimits], expected: list[Pool]
) -> None:
    assert divided_pools(named, limits) == expected
