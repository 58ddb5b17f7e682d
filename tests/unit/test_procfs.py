"""Files of /proc: stat, threads, name spaces and the delay accounting switch."""

from pathlib import Path

import pytest
from fake_proc import PF_KTHREAD, FakeProc, stat_line
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.procfs.delay_accounting import SWITCH, DelayAccounting, SwitchRefusedError
from tidscope_collector.procfs.process import (
    IdRange,
    TargetExitedError,
    namespace_pid,
    namespace_uid,
    parse_stat,
    read_id_map,
    user_in_passwd,
)
from tidscope_collector.procfs.thread_columns import thread_columns
from tidscope_wire.generated.catalogue import CATALOGUE

# Columns that a /proc of files has.


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    proc = FakeProc(tmp_path)
    proc.process(70, stat_line(70, b"main"))
    return proc


def test_each_thread_field_of_the_catalogue_is_given_or_absent_with_a_reason(
    proc: FakeProc,
) -> None:
    columns = thread_columns(proc.procfs, 70, "no CAP_NET_ADMIN")
    named = [*(name for name, _ in columns.base), *(one.field for one in columns.absent)]
    assert sorted(named) == sorted(
        field.name for field in CATALOGUE.fields if field.scope == "thread"
    )
    reasons = {absent.field: absent.reason for absent in columns.absent}
    assert "no CAP_NET_ADMIN" in reasons["blkio_delay_ns"]
    assert "network" in reasons["net_read_bytes"]
    assert dict(columns.base)["cpu_run_ns"] == "schedstat[0]"


@pytest.mark.parametrize(
    ("file", "lost"),
    [("schedstat", {"cpu_run_ns", "cpu_delay_ns", "cpu_count"}), ("io", {"read_char_bytes"})],
)
def test_a_file_that_the_kernel_lacks_takes_its_fields_away(
    proc: FakeProc, file: str, lost: set[str]
) -> None:
    (proc.root / f"70/task/70/{file}").unlink()
    columns = thread_columns(proc.procfs, 70)
    assert not lost & dict(columns.base).keys()
    reasons = {absent.field: absent.reason for absent in columns.absent}
    assert all("built without it" in reasons[field] for field in lost)


def test_a_process_that_is_not_there_is_gone(proc: FakeProc) -> None:
    with pytest.raises(TargetExitedError):
        thread_columns(proc.procfs, 1234)


# The stat line: whatever the name is, the fields behind it are found.


@given(st.binary(max_size=15).filter(lambda name: b"\0" not in name))
def test_any_name_is_read_as_it_is(name: bytes) -> None:
    stat = parse_stat(stat_line(42, name, utime=7, stime=8, threads=3, start=12345, rss=99))
    assert (stat.pid, stat.name, stat.state) == (42, name, "S")
    assert (stat.user_ticks, stat.system_ticks, stat.threads) == (7, 8, 3)
    assert (stat.start_ticks, stat.rss_pages) == (12345, 99)


@pytest.mark.parametrize("name", [b"a b", b"(sd-pam)", b") R 1 (", b"((", b"))", b""])
def test_blanks_and_parentheses_do_not_move_the_fields(name: bytes) -> None:
    assert parse_stat(stat_line(1, name, minflt=5, majflt=6)).minor_faults == 5


def test_a_kernel_thread_has_its_flag() -> None:
    assert parse_stat(stat_line(2, flags=PF_KTHREAD | 0x40)).kernel_thread
    assert not parse_stat(stat_line(2, flags=0xFFFF_FFFF & ~PF_KTHREAD)).kernel_thread


@pytest.mark.parametrize(
    ("state", "threads", "ended"),
    [("Z", 1, True), ("Z", 2, False), ("X", 0, True), ("S", 1, False)],
)
def test_a_dead_main_thread_is_not_a_dead_process(state: str, threads: int, ended: bool) -> None:
    assert parse_stat(stat_line(9, state=state, threads=threads)).ended is ended


@pytest.mark.parametrize(
    "line", [b"", b"1", b"1 (a", b"1 (a) S 1 2", stat_line(1)[:40], b"x (a) " + b"1 " * 30]
)
def test_what_is_no_stat_line_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"stat line|invalid literal"):
        parse_stat(line)


# Ids inside of namespaces, by what the kernel writes into status and uid_map.


ROOTLESS = "         0       1000          1\n         1     100000      65536\n"


@pytest.mark.parametrize(
    ("status", "pid"),
    [
        (b"Name:\tx\nNSpid:\t4711\nUid:\t0\n", None),
        (b"Name:\tx\nNSpid:\t4711\t1\nUid:\t0\n", 1),
        (b"Name:\tx\nNSpid:\t4711\t30\t7\nUid:\t0\n", 7),
        (b"Name:\tx\nUid:\t0\n", None),
        (b"Name:\tNSpid:\t1\t2\nUid:\t0\n", None),
    ],
)
def test_the_pid_inside(status: bytes, pid: int | None) -> None:
    assert namespace_pid(status) == pid


