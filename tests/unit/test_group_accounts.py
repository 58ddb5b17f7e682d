"""Accounts of groups, by cgroup and by process."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest
from fake_members import FakeMembers
from processes import wait_until
from tidscope_collector.groups.account_check import AccountCheck
from tidscope_collector.groups.accounts import CgroupAccount, RusageAccount, Used, account_of
from tidscope_collector.groups.cgroups import Cgroup
from tidscope_collector.groups.members import Member, Members, Newcomer
from tidscope_collector.groups.meter import AT_ONCE, GroupMeter
from tidscope_collector.groups.own_accounts import EVERY_NS, MAX_ASKED, Asking, OwnAccounts
from tidscope_collector.groups.process_table import ProcessRow
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader
from tidscope_collector.naming.source import NameSource
from tidscope_collector.processes.description import Description
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import PAGE_BYTES, TICKS_PER_SECOND
from tidscope_wire.generated.models import CpuAccount, IoAccount, Runtime

SECOND_NS = 1_000_000_000
TICK_NS = SECOND_NS // TICKS_PER_SECOND
BLKIO = "blkio.throttle.io_service_bytes_recursive"


def written(root: Path, path: str, files: Mapping[str, str]) -> Path:
    folder = root / path
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_version_2_counts_time_and_bytes(tmp_path: Path) -> None:
    io = "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=7 dios=1\n254:0 rbytes=10 wbytes=1\n"
    cpu = "usage_usec 12\nuser_usec 8\n"
    folder = written(tmp_path, "web", {"cpu.stat": cpu, "io.stat": io})
    account = CgroupAccount(Cgroup(folder, 1, 0), tmp_path)
    assert (account.cpu_by, account.io_by) == ("cpu.stat", "io.stat")
    assert account.read() == Used(12_000, 4106, 8193)
    (folder / "io.stat").unlink()
    assert account.read() == Used(12_000)


def test_version_1_counts_bytes_in_another_hierarchy(tmp_path: Path) -> None:
    folder = written(tmp_path, "cpuacct/web", {"cpuacct.usage": "13000\n"})
    assert CgroupAccount(Cgroup(folder, 1, 2), tmp_path).io_by is None
    lines = "8:0 Read 4096\n8:0 Write 1\n8:0 Total 4097\n9:0 Read 4\nTotal 4101\n"
    written(tmp_path, "blkio/web", {BLKIO: lines})
    written(tmp_path, "blkio", {BLKIO: "Total 0\n"})  # it counts for nobody
    assert CgroupAccount(Cgroup(folder, 1, 2), tmp_path).io_by is None
    written(tmp_path, "blkio", {BLKIO: lines})
    account = CgroupAccount(Cgroup(folder, 1, 2), tmp_path)
    assert (account.cpu_by, account.io_by) == ("cpuacct.usage", BLKIO)
    assert account.read() == Used(13_000, 4100, 1)


@pytest.mark.parametrize("text", ["", "nr_periods 0\n", "usage_usec nonsense\n"])
def test_an_account_that_says_nothing(text: str, tmp_path: Path) -> None:
    folder = written(tmp_path, "cpuacct/web", {"cpu.stat": text, "cpuacct.usage": text})
    assert CgroupAccount(Cgroup(folder, 1, 0), tmp_path).read() is None
    assert CgroupAccount(Cgroup(folder, 1, 5), tmp_path).read() is None


class Host:
    """Processes with CPU time of their own, and of the children that they waited for."""

    def __init__(self, root: Path) -> None:
        self.procfs = ProcFs(root)
        self.root = root
        self.own: dict[int, int] = {}
        self.members = FakeMembers()

    def set(self, pid: int, own_ns: int, waited_ticks: int = 0) -> None:
        zeros = "0 " * 30
        text = f"{pid} (a b) S 1 {'0 ' * 11}{waited_ticks} 0 {zeros}\n"
        written(self.root, str(pid), {"stat": text})
        self.own[pid] = own_ns

    def add(self, pid: int, parent: int, own_ns: int, *, at_attach: bool = False) -> None:
        self.set(pid, own_ns)
        newcomer = Newcomer(pid, parent, pid, pid, "prog", 0)
        self.members.add(newcomer, at_attach=at_attach)

    def end(self, pid: int, at_ns: int = 5) -> None:
        self.members.end(pid, at_ns, 5)
        del self.own[pid]

    def account(self) -> RusageAccount:
        return RusageAccount(self.procfs, self.members, self.own.get)


def test_children_that_were_waited_for_count_with_their_parent(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.add(10, 1, 7_000, at_attach=True)
    account = host.account()
    assert account.read() == Used(0)
    host.add(11, 10, 4 * TICK_NS)
    assert account.read() == Used(4 * TICK_NS)
    host.end(11)
    host.set(10, 8_000, waited_ticks=5)
    assert account.read() == Used(5 * TICK_NS + 1_000)


def test_of_a_process_that_nobody_waited_for_nothing_is_known(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.add(10, 1, 0, at_attach=True)
    host.add(11, 10, 0, at_attach=True)
    account = host.account()
    assert account.read() == Used(0)
    del host.own[11]
    assert account.read() is None  # it is about to end
    host.own[11] = 0
    assert account.read() == Used(0)
    host.end(10)
    assert account.read() is None
    host.end(11)
    assert account.read() is None


@pytest.mark.parametrize(("child_ns", "said"), [(4, Used(6 * TICK_NS)), (6, None)])
def test_parents_that_end_between_two_samples_waited_for_children_that_ended_before(
    child_ns: int, said: Used | None, tmp_path: Path
) -> None:
    host = Host(tmp_path)
    host.add(10, 1, 0, at_attach=True)
    host.add(11, 10, TICK_NS)
    host.add(12, 11, 5 * TICK_NS)
    account = host.account()
    assert account.read() == Used(6 * TICK_NS)
    host.end(12, child_ns)
    host.end(11, 5)
    host.set(10, 0, waited_ticks=6)
    assert account.read() == said


def test_which_account_a_group_has(tmp_path: Path) -> None:
    procfs, members = ProcFs(tmp_path), Members()
    few = Cgroup(written(tmp_path, "few", {"cgroup.procs": "1\n"}), 1, 0)
    many = Cgroup(written(tmp_path, "cpuacct/many", {"cgroup.procs": "1\n2\n"}), 1, 2)
    beside = Cgroup(
        written(tmp_path, "beside", {"cgroup.procs": "1\n2\n3\n"}), 1, 3, followed=False
    )
    tree = account_of("tree", procfs, members, (), lambda _: 0)
    assert tree is not None
    assert tree.cpu_by == "rusage"
    found = account_of("unit", procfs, members, (few, many, beside), lambda _: 0, tmp_path)
    assert found is not None
    assert found.cpu_by == "cpuacct.usage"
    assert account_of("cgroup", procfs, members, (beside,), lambda _: 0) is None
    assert account_of("match", procfs, members, (), lambda _: 0) is None


def row(cpu_ns: int, read: int = 0, write: int = 0) -> ProcessRow:
    values = {"cpu_run_ns": cpu_ns, "disk_read_bytes": read, "disk_write_bytes": write}
    return ProcessRow(1, None, "prog", False, 0, 0, 1, values)


def test_both_count_from_the_first_sample_on(tmp_path: Path) -> None:
    files = {"cpu.stat": "usage_usec 0\n", "io.stat": ""}
    account = CgroupAccount(Cgroup(written(tmp_path, "web", files), 1, 0))
    check = AccountCheck(account)
    assert check.found is None
    check.note([row(100), row(20, 4)], Used(5_000, 10, 20))
    check.note([row(400), row(50, 5, 6)], Used(5_300, 12, 26))
    found = check.found
    assert found is not None
    assert (found.threads_cpu_ns, found.kernel_cpu_ns) == (330, 300)
    assert (found.threads_read_bytes, found.kernel_read_bytes) == (1, 2)
    assert (found.threads_write_bytes, found.kernel_write_bytes) == (6, 6)
    assert found.io_by == "io.stat"
    check.note([row(500)], Used(5_400))
    found = check.found
    assert found is not None
    assert (found.io_by, found.threads_read_bytes) == (None, None)
    assert found.kernel_write_bytes is None
    none = AccountCheck(None)
    none.note([row(1)], Used(1))
    assert none.found is None


LEAD = 10


class Reader:
    """Answers the request before."""

    def __init__(self, size: int) -> None:
        self.size: int | None = size
        self.requests = 0
        self.closed = False

    def request(self) -> None:
        self.requests += 1

    def collect(self, _: float = 0) -> int | None:
        return self.size

    read = collect

    def close(self) -> None:
        self.closed = True


class Names:
    """A source of names."""

    runtime = "test"
    every_s: float | None = None

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def read(self) -> Mapping[int, str]:
        return {self._pid + 1: "worker"}

    def close(self) -> None:
        """Nothing is open."""


class AtOnce(Executor):
    """Does what it is given before it returns."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args))
        return done


