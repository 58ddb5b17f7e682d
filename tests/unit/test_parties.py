"""Numbers and rows of processes outside a target, and their keys in tables."""

import os
import threading
from typing import cast

import numpy as np
from tidscope_collector.processes.cgroup_names import ContainerNames
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.waits.parties import MAX_KEPT, PID_BITS, Parties, SeenProcess
from tidscope_collector.waits.wire_tables import Columns, LockNumbering, as_wire_tables, keys_of

NO_LOCKS = cast(LockNumbering, None)
"""Tables without locks ask for no numbers of them."""


def seen(pid: int, birth: int, name: str = "python", start: int = 0) -> SeenProcess:
    return SeenProcess(pid | birth << PID_BITS, name, start, is_kernel=False, is_many=False)


def parties() -> Parties:
    return Parties(ProcFs(), ContainerNames(lambda _ids, _users: {}))


def settled(some: Parties) -> None:
    """Wait until all that can be described are."""
    for thread in threading.enumerate():
        if thread.name == "parties":
            thread.join()


def test_an_id_of_another_birth_is_another_party() -> None:
    some = parties()
    numbers = some.see([seen(7, 1), seen(7, 2), seen(7, 0)])
    assert numbers == {7 | 1 << PID_BITS: 1, 7 | 2 << PID_BITS: 2}, "a member is no party"
    assert some.see([seen(8, 5), seen(7, 2)])[8 | 5 << PID_BITS] == 3
    assert some.table()["pid"].tolist() == [7, 7, 8]
    assert some.table()["party"].tolist() == [1, 2, 3]


def test_parties_in_no_table_are_forgotten_beyond_a_bound() -> None:
    some = parties()
    some.see([seen(pid, 1) for pid in range(1, MAX_KEPT + 2)])
    assert len(some.table()) == MAX_KEPT + 1
    assert len(some.see([seen(7, 1), seen(9, 2)])) == 2
    assert some.table()["party"].tolist() == [7, MAX_KEPT + 2], "no number is used again"


def test_a_process_is_described_by_id_and_start() -> None:
    some = parties()
    pid = os.getpid()
    start = parse_stat(ProcFs().read(f"{pid}/stat")).start_ticks
    some.see([seen(pid, 1, start=start), seen(pid, 2, start=start + 1), seen(pid, 3)])
    settled(some)
    own, other, unknown = some.table().tolist()
    assert own[2] == start
    assert own[-1].startswith("/"), "its control group"
    assert other[5:] == unknown[5:] == ("", "", "", "")
    some.close()
    some.see([seen(pid, 4, start=start)])
    settled(some)
    assert some.table().tolist()[3][-1] == "", "nobody is described any more"


def test_rows_name_parties_by_number() -> None:
    key = 7 | 3 << PID_BITS
    takers: Columns = {
        "tid": np.array([1, 1, 1], np.uint32),
        "pid": np.array([7, 7, 0], np.uint32),
        "kernel": np.array([0, 0, 1], np.uint32),
        "party": np.array([0, key, 0], np.uint32),
        "ns": np.array([10, 20, 30], np.uint64),
    }
    names = {7: "member", key: "other"}
    made = as_wire_tables({"takers": takers}, names, {key: 5}, NO_LOCKS)["takers"]
    assert made["party"].tolist() == [0, 5, 0]
    assert made["name"].tolist() == ["member", "other", "idle"]
    assert keys_of(takers, "pid") == [7, key, 0]


def test_a_process_that_executed_another_program_has_its_name() -> None:
    some = parties()
    pid = os.getpid()
    start = parse_stat(ProcFs().read(f"{pid}/stat")).start_ticks
    some.see([seen(pid, 1, "bash", start + 1)])
    settled(some)
    assert some.see([seen(pid, 1, "python", start)]) == {pid | 1 << PID_BITS: 1}
    settled(some)
    [row] = some.table().tolist()
    assert row[4] == "python"
    assert row[-1].startswith("/"), "it is described again"
