"""Waits of ledgers with the names of locks: what programs of known contention wait for."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from builders import joined
from capabilities import needs
from processes import start_ticks, wait_until
from programs.contended import contended_python
from tidscope_collector.locks.locks import Locks
from tidscope_collector.waits.ledger import LedgerKeeper
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf")]


@pytest.fixture(scope="module")
def keeper() -> Iterator[LedgerKeeper]:
    made = LedgerKeeper()
    yield made
    made.close()


@contextmanager
def watched(keeper: LedgerKeeper, pid: int) -> Iterator[None]:
    keeper.watch(pid)
    yield
    keeper.forget(pid)


def waits_by_kind(keeper: LedgerKeeper, pid: int) -> dict[tuple[int, str], int]:
    """Nanoseconds that each thread has waited at locks of each kind."""
    locks = Locks(pid, start_ticks(pid))
    rows = joined(keeper.tables(pid))["locks"]
    wait_until(lambda: bool(locks.numbers(rows["address"]).all()))
    kinds = {one.lock: one.kind for one in locks.names()}
    found: dict[tuple[int, str], int] = {}
    for row, lock in zip(rows, locks.numbers(rows["address"]).tolist(), strict=True):
        key = (int(row["tid"]), kinds[lock])
        found[key] = found.get(key, 0) + int(row["wait_ns"])
    locks.close()
    return found


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_wait_for_the_gil_while_another_one_holds_it(
    keeper: LedgerKeeper, threads: int
) -> None:
    """Each has it for one part of the time in so many, and waits for it in all others.

    They hold it asleep, so that they need hardly any CPU. What a busy machine lets one wait for a
    CPU meanwhile, with the lock or without it, is time in which the others may wait for the lock.
    """
    with contended_python(threads, work="hold") as program, watched(keeper, program.pid):
        threading.Event().wait(2)
        ledgers = keeper.read(program.pid)
        waits = waits_by_kind(keeper, program.pid)
        ns = dict(zip(ledgers.tid.tolist(), ledgers.ns, strict=True))
    gil = {tid: waits[tid, "gil"] for tid in ns.keys() - {program.pid}}
    held = sum(int(ns[tid][State.SLEEP]) for tid in gil)
    runnable = (State.ON_CPU, State.WOKEN, State.PREEMPTED)
    most_held = held + sum(int(ns[tid][state]) for tid in gil for state in runnable)
    waited, share = sum(gil.values()), (threads - 1) / threads
    assert waited / (waited + held) >= share - 0.1
    assert waited / (waited + most_held) <= share + 0.1
    for tid, waited_ns in gil.items():
        # They wait for no other lock, and the lock's waits are those of their ledgers.
        assert waited_ns == pytest.approx(int(ns[tid][State.FUTEX]), rel=0.1)
    assert waits.get((program.pid, "gil"), 0) < min(gil.values()) / 2
