"""Tables of waits: sums, calls, takers and what ended."""

import os

import numpy as np
import numpy.typing as npt
import pytest
from builders import joined
from hypothesis import given
from hypothesis import strategies as st
from tidscope_collector.ebpf.watched import are_of
from tidscope_collector.locks.locks import LockWaits
from tidscope_collector.locks.registry import Addresses, LockName, LockRegistry, Numbers
from tidscope_collector.locks.runtime_locks import LockSource
from tidscope_collector.waits import ended
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.counts import Counts, Rows, counts_of_details
from tidscope_collector.waits.ended import Living, bounded, without_dead, without_foreign
from tidscope_collector.waits.names_of_processes import ProcessesByName
from tidscope_collector.waits.slots import CALL_ADDRESS, DETAIL, STATES
from tidscope_collector.waits.states import RESTARTS, State, kinds_of_calls
from tidscope_collector.waits.sums import sum_by
from tidscope_collector.waits.tables import LOCKS, tables_of
from tidscope_collector.waits.wire_tables import as_wire_tables

# Tables from counts: rows of the same key are added up, and what is not known has a name.


PID = 100


def column(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    return np.array(values, np.uint64)


def taker_name(pid: int) -> str:
    return name_of(pid)[0]


def name_of(pid: int) -> tuple[str, bool]:
    return {PID: ("own", False), 7: ("kworker", True)}.get(pid, ("", False))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2**40)), max_size=30)
)
def test_rows_of_a_key_are_added_up(rows: list[tuple[int, int, int]]) -> None:
    expected: dict[tuple[int, int], int] = {}
    for one, other, value in rows:
        expected[one, other] = expected.get((one, other), 0) + value
    (ones, others), (sums,) = sum_by(
        (column(*(row[0] for row in rows)), column(*(row[1] for row in rows))),
        (column(*(row[2] for row in rows)),),
    )
    found = zip(zip(ones.tolist(), others.tolist(), strict=True), sums.tolist(), strict=True)
    assert list(found) == sorted(expected.items())


def test_wake_ups_and_waits_for_locks_come_from_the_same_rows() -> None:
    own = PID << 32
    edges = Rows(
        # Thread 5 waits for two locks and a timer, thread 6 for one lock; a kernel thread wakes 6.
        (
            column(5, 5, 5, 6, 6),
            column(own | 6, own | 6, 0, own | 5, 7 << 32),
            column(0xA0, 0xB0, 0, 0xA0, 0),
            column(PID, PID, 0, PID, 0),
        ),
        (column(3, 1, 2, 4, 1), column(30, 10, 20, 40, 9), column(1, 2, 3, 4, 5)),
    )
    tables = joined(tables_of(Counts(edges=edges), PID, name_of, taker_name, {}))
    assert tables["wakes"].tolist() == [
        (0, 0, 5, 0, 2, 20, 3, b"interrupt"),
        (0, 7, 6, 1, 1, 9, 5, b"kworker"),
        (5, PID, 6, 0, 4, 40, 4, b"own"),
        (6, PID, 5, 0, 4, 40, 3, b"own"),
    ]
    assert tables["locks"].tolist() == [
        (0xA0, PID, 5, 30, 3, 4),
        (0xA0, PID, 6, 40, 4, 3),
        (0xB0, PID, 5, 10, 1, 0),
        (0xB0, PID, 6, 0, 0, 1),
    ]


def test_takers_add_up_to_the_time_in_run_queues() -> None:
    takers = Rows(
        (column(5, 5, 6, 6), column(PID << 1, 7 << 1 | 1, 1, 8 << 1)), (column(10, 20, 5, 9),)
    )
    queued = Rows((column(5, 6, 7),), (column(37, 12, 4),))
    made = joined(tables_of(Counts(takers=takers, queued=queued), PID, name_of, taker_name, {}))[
        "takers"
    ]
    assert made.tolist() == [
        (5, PID, 0, 10, b"own"),
        (5, 7, 1, 20, b"kworker"),
        (6, 0, 1, 5, b"idle"),
        (6, 8, 0, 7, b""),  # two ns too many: clocks differ
        (5, 0, 0, 7, b"unknown"),
        (7, 0, 0, 4, b"unknown"),
    ]
    none = joined(tables_of(Counts(queued=queued), PID, name_of, taker_name, {}))["takers"]
    assert none["ns"].tolist() == [37, 12, 4]


def test_calls_have_names() -> None:
    calls = Rows((column(5, 5), column(0, 999)), (column(2, 1), column(20, 10)))
    made = joined(
        tables_of(Counts(calls=calls), PID, name_of, taker_name, names_of_calls("x86_64"))
    )["calls"]
    assert made.tolist() == [(5, 0, 2, 20, b"read"), (5, 999, 1, 10, b"call 999")]
    assert names_of_calls("aarch64")[63] == "read"
    assert names_of_calls("x86_64")[449] == names_of_calls("aarch64")[449] == "futex_waitv"
    assert names_of_calls("another") == {}


