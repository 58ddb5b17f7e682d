"""How many cores a program may have, and its share of them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from fake_proc import FakeProc
from tidscope_collector.procfs.cgroup import cpu_limits
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop.core_limits import (
    NO_LIMITS,
    CoreLimits,
    divided_pools,
    parse_cpu_list,
    read_core_limits,
    share_of,
)
from tidscope_policies.arbitration.division import Pool
from tidscope_policies.contract import Bounds, CoreShare, Observation, Peers
from tidscope_policies.registry import POLICIES

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
        for one in cpu_limits(ProcFs(tmp_path), 100, groups)
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
        (CoreShare(2, 2), None, 2, "2 cores for one program"),
        (CoreShare(2, 1), Peers(2), 1, "2 cores for 2 programs"),
        (CoreShare(1.5, 0.75), Peers(2), 1, "1.5 cores for 2 programs"),
        (CoreShare(1, 1), None, 1, "1 core for one program"),
        (None, None, 8, "8 cores for one program"),
    ],
    ids=["two", "shared", "fraction", "one", "unknown"],
)
def test_cooperative_begins_at_its_share(
    cores: CoreShare | None, peers: Peers | None, size: int, words: str
) -> None:
    policy = POLICIES["cooperative"].make().policy
    seen = Observation(2.0, 2.0, 100.0, 8, Bounds(1, 8), peers=peers, cores=cores)
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