def test_a_map_of_a_rootless_container() -> None:
    ranges = read_id_map(ROOTLESS)
    assert ranges == [IdRange(0, 1000, 1), IdRange(1, 100000, 65536)]
    assert namespace_uid(1000, ranges) == 0
    assert namespace_uid(100000, ranges) == 1
    assert namespace_uid(100000 + 69, ranges) == 70
    assert namespace_uid(165535, ranges) == 65536
    assert namespace_uid(165536, ranges) is None
    assert namespace_uid(0, ranges) is None


def test_the_map_of_the_initial_namespace_changes_nothing() -> None:
    ranges = read_id_map("         0          0 4294967295\n")
    assert namespace_uid(0, ranges) is None
    assert namespace_uid(1000, ranges) is None


def test_lines_that_make_no_sense_are_left_out() -> None:
    assert read_id_map("0 1\na b c\n0 1 2 3\n-1 0 1\n5 6 7\n") == [IdRange(5, 6, 7)]
    assert len(read_id_map("0 1 2\n" * 1000)) == 340


def test_users_of_a_container() -> None:
    passwd = "root:x:0:0:root:/root:/bin/sh\npostgres:x:70:70::/var/lib/postgresql:/bin/sh\n:x:9:9"
    assert user_in_passwd(passwd, 70) == "postgres"
    assert user_in_passwd(passwd, 71) is None
    assert user_in_passwd(passwd, 9) is None


# The switch of delay accounting, in a /proc of files.


class Clock:
    """A clock that is set by hand."""

    now = 1000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def switch_proc(tmp_path: Path) -> FakeProc:
    proc = FakeProc(tmp_path / "proc")
    proc.write(SWITCH, b"0\n")
    proc.write("cmdline", b"quiet root=/dev/vda\n")
    return proc


def test_set_writes_the_value_and_nothing_else(switch_proc: FakeProc) -> None:
    delays = DelayAccounting(switch_proc.procfs)
    before = set(switch_proc.root.rglob("*"))
    delays.set(True)
    assert (switch_proc.root / SWITCH).read_bytes().startswith(b"1")
    assert delays.state() is True
    delays.set(False)
    assert (switch_proc.root / SWITCH).read_bytes().startswith(b"0")
    assert delays.state() is False
    assert set(switch_proc.root.rglob("*")) == before


def test_threads_have_records_from_the_moment_it_was_switched_on(switch_proc: FakeProc) -> None:
    clock = Clock()
    delays = DelayAccounting(switch_proc.procfs, clock)
    assert delays.on_since_ns() is None
    clock.now = 2000
    delays.set(True)
    clock.now = 3000
    assert delays.on_since_ns() == 2000
    delays.set(True)
    assert delays.on_since_ns() == 2000
    delays.set(False)
    assert delays.on_since_ns() is None


def test_someone_else_switches(switch_proc: FakeProc) -> None:
    clock = Clock()
    delays = DelayAccounting(switch_proc.procfs, clock)
    switch_proc.write(SWITCH, b"1\n")
    clock.now = 5000
    assert delays.on_since_ns() == 5000
    switch_proc.write(SWITCH, b"0\n")
    assert delays.state() is False
    switch_proc.write(SWITCH, b"1\n")
    clock.now = 6000
    assert delays.state() is True
    assert delays.on_since_ns() == 6000


def test_on_at_start_is_known_from_then_on_and_given_at_boot_from_the_beginning(
    switch_proc: FakeProc,
) -> None:
    switch_proc.write(SWITCH, b"1\n")
    clock = Clock()
    assert DelayAccounting(switch_proc.procfs, clock).on_since_ns() == 1000
    switch_proc.write("cmdline", b"quiet delayacct root=/dev/vda\n")
    assert DelayAccounting(switch_proc.procfs, clock).on_since_ns() == 0


def test_a_kernel_without_it(tmp_path: Path) -> None:
    delays = DelayAccounting(FakeProc(tmp_path).procfs)
    assert delays.state() is None
    assert delays.on_since_ns() is None
    with pytest.raises(SwitchRefusedError, match=r"has no kernel\.task_delayacct") as refused:
        delays.set(True)
    assert "CONFIG_TASK_DELAY_ACCT" in refused.value.hint
    assert not (tmp_path / SWITCH).exists()


def test_a_switch_that_goes_back_is_reported(switch_proc: FakeProc) -> None:
    """Another program sets the switch back at once."""
    (switch_proc.root / SWITCH).unlink()
    (switch_proc.root / SWITCH).symlink_to("/dev/zero")  # takes any value and reads as none
    with pytest.raises(SwitchRefusedError, match="still on"):
        DelayAccounting(switch_proc.procfs).set(False)
