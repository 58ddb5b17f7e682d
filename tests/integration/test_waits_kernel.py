"""Ledgers of threads against what the threads measure themselves and what the kernel counts."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from capabilities import missing, needs
from followed_target import FollowedTarget
from group_targets import GROUPS, control_group, move
from ledger_keeper import LedgerKeeper, Ledgers
from processes import stop, thread_states, wait_until
from programs.build import build_c
from programs.known_waits import KnownWaits, Report
from programs.time_parts import TimeParts
from stolen_time import stolen_ns, stolen_since
from tidscope_collector.waits.call_names import names_of_calls
from tidscope_collector.waits.states import State
from tidscope_collector.waits.wire_tables import CALL_ADDRESS

pytestmark = [needs("root"), needs("btf")]

WAITS = {
    "futex": (State.FUTEX,),
    "sleep": (State.SLEEP,),
    "pipe": (State.PIPE,),
    "eventfd": (State.PIPE,),
    "epoll": (State.POLL,),
    "select": (State.POLL,),
    "receive": (State.SOCKET_RECEIVE,),
    "socket": (State.SOCKET_RECEIVE,),
    "send": (State.SOCKET_SEND,),
    "accept": (State.SOCKET_ACCEPT,),
    "connect": (State.SOCKET_CONNECT,),
    "signal": (State.POLL,),
    "child": (State.CHILD,),
    "disk": (State.FILE_READ_DISK, State.FILE_READ),
    "fault": (State.PAGE_FAULT_DISK, State.PAGE_FAULT),
    "splice": (State.SOCKET_RECEIVE,),
    "flock": (State.OTHER_CALL,),
    "io_uring": (State.IO_URING,),
    "full": (State.PIPE,),
    "splice-send": (State.SOCKET_SEND,),
    "either": (State.FUTEX,),
}
ALSO = {"splice-send": (State.PIPE,), "splice": (State.PIPE,)}
"""States of further calls that a wait has to make: pipes are filled and emptied, and their pages
allocated, which on a busy machine may take milliseconds."""
PARKED = (State.POLL, State.FUTEX)
"""States of threads before and after a test: at a futex who tests poll(2), and all others in it."""
AROUND_NS = 2_000_000
"""Time of a call besides its wait, nanoseconds: stack faults, a clock read, the fork of a child."""

COMPUTES_AND_WAITS = """
import select, threading
threading.Thread(target=select.poll().poll).start()
print(flush=True)
while True: pass
"""
FROZEN = ("FROZEN", "frozen 1")
"""States of a frozen control group, by version."""
FREEZERS = [
    name for name in ("unified", ".", "freezer") if (GROUPS / name / "cgroup.procs").exists()
]


@pytest.fixture(scope="module")
def keeper() -> Iterator[LedgerKeeper]:
    made = LedgerKeeper()
    yield made
    made.close()


def await_state(pid: int, state: str) -> None:
    """Until all threads of a process are in a state that /proc names."""
    while thread_states(pid) - {state}:
        time.sleep(0.01)


def calls_of(pid: int) -> set[str]:
    """System calls in which threads of a process wait; ppoll(2) counts as poll(2)."""
    names = names_of_calls(os.uname().machine)
    calls = [file.read_text().split()[0] for file in Path(f"/proc/{pid}/task").glob("*/syscall")]
    found = {names.get(int(call), "") for call in calls if call.isdecimal()}
    return {"poll" if name == "ppoll" else name for name in found}


def by_tid(ledgers: Ledgers) -> dict[int, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return dict(
        zip(ledgers.tid.tolist(), ledgers.at(ledgers.read_ns).astype(np.int64), strict=True)
    )


@pytest.fixture(scope="module")
def waited(
    keeper: LedgerKeeper,
) -> tuple[Report, dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]]:
    """Return the threads' own report, and the growth of their ledgers by thread name."""
    with KnownWaits() as program:
        keeper.watch(program.pid)
        before = by_tid(keeper.read(program.pid))
        report = program.wait()
        after = by_tid(keeper.read(program.pid))
        keeper.forget(program.pid)
    return report, {one.name: after[one.tid] - before[one.tid] for one in report.threads}


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_is_counted_as_what_it_is(
    name: str,
    waited: tuple[Report, dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]],
) -> None:
    """Whatever else the machine does: the time in the call is the wait, the queue and the CPU."""
    report, grown = waited
    ns = grown[name]
    [one] = [one for one in report.threads if one.name == name]
    in_call = one.in_call_ns
    if name == "io_uring" and not in_call:
        raise missing("io_uring", "the kernel refuses one")
    wait = sum(int(ns[state]) for state in WAITS[name])
    known = (*WAITS[name], *ALSO.get(name, ()), *PARKED, State.ON_CPU, State.PREEMPTED, State.WOKEN)
    named = {State(state).name: int(ns[state]) for state in np.flatnonzero(ns).tolist()}
    assert wait > 0
    # A starting thread may wait for a lock of the C library and for memory of the process.
    beside = {State.FUTEX, State.OTHER_CALL, State.PAGE_FAULT} & set(WAITS[name])
    longest = one.whole_ns if beside else in_call
    assert wait <= longest + AROUND_NS, named
    # Others wait at a futex within a call, too: fork(2) takes the locks of the C library.
    parked = int(ns[State.FUTEX if State.POLL in WAITS[name] else State.POLL])
    assert int(ns.sum()) - parked >= in_call - AROUND_NS, named
    # Threads of one process also wait for its memory: in faults, and in calls that map it.
    anywhere = (State.PAGE_FAULT, State.PAGE_FAULT_DISK, State.OTHER_CALL)
    elsewhere = [int(ns[state]) for state in State if state not in (*known, *anywhere)]
    assert sum(elsewhere) <= AROUND_NS, named


