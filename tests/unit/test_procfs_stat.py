"""The stat line: whatever the name is, the fields behind it are found."""

import pytest
from fake_proc import PF_KTHREAD, stat_line
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.procfs.process import parse_stat


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