class Group:
    """Members, what they run, and what is asked of them."""

    def __init__(self, *, ask_names: bool = False) -> None:
        self.members = FakeMembers()
        self.runtimes: dict[int, Description] = {}
        self.readers: dict[int, Reader] = {}
        self.now_ns = 0
        asking = Asking(self._open, self._source, ask_names)
        self.accounts = OwnAccounts(asking, LEAD, AtOnce(), lambda taken: taken())

    def _open(self, pid: int, _: int) -> GomaxprocsReader | None:
        reader = self.readers.get(pid)
        return None if reader is None else cast(GomaxprocsReader, reader)

    @staticmethod
    def _source(pid: int, _: int, runtime: Runtime) -> NameSource | None:
        return Names(pid) if runtime in ("java", "python") else None

    def add(self, pid: int, runtime: Runtime, role: str = "") -> Member:
        member = self.members.add(Newcomer(pid, 1, pid, pid, "prog", 0))
        self.runtimes[member.number] = Description(runtime=runtime, role=role)
        return member

    def of(self, member: Member) -> Description:
        return self.runtimes[member.number]

    def observe(self) -> None:
        self.accounts.update(self.members, self, self.now_ns)
        self.now_ns += EVERY_NS


def test_gomaxprocs_is_asked_for_in_one_sample_and_taken_in_the_next() -> None:
    group = Group()
    group.readers[20] = Reader(4)
    lead, other, plain = group.add(LEAD, "go"), group.add(20, "go"), group.add(30, "native")
    stripped = group.add(40, "go")
    group.observe()
    sizes = [group.accounts.size_of(one.number) for one in (lead, other, plain, stripped)]
    assert sizes == [0, 4, 0, 0]  # of the lead others say it
    assert group.readers[20].requests == 1
    group.readers[20].size = 6
    group.accounts.update(group.members, group, 0)
    (change,) = group.accounts.take_changes()
    assert (change.pid, change.previous, change.size) == (20, 4, 6)
    assert group.accounts.take_changes() == []
    group.observe()
    group.readers[20].size = None  # late
    group.observe()
    assert group.accounts.size_of(other.number) == 6
    assert group.accounts.description is None
    group.accounts.close()
    assert group.readers[20].closed