def test_details_become_rows_of_what_is_not_zero() -> None:
    details = np.zeros(3, DETAIL)
    details["histogram"][1, State.POLL, 4] = 6
    details["histogram"][2, State.POLL, 4] = 9  # of another process
    details["edges"][1, 2] = (PID << 32, 0xC0, 2, 11, 1)
    details["takers"][1, 0] = (1, 13)
    ns = np.zeros((2, STATES), np.uint64)
    ns[1, State.POLL] = 70
    rows = np.array([0, 1], np.intp)
    counts = counts_of_details(
        details[rows], column(5, 6), column(PID, PID), details["edges"][rows], ns
    )
    tables = joined(tables_of(counts, PID, name_of, taker_name, {}))
    assert tables["stays"].tolist() == [(6, State.POLL, 4, 6)]
    assert tables["wakes"].tolist() == [(0, PID, 6, 0, 2, 11, 1, b"own")]
    assert counts.takers.values[0].tolist() == [13]
    both = counts.with_all(counts)
    assert joined(tables_of(both, PID, name_of, taker_name, {}))["stays"].tolist() == [
        (6, State.POLL, 4, 12)
    ]


# Waits in system calls that are no state of their own have numbers and names beside locks.


NUMBERS = {name: number for number, name in names_of_calls(os.uname().machine).items()}
FUTEX_AT = 4096


class Numbering:
    """Numbers of one futex and of calls."""

    reason = ""

    def __init__(self) -> None:
        self.registry = LockRegistry()

    def numbers_in(self, processes: npt.NDArray[np.uint32], addresses: Addresses) -> Numbers:
        assert len(processes) == len(addresses)
        assert addresses.tolist() in ([], [FUTEX_AT])
        numbers = [self.registry.number_of("futex", "mu", "lock")] * len(addresses)
        return np.array(numbers, np.uint32)

    def number_of_call(self, name: str) -> int:
        return self.registry.number_of("system-call", name, "call")

    def names(self) -> list[LockName]:
        return self.registry.names()

    def waits(self) -> list[LockWaits]:
        return []

    def executed_in(self, pid: int, source: LockSource | None = None) -> None:
        raise AssertionError

    def close(self) -> None:
        raise AssertionError


def rows(*waits: tuple[int, int, int, int]) -> "np.ndarray[tuple[int], np.dtype[np.void]]":
    """Of address, process, thread and nanoseconds: one wait each."""
    return np.array(
        [(address, process, tid, ns, 1, 0) for address, process, tid, ns in waits], LOCKS
    )


def at(call: str) -> int:
    return int(CALL_ADDRESS) + NUMBERS[call]


def test_a_call_is_one_row_for_each_thread_whatever_its_process() -> None:
    numbering = Numbering()
    waits = rows((FUTEX_AT, 1, 7, 5), (at("flock"), 1, 7, 20), (at("flock"), 2, 8, 30))
    made = as_wire_tables({"locks": waits}, numbering)["locks"]
    names = {one.lock: one for one in numbering.names()}
    found = [
        (names[int(row["lock"])].name, int(row["tid"]), int(row["wait_ns"]), int(row["waits"]))
        for row in made
    ]
    assert sorted(found) == [("flock", 7, 20, 1), ("flock", 8, 30, 1), ("mu", 7, 5, 1)]
    flock = next(one for one in names.values() if one.name == "flock")
    assert (flock.kind, flock.source, flock.address) == ("call", "system-call", 0)


def test_the_number_0_is_a_call_too() -> None:
    numbering = Numbering()
    made = as_wire_tables({"locks": rows((int(CALL_ADDRESS), 1, 7, 5))}, numbering)["locks"]
    assert made["wait_ns"].tolist() == [5]
    assert names_of_calls(os.uname().machine)[0] in {one.name for one in numbering.names()}


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_calls_that_lock_have_no_state_and_every_call_with_one_has_a_name(machine: str) -> None:
    names, kinds = names_of_calls(machine), kinds_of_calls(machine)
    for name in ("flock", "fcntl", "semop", "openat"):
        [number] = [number for number, one in names.items() if one == name]
        assert number not in kinds
    assert set(kinds) <= set(names)
    assert [names[number] for number, kind in kinds.items() if kind == RESTARTS] == [
        "restart_syscall"
    ]
    of_file = {names[number] for number, kind in kinds.items() if kind not in set(State)}
    assert {"splice", "tee", "copy_file_range", "sendfile", "read", "fsync"} <= of_file


# Takers by name: bounded, whatever is started meanwhile.


NOBODY = np.empty(0, np.uint32)


