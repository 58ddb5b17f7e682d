"""Members of groups: cgroups, processes and their descriptions."""

from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tidscope_collector.ebpf.watched import are_in
from tidscope_collector.groups.cgroups import (
    Cgroup,
    find_cgroups,
    processes_in,
    v1_hierarchy,
)
from tidscope_collector.groups.descriptions import EVERY_NS, NEW_NS, Description, Descriptions
from tidscope_collector.groups.listing import descendants
from tidscope_collector.groups.members import BELIEVED_NS, MAX_FOUND, Member, Members, Newcomer
from tidscope_collector.groups.process_sums import (
    MAX_NAMES,
    MAX_STANDING,
    OTHERS,
    STANDS_NS,
    ProcessRow,
    ProcessSums,
)
from tidscope_collector.procfs.files import ProcFs

FIELDS = ("cpu_run_ns", "minor_faults")
SECOND = 1_000_000_000


def newcomer(pid: int, parent: int = 0, ticks: int = 100, name: str = "work") -> Newcomer:
    return Newcomer(pid, parent, ticks * 10_000_000, ticks, name, None)


def rows_of(
    sums: ProcessSums, now_ns: int, live: dict[int, list[tuple[int, int]]]
) -> dict[int, ProcessRow]:
    """Rows by number, where live processes have threads with these counters."""
    processes = np.array([pid for pid, threads in live.items() for _ in threads], np.uint32)
    counters = np.array([one for threads in live.values() for one in threads], np.uint64)
    made = sums.rows(processes, counters.reshape(len(processes), 2), None, now_ns)
    return {row.number: row for row in made}


def test_numbers_are_never_used_again_and_parents_are_numbers() -> None:
    members = Members()
    root = members.add(newcomer(10), at_attach=True, before=True)
    child = members.add(newcomer(11, parent=10, ticks=200))
    assert (root.number, root.parent, child.number, child.parent) == (1, 0, 2, 1)
    members.end(11, 5, 5)
    again = members.add(newcomer(11, parent=10, ticks=300))
    assert again.number == 3
    assert (members.started, members.ended, members.unseen) == (2, 1, 1)


def test_an_id_that_another_process_has_now_ends_the_first() -> None:
    members = Members()
    first = members.add(newcomer(10, ticks=100))
    assert members.add(newcomer(10, ticks=100)) is first
    second = members.add(newcomer(10, ticks=900))
    assert second is not first
    assert first.ended_ns == 9 * SECOND
    assert members.find(10) is second


def test_records_are_believed_for_a_while_after_the_end() -> None:
    members = Members()
    members.add(newcomer(10))
    members.see(np.array([10], np.uint32))
    members.end(10, 0, 50)
    assert members.ids.tolist() == []
    assert members.believed.tolist() == [10]
    assert members.unseen == 0
    members.forget(50 + BELIEVED_NS)
    assert members.believed.tolist() == [10]
    members.forget(51 + BELIEVED_NS)
    assert members.believed.tolist() == []
    # After many exits at once records wait for longer before they are counted.
    found = members.find(10)
    assert found is not None
    for pid in range(11, 11 + MAX_FOUND):
        members.add(newcomer(pid))
        members.end(pid, 0, 50)
    assert members.find(10) is None
    assert members.find(11) is not None


def test_which_ids_are_among_known_ones() -> None:
    pids, known = np.array([5, 7, 9], np.uint32), np.array([1, 7, 8], np.uint32)
    assert are_in(pids, known).tolist() == [False, True, False]
    assert are_in(pids, known[:0]).tolist() == [False, False, False]


def test_descendants_are_found_through_those_in_between() -> None:
    listed = {one.pid: one for one in (newcomer(1), newcomer(2, 1), newcomer(3, 2), newcomer(4, 9))}
    assert descendants(listed, [1]) == {1, 2, 3}
    assert descendants(listed, [9]) == set()


def test_who_began_before_counts_from_then_on_and_a_child_from_its_start() -> None:
    members = Members()
    members.add(newcomer(10), at_attach=True, before=True)
    sums = ProcessSums(members, FIELDS, FIELDS)
    rows = rows_of(sums, 0, {10: [(100, 5), (50, 1)]})
    assert rows[1].sums.values == {"cpu_run_ns": 0, "minor_faults": 0}
    members.add(newcomer(11, parent=10))
    rows = rows_of(sums, 0, {10: [(130, 5)], 11: [(7, 2)]})
    # One of its threads ended: what that had is added when its record comes.
    sums.ended(10, {"cpu_run_ns": 60, "minor_faults": 3})
    rows = rows_of(sums, 0, {10: [(130, 5)], 11: [(7, 2)]})
    assert rows[1].sums.values == {"cpu_run_ns": 40, "minor_faults": 2}
    assert rows[1].sums.threads_ended == 1
    assert rows[2].sums.values == {"cpu_run_ns": 7, "minor_faults": 2}


def test_ended_ones_stand_and_are_folded_into_the_row_of_their_name() -> None:
    members = Members()
    sums = ProcessSums(members, FIELDS, FIELDS)
    for pid in (10, 11):
        members.add(newcomer(pid))
        sums.ended(pid, {"cpu_run_ns": pid})
        members.end(pid, pid, pid)
    rows = rows_of(sums, STANDS_NS, {})
    assert {number: row.sums.values["cpu_run_ns"] for number, row in rows.items()} == {1: 10, 2: 11}
    rows = rows_of(sums, STANDS_NS + 11, {})
    assert {row.name: row.sums.count for row in rows.values() if row.member is None} == {"work": 1}
    # A record that comes late still counts while its row stands.
    sums.corrected(11, {}, {"cpu_run_ns": 100})
    rows = rows_of(sums, STANDS_NS + 12, {})
    (folded,) = rows.values()
    assert (folded.sums.count, folded.sums.values["cpu_run_ns"]) == (2, 121)
    assert folded.number == 3
    assert folded.sums.threads_ended == 2


def test_rows_are_bounded_and_nothing_is_lost_of_the_sums() -> None:
    members = Members()
    sums = ProcessSums(members, FIELDS, FIELDS)
    many = MAX_STANDING + MAX_NAMES + 500
    for pid in range(1, many + 1):
        members.add(newcomer(pid, name=f"name{pid}"))
        sums.ended(pid, {"cpu_run_ns": 1})
        members.end(pid, 0, 0)
    rows = rows_of(sums, 1, {})
    assert len(rows) == MAX_STANDING + MAX_NAMES + 1
    assert sum(row.sums.values["cpu_run_ns"] for row in rows.values()) == many
    assert sum(row.sums.count for row in rows.values()) == many
    (others,) = [row for row in rows.values() if row.name == OTHERS]
    assert others.sums.count == 500


def test_what_is_said_of_a_process_after_its_row_has_gone_is_in_that_of_its_name() -> None:
    members = Members()
    sums = ProcessSums(members, FIELDS, FIELDS)
    for pid in range(1, MAX_STANDING + 3):
        members.add(newcomer(pid, name="many"))
        members.end(pid, 0, 0)
    assert len(rows_of(sums, 1, {})) == MAX_STANDING + 1
    sums.ended(1, {"cpu_run_ns": 7})
    sums.ended(2, {"cpu_run_ns": 5})
    sums.corrected(2, {"cpu_run_ns": 5}, {"cpu_run_ns": 6})
    (folded,) = [row for row in rows_of(sums, 1, {}).values() if row.member is None]
    assert folded.sums.values["cpu_run_ns"] == 13
    assert (folded.sums.count, folded.sums.threads_ended) == (2, 2)


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