def test_a_program_that_ends_or_executes_another_is_asked_no_more() -> None:
    group = Group()
    group.readers |= {20: Reader(1), 30: Reader(2)}
    ended, replaced = group.add(20, "go"), group.add(30, "go")
    group.observe()
    group.members.end(20, 1, 1)
    group.accounts.executed(30)
    assert group.readers[30].closed
    group.runtimes[replaced.number] = Description(runtime="native")
    group.observe()
    assert group.readers[20].closed
    assert group.accounts.size_of(ended.number) == group.accounts.size_of(replaced.number) == 0


def test_the_oldest_are_asked_and_it_is_said_how_many_are_not() -> None:
    group = Group(ask_names=True)
    for pid in range(100, 100 + MAX_ASKED + 3):
        group.add(pid, "java" if pid % 2 else "python")
    group.observe()
    asked = f"{MAX_ASKED} of {MAX_ASKED} programs that were asked named theirs"
    wait_until(lambda: group.accounts.description == f"{asked}; 3 more are not asked")
    named = dict(group.accounts.take_names())
    assert named[100] == {101: "worker"}
    assert len(named) == MAX_ASKED
    group.accounts.began({100})
    group.accounts.close()


def test_titles_are_names_of_main_threads_where_names_are_wanted() -> None:
    for ask_names in (True, False):
        group = Group(ask_names=ask_names)
        group.add(50, "native", role="postgres: idle")
        group.observe()
        found = [(50, {50: "postgres: idle"})] if ask_names else []
        assert group.accounts.take_names() == found
        assert group.accounts.take_names() == []


