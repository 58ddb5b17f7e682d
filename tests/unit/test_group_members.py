"""Members of groups: cgroups, processes and their descriptions."""

from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from fake_members import FakeMembers
from tidscope_collector.groups import members as members_module
from tidscope_collector.groups.cgroups import (
    Cgroup,
    find_cgroups,
    processes_in,
    v1_hierarchy,
)
from tidscope_collector.groups.descriptions import EVERY_NS, NEW_NS, Descriptions
from tidscope_collector.groups.listing import descendants
from tidscope_collector.groups.members import Member, Members, Newcomer
from tidscope_collector.processes.description import Description
from tidscope_collector.procfs.files import ProcFs


def newcomer(pid: int, parent: int = 0, ticks: int = 100, name: str = "work") -> Newcomer:
    return Newcomer(pid, parent, ticks * 10_000_000, ticks, name, None)


def test_a_copy_of_members_keeps_those_that_ended() -> None:
    members = FakeMembers()
    root = members.add(newcomer(10), at_attach=True)
    child = members.add(newcomer(11, parent=10, ticks=200))
    assert (root.number, root.parent, child.number, child.parent) == (1, 0, 2, 1)
    members.end(11, 5)
    assert list(members.alive) == [10]
    ended = members.find(11)
    assert ended is not None
    assert (ended.number, ended.ended_ns) == (2, 5)
    again = members.add(newcomer(11, parent=10, ticks=300))
    assert members.find(11) == again
    assert members.of_number(2) == ended
    members.take([])
    assert members.alive == {}
    assert members.find(11) == again


def test_ended_members_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members_module, "MAX_KNOWN", 3)
    members = FakeMembers()
    for pid in range(10, 20):
        members.add(newcomer(pid))
        members.end(pid, 5)
    assert [pid for pid in range(10, 20) if members.find(pid) is not None] == [17, 18, 19]


def test_descendants_are_found_through_those_in_between() -> None:
    listed = {one.pid: one for one in (newcomer(1), newcomer(2, 1), newcomer(3, 2), newcomer(4, 9))}
    assert descendants(listed, [1]) == {1, 2, 3}
    assert descendants(listed, [9]) == set()


def proc(folder: Path, lines: str) -> ProcFs:
    (folder / "self").mkdir(parents=True)
    (folder / "self" / "cgroup").write_text(lines)
    return ProcFs(folder)


def group(root: Path, path: str) -> Path:
    folder = root / path
    folder.mkdir(parents=True)
    (folder / "cgroup.procs").write_text("")
    return folder


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ("0::/init.scope\n", 0),
        ("5:cpu,cpuacct:/\n1:memory:/\n", 5),
        ("x:cpuacct:/\n", 0),
    ],
)
def test_the_hierarchy_of_version_1(lines: str, number: int, tmp_path: Path) -> None:
    assert v1_hierarchy(proc(tmp_path, lines)) == number


def test_without_a_list_there_is_no_hierarchy(tmp_path: Path) -> None:
    assert v1_hierarchy(ProcFs(tmp_path)) == 0


def test_a_group_is_found_in_each_hierarchy(tmp_path: Path) -> None:
    procfs, groups = proc(tmp_path / "proc", "5:cpu,cpuacct:/\n"), tmp_path / "cgroup"
    newer = group(groups / "unified", "web/one")
    older = group(groups / "cpu,cpuacct", "web/one")
    assert find_cgroups(procfs, "/web/one", groups) == [
        Cgroup(newer, newer.stat().st_ino, 0),
        Cgroup(older, older.stat().st_ino, 5),
    ]
    assert find_cgroups(procfs, "/web/two", groups) == []


@pytest.mark.parametrize("path", ["/web/../../etc", "/./web"])
def test_no_path_leads_out(path: str, tmp_path: Path) -> None:
    procfs = proc(tmp_path / "proc", "0::/\n")
    group(tmp_path / "cgroup", "web")
    assert find_cgroups(procfs, path, tmp_path / "cgroup") == []
    assert processes_in(procfs, path) == set()


def test_a_group_in_a_hierarchy_that_nobody_follows(tmp_path: Path) -> None:
    procfs = proc(tmp_path / "proc", "9:name=systemd:/\n5:cpu:/\n2:cpuacct:/\n0::/\n")
    groups = tmp_path / "cgroup"
    named = group(groups / "systemd", "web/one")
    found = Cgroup(named, named.stat().st_ino, 9, followed=False)
    assert find_cgroups(procfs, "/web/one", groups) == [found]
    # The group of cpu differs from that of cpuacct with the same number.
    beside = group(groups / "cpu", "web/two")
    assert find_cgroups(procfs, "/web/two", groups) == [
        Cgroup(beside, beside.stat().st_ino, 5, followed=False)
    ]
    older = group(groups / "cpuacct", "web/one")
    assert find_cgroups(procfs, "/web/one", groups) == [Cgroup(older, older.stat().st_ino, 2)]


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
    return Member(number, 0, 100 + number, start_ns, number, "work", 0, before=False)


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