def test_states_add_up_to_wall_time(keeper: LedgerKeeper) -> None:
    with TimeParts(run_ms=300) as program:
        began = time.monotonic_ns()
        keeper.watch(program.pid)
        first = keeper.read(program.pid)
        assert set(first.tid.tolist()) == {program.pid, *program.tids.values()}
        program.work()
        earliest = time.monotonic_ns()
        last = keeper.read(program.pid)
        latest = time.monotonic_ns()
        keeper.forget(program.pid)
    assert ((first.began_ns >= began) & (first.began_ns <= earliest)).all()
    assert ((last.since_ns >= first.since_ns) & (last.since_ns <= latest)).all()
    finished = last.began_ns + last.ns.sum(axis=1).astype(np.int64)
    assert (finished == last.since_ns).all()
    ends = last.began_ns + last.at(latest).sum(axis=1).astype(np.int64)
    assert (ends == latest).all()


def test_cpu_time_is_the_kernels_count() -> None:
    """To the nanosecond, for threads that sleep when both are read."""
    with TimeParts(run_ms=500) as program, FollowedTarget(program.pid) as followed:
        await_state(program.pid, "S")
        stolen = stolen_ns()
        followed.flush()
        before = {tid: dict(row) for tid, row in followed.seen.rows.items()}
        program.work()
        await_state(program.pid, "S")
        followed.flush()
        stolen = stolen_since(stolen)
        after = followed.seen.rows
    for name in program.tids:
        tid = program.tids[name]
        grown = {field: after[tid][field] - before[tid][field] for field in after[tid]}
        assert grown["state_on_cpu_ns"] == grown["cpu_run_ns"]
        # Threads that compute have no sleeps that make the queue uncertain. Time that a hypervisor
        # takes from a thread on a CPU counts as queued.
        if name in ("burner", "crowd-1", "crowd-2", "crowd-3"):
            queued = grown["state_preempted_ns"] + grown["state_woken_ns"]
            expected = grown["cpu_delay_ns"]
            assert queued == pytest.approx(expected, rel=0.001, abs=AROUND_NS + stolen)


@contextmanager
def frozen(pid: int, folder: Path) -> Iterator[None]:
    """Freeze a process by a control group, of version 2 or of the freezer of version 1."""
    move(pid, folder)
    version_2 = (folder / "cgroup.freeze").exists()
    switch, state = ("cgroup.freeze", "cgroup.events") if version_2 else ("freezer.state",) * 2
    (folder / switch).write_text("1" if version_2 else "FROZEN")
    try:
        wait_until(lambda: FROZEN[version_2] in (folder / state).read_text().splitlines())
        yield
    finally:
        (folder / switch).write_text("0" if version_2 else "THAWED")


