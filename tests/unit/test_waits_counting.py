"""What is counted beside ledgers, from slots and hash maps to tables: also of what has ended."""

from collections.abc import Iterable
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from builders import joined
from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.watched import Whose, are_of
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.waits import counting
from tidscope_collector.waits.counting import Counting
from tidscope_collector.waits.slots import (
    CONTROL,
    DETAIL,
    SLOT,
    SLOTS,
    Indices,
    Ledgers,
    Slots,
)
from tidscope_collector.waits.states import State

LOCK = 0xA0


class Group:
    """Processes 10 and 20; hashed by identity."""

    def __init__(self, *pids: int) -> None:
        self.pids = np.array(pids, np.uint32)

    def names(self) -> dict[int, str]:
        return {pid: f"program {pid}" for pid in self.pids.tolist()}


class Table:
    """Stands for a hash map of the kernel."""

    def __init__(self, key: np.dtype[np.void], value: np.dtype[np.generic]) -> None:
        self.keys, self.values = np.empty(0, key), np.empty(0, value)

    def fill(self, *rows: tuple[object, object]) -> None:
        keys, values = zip(*rows, strict=True)
        self.keys = np.array(list(keys), self.keys.dtype)
        self.values = np.array(list(values), self.values.dtype)

    def read(self) -> tuple[Slots, Slots]:
        return self.keys.copy(), self.values.copy()

    def remove(self, keys: Slots) -> None:
        left = ~np.isin(self.keys, keys)
        self.keys, self.values = self.keys[left], self.values[left]


