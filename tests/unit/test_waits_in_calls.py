"""Waits in system calls that are no state of their own have numbers and names beside locks."""

import os

import numpy as np
import numpy.typing as npt
import pytest
from tidscope_collector.locks.locks import LockWaits
from tidscope_collector.locks.registry import Addresses, LockName, LockRegistry, Numbers
from tidscope_collector.locks.runtime_locks import LockSource
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.slots import CALL_ADDRESS
from tidscope_collector.waits.states import RESTARTS, State, kinds_of_calls
from tidscope_collector.waits.tables import LOCKS
from tidscope_collector.waits.wire_tables import as_wire_tables

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