@pytest.mark.parametrize("mount", FREEZERS)
@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_frozen_thread_is_stopped(keeper: LedgerKeeper, mount: str, when: str) -> None:
    """The thread computes or waits in a call, and was watched before or not."""
    words = [sys.executable, "-c", COMPUTES_AND_WAITS]
    with (
        control_group(mount, f"tidscope-frozen-{os.getpid()}") as folder,
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as program,
        ExitStack() as at_end,
    ):
        at_end.callback(program.kill)
        assert program.stdout is not None
        program.stdout.readline()
        wait_until(lambda: "poll" in calls_of(program.pid))
        if when == "before":
            keeper.watch(program.pid)
        with frozen(program.pid, folder):
            if when == "meanwhile":
                keeper.watch(program.pid)
            # The freezer of version 1 leaves who sleeps in a call where it is.
            stands = {State.STOPPED, State.POLL} if mount == "freezer" else {State.STOPPED}

            def is_stopped() -> bool:
                found = keeper.read(program.pid)
                main = found.state[found.tid == program.pid].tolist()
                return main == [State.STOPPED] and set(found.state.tolist()) <= stands

            # The group is frozen shortly before its last thread leaves its CPU.
            wait_until(is_stopped)
            before = keeper.read(program.pid)
            grown = by_tid(keeper.read(program.pid))[program.pid] - by_tid(before)[program.pid]
            assert grown.sum() == grown[State.STOPPED]
        keeper.forget(program.pid)


def test_a_wait_for_several_futexes_is_named_by_its_call(keeper: LedgerKeeper) -> None:
    """Not by the address of the list of them, which is on the waiter's stack."""
    with KnownWaits() as program:
        keeper.watch(program.pid)
        report = program.wait()
        locks = keeper.tables(program.pid)["locks"]
        keeper.forget(program.pid)
    [tid] = [one.tid for one in report.threads if one.name == "either"]
    rows = locks[(locks["tid"] == tid) & (locks["address"] >= CALL_ADDRESS)]
    names = names_of_calls(os.uname().machine)
    waits = {names[int(row["address"] - CALL_ADDRESS)]: int(row["waits"]) for row in rows}
    assert waits["futex_waitv"] > 0


def test_a_stopped_process_is_stopped(keeper: LedgerKeeper) -> None:
    with KnownWaits() as program:
        keeper.watch(program.pid)
        stop(program.pid)
        stopped = time.monotonic_ns()
        # /proc names the state shortly before the thread leaves its CPU.
        wait_until(lambda: set(keeper.read(program.pid).state.tolist()) == {State.STOPPED})
        before = keeper.read(program.pid)
        grown = by_tid(keeper.read(program.pid))
        for tid, ns in by_tid(before).items():
            difference = grown[tid] - ns
            assert difference.sum() == difference[State.STOPPED]
        assert (time.monotonic_ns() - stopped) > 0
        os.kill(program.pid, signal.SIGCONT)
        keeper.forget(program.pid)


def test_calls_of_32_bit_programs_are_not_taken_for_others(keeper: LedgerKeeper) -> None:
    """Their nanosleep has the number that sync has in 64-bit programs."""
    source = Path(__file__).parents[1] / "programs" / "sleep_32.c"
    flags = ("-m32", "-nostdlib", "-static", "-ffreestanding", "-fno-pie", "-no-pie")
    try:
        sleeper = subprocess.Popen([build_c(source, *flags)])
    except (OSError, RuntimeError) as error:
        raise missing("32-bit", str(error)) from error
    with sleeper:
        try:
            await_state(sleeper.pid, "S")
            keeper.watch(sleeper.pid)
            state = keeper.read(sleeper.pid).state.tolist()
            keeper.forget(sleeper.pid)
        finally:
            sleeper.kill()
    assert state == [State.OTHER_CALL]


def test_a_call_goes_on_as_what_it_was_after_a_stop(keeper: LedgerKeeper) -> None:
    """The kernel goes on with it by another system call."""
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        try:
            await_state(sleeper.pid, "S")
            keeper.watch(sleeper.pid)
            stop(sleeper.pid)
            os.kill(sleeper.pid, signal.SIGCONT)
            await_state(sleeper.pid, "S")
            after = keeper.read(sleeper.pid)
            keeper.forget(sleeper.pid)
        finally:
            sleeper.kill()
    assert after.state.tolist() == [State.SLEEP]