def test_nobody_is_asked_after_the_end() -> None:
    group = Group()
    workers = ThreadPoolExecutor(1)
    workers.shutdown()
    accounts = OwnAccounts(Asking(group._open, group._source, False), LEAD, workers, print)
    group.add(20, "go")
    accounts.update(group.members, group, 0)
    accounts.close()
    accounts.update(group.members, group, EVERY_NS)
    assert accounts.take_names() == []


class Account:
    """Account of a process tree that counts its readings."""

    cpu_by: CpuAccount = "rusage"
    io_by: IoAccount = None
    whole = False

    def __init__(self) -> None:
        self.read_times = 0

    def read(self) -> Used:
        self.read_times += 1
        return Used(self.read_times)


def write_memory(root: Path, pid: int, pages: int) -> None:
    (root / str(pid)).mkdir(exist_ok=True)
    (root / str(pid) / "statm").write_text(f"1000 {pages} 0 0 0 0 0\n")


def meter(root: Path, members: Members, account: Account) -> GroupMeter:
    return GroupMeter(1, ProcFs(root), None, members, account)


def filled(root: Path, count: int) -> FakeMembers:
    members = FakeMembers()
    for pid in range(1, count + 1):
        members.add(Newcomer(pid, 0, pid, pid, "prog", 0), at_attach=True)
        write_memory(root, pid, 1)
    return members


def test_memory_of_many_is_read_in_turn_and_of_new_ones_at_once(tmp_path: Path) -> None:
    count = 3 * AT_ONCE
    members = filled(tmp_path, count)
    group = meter(tmp_path, members, Account())
    assert group.read(1 * SECOND_NS).rss_bytes == count * PAGE_BYTES
    for pid in range(1, count + 1):
        write_memory(tmp_path, pid, 2)
    for turn in (1, 2, 3):
        assert group.read((1 + turn) * SECOND_NS).rss_bytes == (count + turn * AT_ONCE) * PAGE_BYTES
    members.end(1, 5, 5)
    write_memory(tmp_path, 1000, 50)
    members.add(Newcomer(1000, 0, 7, 7, "prog", 0))
    assert group.read(5 * SECOND_NS).rss_bytes == (2 * (count - 1) + 50) * PAGE_BYTES


def test_a_tree_of_many_is_compared_more_seldom(tmp_path: Path) -> None:
    for processes, expected in ((AT_ONCE, 6), (AT_ONCE + 1, 3), (3 * AT_ONCE, 2)):
        account = Account()
        group = meter(tmp_path, filled(tmp_path, processes), account)
        said = [group.read_used() for _ in range(6)]
        assert account.read_times == expected
        assert [one.cpu_ns for one in said if one is not None] == list(range(1, expected + 1))
        assert group.read_used(last=True) is not None