class Counted:
    """Slots of threads, and what counts for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.maps: dict[int, Table] = {}

        def table(
            number: int, key: np.dtype[np.void], value: np.dtype[np.generic], _: int
        ) -> Table:
            return self.maps.setdefault(number, Table(key, value))

        monkeypatch.setattr(counting, "HashMap", table)
        self.names = ("edges", "takers", "call_counts", "names")
        self.slots = np.zeros(SLOTS, SLOT)
        self.details = np.zeros(SLOTS, DETAIL)
        self.control = np.zeros(1, CONTROL)
        self.counting = Counting(
            cast(libbpf.Program, self),
            self.slots,
            self.details,
            self.control,
            ProcFs(Path("/nowhere")),
        )

    def map(self, name: str) -> int:
        return self.names.index(name)

    def table(self, name: str) -> Table:
        return self.maps[self.map(name)]

    def give(self, *threads: tuple[int, int]) -> None:
        """Threads, by ids of process and thread, get the first slots."""
        self.control["used"] = len(threads)
        for index, (pid, tid) in enumerate(threads):
            self.slots["tgid"][index], self.slots["tid"][index] = pid, tid

    def read(self, whose: Whose) -> tuple[Ledgers, Indices]:
        used = self.slots[: int(self.control["used"][0])]
        mine = np.flatnonzero(are_of(used["tgid"], whose))
        rows, none = self.slots[mine], np.zeros(len(mine), np.int64)
        state = np.where(rows["exit_ns"], State.ENDED, State.ON_CPU).astype(np.uint8)
        ledgers = Ledgers(
            rows["tid"].copy(), none, none, rows["ns"].copy(), state, none, none > 0,
            none.astype(np.uint32), 1,
        )  # fmt: skip
        return ledgers, mine

    def tables(self, whose: Whose) -> dict[str, list[tuple[object, ...]]]:
        made = self.counting.tables(whose, lambda: self.read(whose))
        return {name: table.tolist() for name, table in joined(made).items()}

    def end(self, indices: Iterable[int]) -> None:
        """Threads end, and their slots are freed."""
        rows = np.array(list(indices), np.intp)
        self.counting.keep(rows, self.slots["ns"][rows].copy())
        self.details[rows] = 0
        self.slots["tgid"][rows] = 0
        self.slots["generation"][rows] += np.uint64(1)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    made = Counted(monkeypatch)
    made.give((10, 101), (10, 102), (20, 201))
    made.details["edges"][0, 0] = (10 << 32 | 102, LOCK, 3, 30, 1)
    made.details["edges"][1, 0] = (20 << 32 | 201, 0, 2, 20, 1)
    made.details["edges"][2, 0] = (10 << 32 | 101, LOCK, 1, 10, 1)
    made.details["takers"][2, 0] = (10 << 1, 5)
    made.slots["ns"][2, State.PREEMPTED] = 5
    made.details["histogram"][2, State.PREEMPTED, 0] = 1
    return made


def test_of_one_process_threads_of_others_are_their_processes(counted: Counted) -> None:
    counted.counting.begin(10)
    tables = counted.tables(10)
    assert [row[:3] for row in tables["wakes"]] == [(102, 10, 101), (0, 20, 102)]
    assert tables["locks"] == [(LOCK, 10, 101, 30, 3, 0), (LOCK, 10, 102, 0, 0, 3)]
    assert tables["takers"] == []


def test_of_a_group_edges_between_processes_are_by_thread(counted: Counted) -> None:
    group = Group(10, 20)
    counted.counting.begin(group)
    tables = counted.tables(group)
    assert [(*row[:3], row[7]) for row in tables["wakes"]] == [
        (101, 10, 201, b"program 10"),
        (102, 10, 101, b"program 10"),
        (201, 20, 102, b"program 20"),
    ]
    # One address in two processes: two locks.
    assert [row[:3] for row in tables["locks"]] == [
        *((LOCK, 10, 101), (LOCK, 10, 102), (LOCK, 20, 101), (LOCK, 20, 201))
    ]
    assert tables["takers"] == [(201, 10, 0, 5, b"program 10")]
    assert tables["stays"] == [(201, State.PREEMPTED, 0, 1)]


def test_what_ended_threads_leave_is_everybodys_who_counted_for_them(counted: Counted) -> None:
    group = Group(10, 20)
    for whose in (group, 10):
        counted.counting.begin(whose)
    counted.end([1, 2])
    assert [row[:5] for row in counted.tables(10)["wakes"]] == [
        (0, 10, 101, 0, 3),
        (0, 20, 0, 0, 2),
    ]
    found = counted.tables(group)
    assert [row[:5] for row in found["wakes"]] == [
        (0, 10, 101, 0, 3),
        (101, 10, 0, 0, 1),
        (0, 20, 0, 0, 2),
    ]
    assert found["stays"] == [(0, State.PREEMPTED, 0, 1)]
    counted.counting.forget(group)
    assert counted.tables(10) == counted.tables(10)


def test_rows_beside_slots_belong_to_those_who_had_them(counted: Counted) -> None:
    group = Group(10, 20)
    counted.counting.begin(group)
    counted.counting.calls = True
    histogram = np.zeros(24, np.uint32)
    counted.table("edges").fill(((2, 0, 7 << 32, 0), (7 << 32, 0, 4, 40, 1)))
    counted.table("takers").fill(((2, 0, 8 << 1), 6), ((99, 5, 8 << 1), 7))
    counted.table("call_counts").fill(((2, 0, 0, 0), (2, 20, histogram)))
    counted.table("names").fill(((7,), (b"waker", 1)), ((8,), (b"taker", 0)))
    counted.slots["ns"][2, State.PREEMPTED] = 11
    living = counted.tables(group)
    assert (0, 7, 201, 1, 4, 40, 1, b"waker") in living["wakes"]
    assert living["takers"] == [(201, 8, 0, 6, b"taker"), (201, 10, 0, 5, b"program 10")]
    assert [row[2:4] for row in living["calls"]] == [(2, 20)]
    assert len(counted.table("takers").keys) == 1  # nobody knows whose the other one was
    counted.end([2])
    ended = counted.tables(group)
    assert (0, 7, 0, 1, 4, 40, 1, b"waker") in ended["wakes"]
    assert ended["takers"] == [(0, 8, 0, 6, b"taker"), (0, 10, 0, 5, b"program 10")]
    assert [(row[0], *row[2:4]) for row in ended["calls"]] == [(0, 2, 20)]
    assert not any(len(counted.table(name).keys) for name in ("edges", "takers", "call_counts"))
