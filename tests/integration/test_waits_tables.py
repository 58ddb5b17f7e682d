"""Wake-ups, locks, takers and system calls against what programs count and measure themselves."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from capabilities import needs
from ledger_keeper import LedgerKeeper, Table, ledger_keeper
from programs.known_wakes import ROUNDS, Experiment, KnownWakes
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf")]

FEW = 0.02
"""Maximum share of wake-ups, and of time, from other causes: a fault, a signal."""


@pytest.fixture(scope="module")
def keeper() -> Iterator[LedgerKeeper]:
    made = LedgerKeeper()
    yield made
    made.close()


@pytest.fixture(scope="module")
def program(keeper: LedgerKeeper) -> Iterator[KnownWakes]:
    with KnownWakes() as made:
        keeper.watch(made.pid)
        yield made
        keeper.forget(made.pid)


def settled(keeper: LedgerKeeper, pid: int, experiment: Experiment) -> dict[str, Table]:
    """The tables once the threads of an experiment sleep: a round is entered when it is over."""
    tids = np.array([one.tid for one in experiment.threads], np.uint32)
    while True:
        ledgers = keeper.read(pid)
        if (ledgers.state[ledgers.find(tids)] == State.FUTEX).all():
            return keeper.tables(pid)
        time.sleep(0.005)


def reach_state(keeper: LedgerKeeper, pid: int, tid: int, state: State) -> None:
    """Return once a thread is in a state."""
    while True:
        ledgers = keeper.read(pid)
        if ledgers.state[ledgers.find(np.array([tid], np.uint32))].item() == state:
            return
        time.sleep(0.005)


def wake_ups_by_this_process(keeper: LedgerKeeper, pid: int) -> int:
    """How often processes with the name of this one, which count as one, woke the first thread."""
    wakes = keeper.tables(pid)["wakes"]
    name = Path("/proc/self/comm").read_text().strip()
    mine = wakes[(wakes["wakee_tid"] == pid) & (wakes["waker_name"] == name)]
    assert set(mine["waker_tid"].tolist()) <= {0}
    return int(mine["count"].sum())


def awake(keeper: LedgerKeeper, pid: int, tid: int) -> int:
    """Time of a thread on a CPU or preempted, in ns: its clock counts both as part of a wait."""
    ledgers = keeper.read(pid)
    [row] = ledgers.find(np.array([tid], np.uint32))
    return int(ledgers.ns[row, State.ON_CPU] + ledgers.ns[row, State.PREEMPTED])


def test_each_wake_up_of_a_ring_is_there(keeper: LedgerKeeper, program: KnownWakes) -> None:
    ring = program.run("ring")
    wakes = settled(keeper, program.pid, ring)["wakes"]
    tids = [one.tid for one in ring.threads]
    for at, one in enumerate(ring.threads):
        # A thread that is preempted between its write and its read finds the byte there already.
        assert one.sleeps >= ROUNDS // 2, "the ring is to sleep"
        into = wakes[wakes["wakee_tid"] == one.tid]
        from_before = into[into["waker_tid"] == tids[at - 1]]
        assert from_before["waker_pid"].tolist() == [program.pid]
        assert int(into["count"].sum()) == one.sleeps, "the kernel's count"
        # A further sleep can be a page fault.
        assert one.sleeps - int(from_before["count"][0]) <= 1 + FEW * ROUNDS
        asleep = int(from_before["blocked_ns"][0] + from_before["delay_ns"][0])
        assert asleep >= 0.98 * one.in_call_ns - awake(keeper, program.pid, one.tid)


def test_waits_for_a_mutex_are_its_address(keeper: LedgerKeeper, program: KnownWakes) -> None:
    held = program.run("mutex")
    tables = settled(keeper, program.pid, held)
    locks = tables["locks"][tables["locks"]["address"] == held.address]
    both = [one.tid for one in held.threads]
    assert sorted(locks["tid"].tolist()) == sorted(both)
    for one in held.threads:
        [lock] = locks[locks["tid"] == one.tid]
        other = sum(both) - one.tid
        [given] = tables["wakes"][
            (tables["wakes"]["wakee_tid"] == one.tid) & (tables["wakes"]["waker_tid"] == other)
        ]
        # The waker ends no other kind of wait, even if the kernel omitted a wake-up.
        [gave] = locks[locks["tid"] == other]["wakes"].tolist()
        assert int(given["count"]) == gave
        assert 0 <= int(lock["waits"]) - gave <= 1 + FEW * int(lock["waits"])
        assert int(lock["wait_ns"]) <= one.in_call_ns
        asleep = int(lock["wait_ns"] + given["delay_ns"])
        assert 0.98 * one.in_call_ns - awake(keeper, program.pid, one.tid) <= asleep
        assert asleep <= one.in_call_ns


def test_waits_for_a_condition_are_its_address(keeper: LedgerKeeper, program: KnownWakes) -> None:
    turns = program.run("condition")
    tables = settled(keeper, program.pid, turns)
    locks = tables["locks"]
    within = (locks["address"] >= turns.address) & (locks["address"] < turns.address + 48)
    for one in turns.threads:
        mine = locks[within & (locks["tid"] == one.tid)]
        assert 0 < int(mine["waits"].sum()) <= one.sleeps
        assert int(mine["wait_ns"].sum()) <= one.in_call_ns
        # With the mutex, which who is woken up has to take: that is within the call.
        [given] = tables["wakes"][
            (tables["wakes"]["wakee_tid"] == one.tid) & (tables["wakes"]["waker_tid"] != 0)
        ]
        asleep = int(locks["wait_ns"][locks["tid"] == one.tid].sum() + given["delay_ns"])
        assert 0.98 * one.in_call_ns - awake(keeper, program.pid, one.tid) <= asleep


def test_a_server_and_its_clients_wake_each_other(
    keeper: LedgerKeeper, program: KnownWakes
) -> None:
    served = program.run("server")
    wakes = settled(keeper, program.pid, served)["wakes"]
    ledgers = keeper.read(program.pid)
    server, *clients = served.threads
    # A client that is preempted after its request finds the answer waiting.
    assert sum(one.sleeps for one in served.threads) >= ROUNDS
    for client, ended in zip(clients, served.ended_by, strict=True):
        rows = wakes[(wakes["wakee_tid"] == server.tid) & (wakes["waker_tid"] == client.tid)]
        assert abs(int(rows["count"].sum()) - ended) <= 1 + FEW * ROUNDS
    tids = {one.tid for one in clients}
    for one, wakers, state in (
        (server, tids, State.POLL),
        *((client, {server.tid}, State.SOCKET_RECEIVE) for client in clients),
    ):
        into = wakes[wakes["wakee_tid"] == one.tid]
        expected = into[np.isin(into["waker_tid"], list(wakers))]
        assert int(into["count"].sum()) == one.sleeps, "the kernel's count"
        # Further sleeps can be page faults or waits for memory.
        assert one.sleeps - int(expected["count"].sum()) <= 1 + FEW * ROUNDS
        [row] = ledgers.find(np.array([one.tid], np.uint32))
        waited = int(ledgers.ns[row, state])
        assert waited <= one.in_call_ns
        asleep = waited + int(into["delay_ns"].sum())
        assert asleep >= 0.98 * one.in_call_ns - awake(keeper, program.pid, one.tid)


def test_over_loopback_who_sent_the_bytes_is_who_wakes(
    keeper: LedgerKeeper, program: KnownWakes
) -> None:
    """Not an interrupt, in which the kernel hands them over; now and then it is late with it."""
    served = program.run("network")
    wakes = settled(keeper, program.pid, served)["wakes"]
    server, *clients = served.threads
    assert sum(one.sleeps for one in served.threads) >= ROUNDS
    tids = {one.tid for one in clients}
    for one, wakers in ((server, tids), *((client, {server.tid}) for client in clients)):
        into = wakes[wakes["wakee_tid"] == one.tid]
        assert int(into["count"].sum()) == one.sleeps, "the kernel's count"
        expected = into[np.isin(into["waker_tid"], list(wakers))]
        assert int(expected["count"].sum()) >= 0.8 * one.sleeps


def test_a_timer_wakes_as_an_interrupt(keeper: LedgerKeeper, program: KnownWakes) -> None:
    slept = program.run("sleep")
    wakes = settled(keeper, program.pid, slept)["wakes"]
    [one] = slept.threads
    by_timer = wakes[(wakes["wakee_tid"] == one.tid) & (wakes["waker_pid"] == 0)]
    assert by_timer["waker_name"].tolist() == ["interrupt"]
    # A timer may end before the thread sleeps, if a hypervisor takes the CPU in between.
    assert ROUNDS * (1 - FEW) <= int(by_timer["count"][0]) <= ROUNDS * (1 + FEW)


def test_another_process_wakes_by_its_name(keeper: LedgerKeeper, program: KnownWakes) -> None:
    """This process writes to the pipe at which the program's first thread sleeps."""
    before = wake_ups_by_this_process(keeper, program.pid)
    reach_state(keeper, program.pid, program.pid, State.PIPE)
    program.run("sleep")
    assert wake_ups_by_this_process(keeper, program.pid) == before + 1


