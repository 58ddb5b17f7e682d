"""Takers by name: bounded, whatever is started meanwhile."""

import numpy as np
from tidscope_collector.waits.counts import Counts, Rows
from tidscope_collector.waits.names_of_processes import ProcessesByName

PID = 100
NOBODY = np.empty(0, np.uint32)


def takers(*rows: tuple[int, int, int]) -> Counts:
    """Rows of thread, process << 1 | kernel, nanoseconds."""
    tid, who, ns = np.array(rows, np.uint64).T
    return Counts(takers=Rows((tid, who), (ns,)))


def rows(counts: Counts) -> list[tuple[int, ...]]:
    columns = (*counts.takers.keys, *counts.takers.values)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_processes_of_one_name_are_one() -> None:
    by_name = ProcessesByName(lambda pid: ("cc1" if pid < 90 else "ld", False))
    folded = by_name.fold(takers((1, 10 << 1, 5), (1, 11 << 1, 6), (1, 95 << 1, 7)), PID, NOBODY)
    assert rows(folded) == [(1, 10 << 1, 11), (1, 95 << 1, 7)]
    later = by_name.fold(takers((1, 12 << 1, 8), (2, 11 << 1, 1)), PID, NOBODY)
    assert rows(later) == [(1, 10 << 1, 8), (2, 10 << 1, 1)]
    assert by_name.name(10) == "cc1"


def test_the_process_itself_the_idle_task_and_kernel_threads_stay_apart() -> None:
    by_name = ProcessesByName(lambda _: ("same", True))
    found = ((1, 0, 1), (1, 1, 2), (1, 20 << 1, 3), (1, 20 << 1 | 1, 4), (1, PID << 1, 5))
    assert rows(by_name.fold(takers(*found), PID, NOBODY)) == list(found)


def test_there_are_only_so_many_names() -> None:
    by_name = ProcessesByName(lambda pid: (f"name {pid}", False))
    many = takers(*((1, pid << 1, 1) for pid in range(1000, 4000)))
    assert len(rows(by_name.fold(many, PID, NOBODY))) == 1024
    assert len(rows(by_name.fold(many, PID, NOBODY))) == 1024


class Group:
    """Processes 10, 11 and 12; hashed by identity."""

    pids = np.array([10, 11, 12], np.uint32)

    def names(self) -> dict[int, str]:
        return dict.fromkeys(self.pids.tolist(), "cc1")


def wakers(*rows: tuple[int, int, int]) -> Counts:
    """Rows of thread, waker's process, count."""
    tid, pid, count = np.array(rows, np.uint64).T
    none = np.zeros(len(tid), np.uint64)
    return Counts(edges=Rows((tid, pid << np.uint64(32), none, none), (count, count, count)))


def test_of_a_group_wakers_are_one_a_name_once_they_have_ended() -> None:
    by_name = ProcessesByName(lambda pid: ("cc1" if pid < 90 else "ld", pid > 200))
    found = wakers((1, 0, 1), (1, 10, 2), (1, 11, 3), (1, 12, 4), (1, 95, 5), (1, 300, 6))
    living = np.array([10], np.uint32)
    edges = by_name.fold(found, Group(), living).edges
    pids = (edges.keys[1] >> np.uint64(32)).tolist()
    # Interrupts and those that live are left alone; 11 stands for 12, too.
    assert list(zip(pids, edges.values[0].tolist(), strict=True)) == [
        *((0, 1), (10, 2), (11, 7), (95, 5), (300, 6))
    ]
    assert by_name.describe(11) == ("cc1", False)
    assert by_name.describe(300) == ("ld", True)
    alone = by_name.fold(found, PID, living)
    assert alone.edges is found.edges


def test_of_a_group_takers_are_one_a_name_members_too() -> None:
    by_name = ProcessesByName(lambda pid: ("cc1" if pid < 90 else "ld", False))
    found = takers((1, 10 << 1, 5), (1, 11 << 1, 6), (1, 95 << 1, 7))
    folded = by_name.fold(found, Group(), NOBODY)
    assert rows(folded) == [(1, 10 << 1, 11), (1, 95 << 1, 7)]
