"""What is read of a group's processes: of many in turn."""

from pathlib import Path

from tidscope_collector.groups.accounts import Used
from tidscope_collector.groups.members import Members, Newcomer
from tidscope_collector.groups.meter import AT_ONCE, GroupMeter
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import PAGE_BYTES
from tidscope_collector.sampling.process_meter import SLOW_GAUGES_NS
from tidscope_wire.generated.models import CpuAccount, IoAccount


class Account:
    """Of a tree: says how often it was read."""

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
    return GroupMeter(1, ProcFs(root), None, None, None, members, account)


def filled(root: Path, count: int) -> Members:
    members = Members()
    for pid in range(1, count + 1):
        members.add(Newcomer(pid, 0, pid, pid, "prog", 0), at_attach=True)
        write_memory(root, pid, 1)
    return members


def test_memory_of_many_is_read_in_turn_and_of_new_ones_at_once(tmp_path: Path) -> None:
    count = 3 * AT_ONCE
    members = filled(tmp_path, count)
    group = meter(tmp_path, members, Account())
    group.read_slow(1 * SLOW_GAUGES_NS)
    assert group.gauges().rss_bytes == count * PAGE_BYTES
    for pid in range(1, count + 1):
        write_memory(tmp_path, pid, 2)
    for turn in (1, 2, 3):
        group.read_slow((1 + turn) * SLOW_GAUGES_NS)
        assert group.gauges().rss_bytes == (count + turn * AT_ONCE) * PAGE_BYTES
    members.end(1, 5, 5)
    write_memory(tmp_path, 1000, 50)
    members.add(Newcomer(1000, 0, 7, 7, "prog", 0))
    group.read_slow(5 * SLOW_GAUGES_NS)
    assert group.gauges().rss_bytes == (2 * (count - 1) + 50) * PAGE_BYTES


def test_a_tree_of_many_is_compared_more_seldom(tmp_path: Path) -> None:
    for processes, expected in ((AT_ONCE, 6), (AT_ONCE + 1, 3), (3 * AT_ONCE, 2)):
        account = Account()
        group = meter(tmp_path, filled(tmp_path, processes), account)
        for second in range(1, 7):
            group.read_cpu(second * SLOW_GAUGES_NS)
        assert account.read_times == expected
        used = group.take_used()
        assert used is not None
        assert used.cpu_ns == expected
        assert group.take_used() is None
