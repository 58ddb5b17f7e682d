"""Time that the CPU limit of a control group holds threads, against the group's own account."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from capabilities import missing, needs
from ledger_keeper import LedgerKeeper
from processes import wait_until
from programs.cpu_quota import cpu_quota
from programs.hogs import Hog
from tidscope_collector.ebpf.obstacles import missing_in_kernel
from tidscope_collector.waits.programs import THREAD_THROTTLING
from tidscope_collector.waits.source import THROTTLED
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf")]

MS = 1_000_000
SHARE = 0.2
QUEUED = [State.PREEMPTED, State.WOKEN]


@pytest.fixture(scope="module")
def keeper() -> Iterator[LedgerKeeper]:
    if reason := missing_in_kernel(THREAD_THROTTLING):
        raise missing("thread-throttling", reason)
    made = LedgerKeeper()
    yield made
    made.close()


@contextmanager
def limited(keeper: LedgerKeeper) -> Iterator[tuple[Hog, Path]]:
    """A watched process of one thread on one CPU, and its control group, with a limit."""
    with Hog(max(os.sched_getaffinity(0))) as hog, cpu_quota(hog.pid, SHARE) as folder:
        keeper.watch(hog.pid)
        yield hog, folder
        keeper.forget(hog.pid)


def throttled_ns(folder: Path) -> int:
    """For how long a group's queues were throttled, added up when each of that ends."""
    counts = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
    if "throttled_usec" in counts:
        return int(counts["throttled_usec"]) * 1000
    return int(counts["throttled_time"])


class Account(NamedTuple):
    """Account of a thread at a moment at which no limit holds it.

    Attributes:
        group_ns: throttled time of its group.
        ns: nanoseconds in each state with the stay under way, by number of the state.
        finished_ns: the same without the stay under way.
        began_ns: CLOCK_MONOTONIC since when the ledger is kept, by the sum of its states.
    """

    group_ns: int
    ns: npt.NDArray[np.int64]
    finished_ns: npt.NDArray[np.int64]
    began_ns: int


def account(keeper: LedgerKeeper, hog: Hog, folder: Path) -> Account:
    """Wait for a moment at which no limit holds the thread."""
    found: Account | None = None

    def is_between() -> bool:
        nonlocal found
        group_ns = throttled_ns(folder)
        ledgers = keeper.read(hog.pid)
        ns = ledgers.at(ledgers.read_ns)[0].astype(np.int64)
        finished = ledgers.ns[0].astype(np.int64)
        found = Account(group_ns, ns, finished, int(ledgers.began_ns[0]))
        return ledgers.state[0] != State.THROTTLED and throttled_ns(folder) == group_ns

    wait_until(is_between)
    assert found is not None
    return found


def await_throttling(folder: Path, ns: int) -> None:
    """Wait until a group has been throttled for so much longer."""
    before = throttled_ns(folder)
    wait_until(lambda: throttled_ns(folder) - before >= ns)


def test_a_thread_is_throttled_as_long_as_its_group_on_its_cpu(keeper: LedgerKeeper) -> None:
    with limited(keeper) as (hog, folder):
        outer_ns = time.monotonic_ns()
        before, ran_ns = account(keeper, hog, folder), hog.run_ns()
        await_throttling(folder, 500 * MS)
        ran_ns, after = hog.run_ns() - ran_ns, account(keeper, hog, folder)
        outer_ns = time.monotonic_ns() - outer_ns
    grown = after.ns - before.ns
    expected = after.group_ns - before.group_ns
    # The thread leaves its CPU microseconds after it is marked, and interrupts come in between.
    assert abs(int(grown[State.THROTTLED]) - expected) <= 0.02 * expected + MS
    # States add up to the ledger's age, and the thread never waited for anything else.
    assert before.began_ns == after.began_ns
    assert grown.sum() <= outer_ns
    awake = grown[State.ON_CPU] + grown[QUEUED].sum()
    assert awake + grown[State.THROTTLED] == grown.sum()
    # The rest of its wall time it ran or was queued behind others; see `Hog.run_ns`.
    assert grown.sum() - ran_ns - grown[QUEUED].sum() >= grown[State.THROTTLED] - 20 * MS