def test_stays_and_takers_add_up_to_the_ledger(keeper: LedgerKeeper, program: KnownWakes) -> None:
    ring = program.run("ring")
    tables = settled(keeper, program.pid, ring)
    ledgers = keeper.read(program.pid)
    takers, stays = tables["takers"], tables["stays"]
    for one in ring.threads:
        [row] = ledgers.find(np.array([one.tid], np.uint32))
        queued = int(ledgers.ns[row, State.PREEMPTED] + ledgers.ns[row, State.WOKEN])
        assert int(takers["ns"][takers["tid"] == one.tid].sum()) == queued
        known = takers[(takers["tid"] == one.tid) & (takers["name"] != "unknown")]
        # A thread that waits is moved to another CPU now and then; who ran there is not known.
        assert int(known["ns"].sum()) > 0
        waits = stays[(stays["tid"] == one.tid) & (stays["state"] == State.PIPE)]
        assert int(waits["count"].sum()) >= one.sleeps * (1 - FEW)


def test_system_calls_are_counted_when_asked_for(keeper: LedgerKeeper, program: KnownWakes) -> None:
    assert "calls" not in keeper.tables(program.pid)
    with ledger_keeper(calls=True) as counting, KnownWakes() as counted:
        counting.watch(counted.pid)
        ring = counted.run("ring")
        tables = settled(counting, counted.pid, ring)
        check_calls(counting, counted.pid, ring, tables)


def check_calls(keeper: LedgerKeeper, pid: int, ring: Experiment, tables: dict[str, Table]) -> None:
    """Each thread of a ring reads and writes once a round."""
    calls = tables["calls"]
    for one in ring.threads:
        mine = calls[calls["tid"] == one.tid]
        counts = dict(zip(mine["name"].tolist(), mine["count"].tolist(), strict=True))
        assert counts["read"] == counts["write"] == ROUNDS
        [reads] = mine[mine["name"] == "read"]
        in_calls = int(reads["ns"])
        assert 0.98 * one.in_call_ns - awake(keeper, pid, one.tid) <= in_calls
        assert in_calls <= one.in_call_ns
        stays = tables["call_stays"]
        rows = stays[(stays["tid"] == one.tid) & (stays["call"] == reads["call"])]
        assert int(rows["count"].sum()) == ROUNDS
