"""Waits for locks by name, in ledgers and in frames, for programs of known contention."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import needs
from followed_target import FollowedTarget
from installation import installation
from ledger_keeper import LedgerKeeper, Table
from processes import start_ticks, wait_until
from programs.build import build_c
from programs.contended import attach_socket, contended_go, contended_java, contended_python
from programs.running import RunningProgram
from tidscope_collector.inspection.lock_kinds import GO_IDLE
from tidscope_collector.locks.locks import Locks
from tidscope_collector.locks.runtime_locks import ALL
from tidscope_collector.waits.source import LedgerOptions
from tidscope_collector.waits.states import State
from tidscope_wire.frame import split
from tidscope_wire.table_streams import decode_tables

DEADLOCKED = Path(__file__).resolve().parents[1] / "programs" / "deadlocked.c"

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


def waits_by_kind(rows: Table, pid: int) -> dict[tuple[int, str], int]:
    """Nanoseconds that each thread has waited at locks of each kind.

    Args:
        rows: waits by address.
        pid: process ID.
    """
    locks = Locks(pid, start_ticks(pid))
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
        rows = keeper.tables(program.pid)["locks"]
        later = keeper.read(program.pid)
        waits = waits_by_kind(rows, program.pid)
    ns = dict(zip(ledgers.tid.tolist(), ledgers.ns, strict=True))
    later_ns = dict(zip(later.tid.tolist(), later.ns, strict=True))
    gil = {tid: waits[tid, "gil"] for tid in ns.keys() - {program.pid}}
    held = sum(int(ns[tid][State.SLEEP]) for tid in gil)
    runnable = (State.ON_CPU, State.WOKEN, State.PREEMPTED)
    # Waits of threads are read between both ledgers, on a busy machine some time later.
    most_held = sum(int(later_ns[tid][state]) for tid in gil for state in (State.SLEEP, *runnable))
    waited, share = sum(gil.values()), (threads - 1) / threads
    assert waited / (waited + held) >= share - 0.1
    assert waited / (waited + most_held) <= share + 0.1
    for tid, waited_ns in gil.items():
        # The threads wait for one lock only. Its waits equal those of their ledgers, which a busy
        # machine reads some time before and after.
        least, most = (int(one[tid][State.FUTEX]) for one in (ns, later_ns))
        assert 0.9 * least <= waited_ns <= 1.1 * most
    assert waits.get((program.pid, "gil"), 0) < min(gil.values()) / 2


ATTACHED = "-XX:+StartAttachListener"
ASKING = LedgerOptions(ask_programs=True)


def names_in(followed: FollowedTarget, wanted: set[str]) -> dict[str, int]:
    """Kinds and numbers of locks by name, as soon as all that are wanted have waits."""
    while True:
        followed.next()
        tables = followed.seen.tables
        if not {"locks", "lock_names"} <= tables.keys():
            continue
        waited = set(tables["locks"]["lock"].tolist())
        rows = zip(
            tables["lock_names"]["name"].tolist(),
            tables["lock_names"]["lock"].tolist(),
            strict=True,
        )
        names = {name: lock for name, lock in rows if lock in waited}
        if names.keys() >= wanted:
            return names


def test_waits_for_the_gil_are_in_frames_by_thread() -> None:
    with contended_python(3, work="hold") as program, FollowedTarget(program.pid) as followed:
        number = names_in(followed, {"GIL"})["GIL"]
        tids = set(followed.seen.rows) - {program.pid}
        kinds = followed.seen.tables["lock_names"]
        assert kinds["kind"][kinds["lock"] == number].tolist() == ["gil"]

        def have_waited() -> bool:
            rows = followed.seen.tables["locks"]
            waited = rows[(rows["lock"] == number) & (rows["wait_ns"] > 0)]
            return tids <= set(waited["tid"].tolist())

        # A wait is counted when it ends.
        followed.until(have_waited)


def test_waits_that_last_name_who_holds_the_lock() -> None:
    with RunningProgram([build_c(DEADLOCKED)]) as program:
        assert program.line() == "ready"
        with FollowedTarget(program.pid) as followed:
            while len(followed.seen.tables.get("holders", ())) < 3:
                followed.next()
            tables = followed.seen.tables
        rows = tables["holders"]
        tasks = Path(f"/proc/{program.pid}/task")
        waiting, holding = (
            [(tasks / str(tid) / "comm").read_text().strip() for tid in rows[column].tolist()]
            for column in ("tid", "holder")
        )
    locks = dict(zip(tables["lock_names"]["lock"], tables["lock_names"]["name"], strict=True))
    found = zip(waiting, (locks[lock] for lock in rows["lock"].tolist()), holding, strict=True)
    assert set(found) == {
        ("first", "second_mutex", "second"),
        ("second", "first_mutex", "first"),
        ("behind", "first_mutex", "first"),
    }
    assert (rows["since_ns"] > 0).all()


@needs("go")
def test_a_go_program_is_asked_only_where_that_is_allowed() -> None:
    held = "mutex released by main.(*pool).use"
    with contended_go("profile") as program:
        with FollowedTarget(program.pid, ledger=ASKING) as followed:
            names = names_in(followed, {held, GO_IDLE})
            rows = followed.seen.tables["locks"]
            assert rows["tid"][rows["lock"] == names[held]].tolist() == [0]
        with FollowedTarget(program.pid) as followed:
            assert held not in names_in(followed, {GO_IDLE})


@needs("go")
async def test_a_confined_collector_reads_programs_where_it_may() -> None:
    """The collector connects to other ports than the backend's only for this and to steer.

    A Java virtual machine is asked twice, ten seconds apart, until there are waits.
    """
    monitor = "java.lang.Object in Contended.useMonitor"
    async with installation(options=("--no-steering", "--ask-programs")) as found:
        with contended_go("metrics") as program, contended_java(ATTACHED) as machine:
            await asyncio.to_thread(wait_until, attach_socket(machine.pid).exists)
            names = set[str]()
            for pid in (machine.pid, program.pid):
                await found.attach(pid, rate_hz=2)
            while not names >= {ALL, monitor}:
                _, data = await found.page.frame()
                tables = decode_tables(*split(data))
                if "lock_names" in tables:
                    names |= set(tables["lock_names"]["name"].tolist())