def takers(*rows: tuple[int, int, int]) -> Counts:
    """Rows of thread, process << 1 | kernel, nanoseconds."""
    tid, who, ns = np.array(rows, np.uint64).T
    return Counts(takers=Rows((tid, who), (ns,)))


def taker_rows(counts: Counts) -> list[tuple[int, ...]]:
    columns = (*counts.takers.keys, *counts.takers.values)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_processes_of_one_name_are_one() -> None:
    by_name = ProcessesByName(lambda pid: ("cc1" if pid < 90 else "ld", False))
    folded = by_name.fold(takers((1, 10 << 1, 5), (1, 11 << 1, 6), (1, 95 << 1, 7)), PID, NOBODY)
    assert taker_rows(folded) == [(1, 10 << 1, 11), (1, 95 << 1, 7)]
    later = by_name.fold(takers((1, 12 << 1, 8), (2, 11 << 1, 1)), PID, NOBODY)
    assert taker_rows(later) == [(1, 10 << 1, 8), (2, 10 << 1, 1)]
    assert by_name.name(10) == "cc1"


def test_the_process_itself_the_idle_task_and_kernel_threads_stay_apart() -> None:
    by_name = ProcessesByName(lambda _: ("same", True))
    found = ((1, 0, 1), (1, 1, 2), (1, 20 << 1, 3), (1, 20 << 1 | 1, 4), (1, PID << 1, 5))
    assert taker_rows(by_name.fold(takers(*found), PID, NOBODY)) == list(found)


def test_there_are_only_so_many_names() -> None:
    by_name = ProcessesByName(lambda pid: (f"name {pid}", False))
    many = takers(*((1, pid << 1, 1) for pid in range(1000, 4000)))
    assert len(taker_rows(by_name.fold(many, PID, NOBODY))) == 1024
    assert len(taker_rows(by_name.fold(many, PID, NOBODY))) == 1024


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
    assert taker_rows(folded) == [(1, 10 << 1, 11), (1, 95 << 1, 7)]


# What threads left that have ended, and wakers that are others'.


ENDED_PID = np.uint64(32)
SLOTS = np.array([(10, 101), (10, 102), (11, 111)], [("tgid", "u4"), ("tid", "u4")])


def waker(pid: int, tid: int = 0) -> int:
    return pid << 32 | tid


def edges(*rows: tuple[int, int, int, int, int]) -> Counts:
    """Rows of thread, waker, address, process and count."""
    *keys, count = (column(*values) for values in zip(*rows, strict=True))
    return Counts(edges=Rows(tuple(keys), (count, count, count)))


def listed(counts: Counts) -> list[tuple[int, ...]]:
    columns = (*counts.edges.keys, counts.edges.values[0])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_threads_that_have_ended_are_the_thread_0() -> None:
    living = Living(SLOTS)
    assert living.pids.tolist() == [10, 11]
    wakers = column(waker(10, 101), waker(10, 109), waker(10), 0)
    assert living.lack(wakers).tolist() == [False, True, False, False]
    left = edges(
        (101, waker(10, 109), 0xA0, 10, 1),
        (101, waker(10, 108), 0xA0, 10, 2),
        (109, waker(10, 101), 0xA0, 10, 4),
        # The same address in another process is another lock.
        (108, waker(10, 101), 0xA0, 11, 8),
    )
    assert listed(without_dead(left, living)) == [
        (0, waker(10, 101), 0xA0, 10, 4),
        (0, waker(10, 101), 0xA0, 11, 8),
        (101, waker(10), 0xA0, 10, 3),
    ]


def test_threads_of_others_are_their_processes() -> None:
    found = edges((101, waker(10, 102), 0, 0, 1), (101, waker(11, 111), 0, 0, 2))
    assert listed(without_foreign(found, 10)) == [
        (101, waker(10, 102), 0, 0, 1),
        (101, waker(11), 0, 0, 2),
    ]
    assert without_foreign(found, EndedGroup()) is found


class EndedGroup:
    pids = np.array([10, 11], np.uint32)

    def names(self) -> dict[int, str]:
        return {}


def test_whose_is_one_process_or_several() -> None:
    pids = np.array([11, 9, 10], np.uint32)
    assert are_of(pids, 10).tolist() == [False, False, True]
    assert are_of(pids, EndedGroup()).tolist() == [True, False, True]


def test_of_many_rows_the_rarest_are_added_up_by_process() -> None:
    many = edges(*((0, waker(10, tid), tid, 10, tid) for tid in range(1, 21)))
    assert bounded(many) is many
    kept, ended._KEPT_ROWS = ended._KEPT_ROWS, 16
    try:
        rows = listed(bounded(many))
    finally:
        ended._KEPT_ROWS = kept
    assert rows[0] == (0, waker(10), 0, 0, sum(range(1, 13)))
    assert len(rows) == 9
