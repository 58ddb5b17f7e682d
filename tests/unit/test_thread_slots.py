"""Whom a program counts for: processes one by one and groups of them, and when slots are freed."""

import os
from collections.abc import Iterator
from typing import cast

import numpy as np
import pytest
from tidscope_collector.ebpf import libbpf, thread_slots
from tidscope_collector.ebpf.thread_slots import WATCHED, ThreadSlots

SLOT = np.dtype(
    [
        *(("tgid", "u4"), ("tid", "u4"), ("start_ns", "i8"), ("exit_ns", "i8")),
        ("generation", "u8"),
    ]
)
CONTROL = np.dtype([("used", "u4"), ("pad", "u4")])
COUNT = 128
WATCH = np.dtype([("come", "u4"), ("gone", "u4")])


class Group:
    """A group's processes; hashed by identity."""

    def __init__(self, *pids: int) -> None:
        self.pids = np.array(pids, np.uint32)

    def names(self) -> dict[int, str]:
        return {}


class Program:
    """Maps in memory, and what runs."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.running: tuple[str, ...] = ()
        self.targets: set[int] = set()

    def map(self, name: str) -> int:
        if name not in self.files:
            self.files[name] = os.memfd_create(name)
            os.ftruncate(self.files[name], max(WATCHED * WATCH.itemsize, COUNT * SLOT.itemsize))
        return self.files[name]

    def attach(self, names: tuple[str, ...]) -> None:
        self.running = (*self.running, *names)

    def detach(self, names: tuple[str, ...] | None = None) -> None:
        self.running = tuple(one for one in self.running if names is not None and one not in names)

    def close(self) -> None:
        self.detach()
        for file in self.files.values():
            os.close(file)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    made = Program()

    def add(_: int, pid: int, __: int) -> bool:
        new = pid not in made.targets
        made.targets.add(pid)
        return new

    def remove(_: int, pid: int) -> bool:
        there = pid in made.targets
        made.targets.discard(pid)
        return there

    monkeypatch.setattr(libbpf, "add", add)
    monkeypatch.setattr(libbpf, "remove", remove)
    yield made
    made.close()


@pytest.fixture
def held(program: Program) -> ThreadSlots:
    return ThreadSlots(cast(libbpf.Program, program), ("count",), SLOT, CONTROL, COUNT)


def give(held: ThreadSlots, *owners: int) -> None:
    """Threads of these processes get the first slots."""
    held.control["used"] = len(owners)
    held.slots["tgid"][: len(owners)] = owners


def difference(program: Program, pid: int) -> int:
    """How many of the processes with such an id are targets."""
    watched = np.frombuffer(os.pread(program.map("watched"), WATCHED * 8, 0), WATCH)[pid % WATCHED]
    return int(np.int32(np.uint32(int(watched["come"]) - int(watched["gone"]) & 0xFFFFFFFF)))


def test_a_process_is_counted_for_as_long_as_anybody_watches_it(
    program: Program, held: ThreadSlots
) -> None:
    assert held.watch(7)
    assert not held.watch(7)
    assert (program.running, program.targets, difference(program, 7)) == (("count",), {7}, 1)
    give(held, 7, 8)
    assert not held.forget(7)
    assert held.in_use == 2
    assert held.forget(7)
    assert (program.running, program.targets, difference(program, 7)) == ((), set(), 0)
    assert held.slots["tgid"][:2].tolist() == [0, 8]
    assert held.freed == 1


def test_a_group_is_those_that_it_has_now(program: Program, held: ThreadSlots) -> None:
    group = Group(5, 6)
    new, gone = held.follow(group)
    assert (sorted(new), gone.tolist()) == ([5, 6], [])
    assert held.follow(group)[0] == []
    assert held.followed == 1
    # The kernel has made their child a target already: nothing of it is to be begun.
    program.targets.add(9)
    group.pids = np.array([6, 9], np.uint32)
    give(held, 5, 6, 9)
    new, gone = held.follow(group)
    assert (new, gone.tolist()) == ([], [0])
    assert program.targets == {6, 9}
    assert held.leave(group).tolist() == [1, 2]
    assert held.leave(group).tolist() == []
    assert (program.running, program.targets) == ((), set())
    assert difference(program, 5) == difference(program, 6) == 0


def test_an_empty_group_keeps_the_program_running(program: Program, held: ThreadSlots) -> None:
    group = Group()
    held.follow(group)
    held.set_attached(("count", "calls"))
    assert program.running == ("count", "calls")
    held.watch(3)
    held.forget(3)
    assert program.running == ("count", "calls")
    held.leave(group)
    assert not program.running


def test_slots_are_freed_when_all_who_watch_have_had_their_numbers(held: ThreadSlots) -> None:
    first, second = Group(5), Group(5)
    for group in (first, second):
        held.follow(group)
    held.watch(6)
    give(held, 5, 6)
    both = np.array([0, 1])
    assert held.claim(both, first).tolist() == [1]
    assert held.claim(both[:1], first).tolist() == []
    assert held.claim(both[:1], second).tolist() == [0]
    held.free(both)
    assert held.in_use == 0
    assert held.slots["generation"][:2].tolist() == [1, 1]


def test_those_whose_records_never_come_are_tidied_away(
    held: ThreadSlots, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    monkeypatch.setattr(libbpf, "write_map", lambda _, __, index: written.append(index))
    give(held, 5, 6)
    held.slots["exit_ns"][0] = 1
    monkeypatch.setattr(thread_slots, "_TIDY_NS", 0)
    late = [held.tidy().tolist() for _ in range(6)]
    assert late == [[], [], [], [], [], [0]]
    held.free(np.array(late[-1]))
    held.recycle(1 << 62)
    assert written == [0]
    assert held.slots["exit_ns"][0] == 0
