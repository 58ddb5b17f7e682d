"""Ids inside of namespaces, by what the kernel writes into status and uid_map."""

import pytest
from tidscope_collector.procfs.process import (
    IdRange,
    namespace_pid,
    namespace_uid,
    read_id_map,
    user_in_passwd,
)

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
