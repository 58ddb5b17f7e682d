"""Accounts that the kernel keeps of groups, and what threads add up to beside them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tidscope_collector.groups.account_check import AccountCheck
from tidscope_collector.groups.accounts import CgroupAccount, RusageAccount, Used, account_of
from tidscope_collector.groups.cgroups import Cgroup
from tidscope_collector.groups.members import Members, Newcomer
from tidscope_collector.groups.process_sums import ProcessRow, Sums
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.thread_reader import TICKS_PER_SECOND

TICK_NS = 1_000_000_000 // TICKS_PER_SECOND
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
        self.members = Members()

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
def test_parents_that_end_between_two_looks_waited_for_children_that_ended_before(
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
    return ProcessRow(1, None, "prog", False, 0, Sums(values))


def test_both_count_from_the_first_look_on(tmp_path: Path) -> None:
    files = {"cpu.stat": "usage_usec 0\n", "io.stat": ""}
    account = CgroupAccount(Cgroup(written(tmp_path, "web", files), 1, 0))
    check = AccountCheck(account)
    assert check.noted is None
    check.note([row(100), row(20, 4)], Used(5_000, 10, 20))
    check.note([row(400), row(50, 5, 6)], Used(5_300, 12, 26))
    assert check.noted is not None
    found = check.noted.check
    assert (found.threads_cpu_ns, found.kernel_cpu_ns) == (330, 300)
    assert (found.threads_read_bytes, found.kernel_read_bytes) == (1, 2)
    assert (found.threads_write_bytes, found.kernel_write_bytes) == (6, 6)
    assert found.io_by == "io.stat"
    check.note([row(500)], Used(5_400))
    found = check.noted.check
    assert (found.io_by, found.threads_read_bytes) == (None, None)
    assert found.kernel_write_bytes is None
    none = AccountCheck(None)
    none.note([row(1)], Used(1))
    assert none.noted is None