def test_a_limit_of_a_group_above_throttles_too(keeper: LedgerKeeper) -> None:
    with limited(keeper) as (hog, folder):
        inner = folder / "inner"
        inner.mkdir()
        (inner / "cgroup.procs").write_text(str(hog.pid))
        try:
            before = account(keeper, hog, folder)
            await_throttling(folder, 300 * MS)
            after = account(keeper, hog, folder)
        finally:
            (folder.parent / "cgroup.procs").write_text(str(hog.pid))
            inner.rmdir()
    expected = after.group_ns - before.group_ns
    throttled = int((after.ns - before.ns)[State.THROTTLED])
    assert abs(throttled - expected) <= 0.02 * expected + MS


def test_a_throttled_stay_under_way_is_seen_and_ends_when_the_limit_lets_go(
    keeper: LedgerKeeper,
) -> None:
    states, times = list[State](), list[int]()
    with limited(keeper) as (hog, _):

        def has_gone_round() -> bool:
            ledgers = keeper.read(hog.pid)
            states.append(State(ledgers.state[0]))
            times.append(int(ledgers.at(ledgers.read_ns)[0, State.THROTTLED]))
            awake = [state for state in states if state != State.THROTTLED]
            return len(states) - len(awake) >= 20 and len(awake) >= 20

        wait_until(has_gone_round)
    assert set(states) <= {State.ON_CPU, State.THROTTLED, *QUEUED}
    # Time reported of a stay in progress is never taken back when the stay ends.
    assert min(np.diff(times)) >= -MS


def test_a_thread_that_is_moved_is_throttled_no_longer_than_its_group(
    keeper: LedgerKeeper,
) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise missing("two-cpus")
    with limited(keeper) as (hog, folder):
        before = account(keeper, hog, folder)
        for cpu in cpus[:2] * 5:
            wait_until(lambda: keeper.read(hog.pid).state[0] == State.THROTTLED)
            os.sched_setaffinity(hog.pid, {cpu})
        # The hog's group is throttled on both CPUs.
        after = account(keeper, hog, folder)
        # Out of the group, nothing holds it.
        (folder.parent / "cgroup.procs").write_text(str(hog.pid))
        ran_ns = hog.run_ns()
        wait_until(lambda: keeper.read(hog.pid).state[0] != State.THROTTLED)
        free = keeper.read(hog.pid).ns[0].astype(np.int64)
        wait_until(lambda: hog.run_ns() - ran_ns > 100 * MS)
        last = keeper.read(hog.pid).ns[0].astype(np.int64)
    grown = after.ns - before.ns
    assert before.began_ns == after.began_ns
    assert 0 < grown[State.THROTTLED] <= after.group_ns - before.group_ns + MS
    # A stay under way is one in a run queue for microseconds, until the limit is known to hold it.
    assert (grown >= -MS).all()
    assert grown[State.ON_CPU] + grown[QUEUED].sum() + grown[State.THROTTLED] == grown.sum()
    assert abs(int(last[State.THROTTLED] - free[State.THROTTLED])) <= MS


def test_a_thread_without_a_limit_is_never_throttled(keeper: LedgerKeeper) -> None:
    with Hog(max(os.sched_getaffinity(0))) as hog:
        keeper.watch(hog.pid)
        ran_ns = hog.run_ns()
        wait_until(lambda: hog.run_ns() - ran_ns > 300 * MS)
        found = keeper.read(hog.pid)
        keeper.forget(hog.pid)
    assert found.ns[0, State.THROTTLED] == 0
    assert found.state[0] in (State.ON_CPU, *QUEUED)


def test_a_kernel_that_does_not_tell_has_no_such_state_and_counts_it_as_queued(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    absent = replace(THREAD_THROTTLING, type="no_function_of_any_kernel")
    monkeypatch.setattr("tidscope_collector.waits.programs.THREAD_THROTTLING", absent)
    older = LedgerKeeper()
    try:
        with Hog(max(os.sched_getaffinity(0))) as hog, cpu_quota(hog.pid, SHARE) as folder:
            target = older.watch(hog.pid)
            # The group also counts what of a throttled period lies before the ledger.
            await_throttling(folder, 1)
            before = account(older, hog, folder)
            await_throttling(folder, 300 * MS)
            after = account(older, hog, folder)
            older.forget(hog.pid)
    finally:
        older.close()
    assert THROTTLED not in target.fields
    [reason] = [one.reason for one in target.absent if one.field == THROTTLED]
    assert "throttling of single threads (new in 6.18)" in reason
    # The limit may hold the thread at the first account, and the group counts that at its end.
    queued = after.ns[QUEUED].sum() - before.finished_ns[QUEUED].sum()
    expected = after.group_ns - before.group_ns
    assert queued >= 0.98 * expected - MS
    assert before.began_ns == after.began_ns
