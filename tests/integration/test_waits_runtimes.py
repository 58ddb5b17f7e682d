"""Ledgers of CPython, Go and Java programs against what these measure themselves."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from capabilities import needs
from ledger_keeper import LedgerKeeper
from programs.runtime_waits import RuntimeWaits, Waiter
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf"), needs("go")]

QUEUE = (State.PREEMPTED, State.WOKEN)
SLACK = 0.02
"""Share of wall time between a program's clock reads and its system calls."""


@dataclass(frozen=True)
class Ledger:
    """Ledger of a thread while its program worked, and the thread's own account.

    Attributes:
        said: by the program.
        ns: growth of each state of the ledger.
        window_ns: from before the work to after it.
    """

    said: Waiter
    ns: dict[State, int]
    window_ns: int

    @property
    def queue_ns(self) -> int:
        return sum(self.ns[state] for state in QUEUE)

    @property
    def outside_ns(self) -> int:
        """In the window, and not in what it says: it waits at a futex then, but for its CPU time.

        A JVM's thread loads classes as it says what it did: that may take it tens of milliseconds.
        """
        cpu_ns = max(0, self.ns[State.ON_CPU] - self.said.cpu_ns)
        return self.window_ns - self.said.wall_ns - cpu_ns

    @property
    def slack_ns(self) -> int:
        return int(SLACK * self.window_ns)

    def rest(self, *states: State) -> int:
        """All time that is in other states than these, on CPU or in the queue."""
        known = (*states, *QUEUE, State.ON_CPU)
        return sum(ns for state, ns in self.ns.items() if state not in known)


@pytest.fixture(scope="module")
def keeper() -> Iterator[LedgerKeeper]:
    made = LedgerKeeper()
    yield made
    made.close()


def watched(keeper: LedgerKeeper, language: str) -> dict[str, Ledger]:
    """Let a program work; the ledgers of all of its threads add up to the time that passed."""
    with RuntimeWaits(language) as program:
        keeper.watch(program.pid)
        first, began = keeper.read(program.pid), time.monotonic_ns()
        before = dict(zip(first.tid.tolist(), first.at(began), strict=True))
        said = program.work()
        last, ended = keeper.read(program.pid), time.monotonic_ns()
        after = last.at(ended)
        keeper.forget(program.pid)
    for row, start_ns in enumerate(last.began_ns.tolist()):
        wall = (ended if last.state[row] else int(last.since_ns[row])) - start_ns
        assert int(after[row].sum()) == pytest.approx(wall, rel=0.001)
    rows = {tid: row for row, tid in enumerate(last.tid.tolist())}
    return {
        name: Ledger(
            one,
            {
                state: int(after[rows[one.tid], state] - before[one.tid][state])
                for state in State
                if state
            },
            ended - began,
        )
        for name, one in said.items()
    }


@pytest.fixture(scope="module")
def python(keeper: LedgerKeeper) -> dict[str, Ledger]:
    return watched(keeper, "python")


@pytest.fixture(scope="module")
def go(keeper: LedgerKeeper) -> dict[str, Ledger]:
    return watched(keeper, "go")


@pytest.fixture(scope="module")
def java(keeper: LedgerKeeper) -> dict[str, Ledger]:
    return watched(keeper, "java")


@pytest.mark.parametrize("language", ["go", "java"])
def test_one_of_two_waits(language: str, request: pytest.FixtureRequest) -> None:
    """However they take turns, so that the tests of single threads are about something."""
    ledgers: dict[str, Ledger] = request.getfixturevalue(language)
    holders = [ledgers[name] for name in ("holder-1", "holder-2")]
    assert sum(one.said.waited_ns for one in holders) > 0.1 * holders[0].window_ns


def check_wait(ledger: Ledger, state: State) -> None:
    """A thread that waits once: the wait is in its state, but for the queue after it."""
    waited = ledger.said.waited_ns
    found = ledger.ns[state] - (ledger.outside_ns if state is State.FUTEX else 0)
    assert found <= waited + ledger.said.paused_ns + ledger.slack_ns
    # In CPython who returns from a call then waits for the GIL, at a futex as well.
    gil = 0 if state is State.FUTEX else max(0, ledger.ns[State.FUTEX] - ledger.outside_ns)
    assert found >= waited - ledger.queue_ns - gil - ledger.slack_ns
    assert ledger.rest(state, State.FUTEX) <= ledger.slack_ns


def test_threads_of_python_wait_for_the_gil_at_a_futex(python: dict[str, Ledger]) -> None:
    first, second = python["compute-1"], python["compute-2"]
    for one, other in ((first, second), (second, first)):
        # While one is on a CPU it holds the GIL, and the other waits; each 5 ms it asks for it.
        waits = one.ns[State.FUTEX] + one.queue_ns
        assert waits >= other.ns[State.ON_CPU] - one.slack_ns
        assert one.ns[State.ON_CPU] == pytest.approx(one.said.cpu_ns, abs=one.slack_ns)
        assert one.rest(State.FUTEX) <= one.slack_ns
    both = first.ns[State.ON_CPU] + second.ns[State.ON_CPU]
    assert both <= first.window_ns + first.slack_ns


def test_a_lock_of_python_is_a_futex_and_a_pipe_a_pipe(python: dict[str, Ledger]) -> None:
    check_wait(python["lock"], State.FUTEX)
    check_wait(python["pipe"], State.PIPE)


@pytest.mark.parametrize("name", ["holder-1", "holder-2"])
def test_a_thread_of_go_that_a_goroutine_is_locked_to_waits_for_a_mutex_at_a_futex(
    go: dict[str, Ledger], name: str
) -> None:
    check_wait(go[name], State.FUTEX)
    assert go[name].ns[State.ON_CPU] == pytest.approx(go[name].said.cpu_ns, abs=go[name].slack_ns)


def test_system_calls_of_go_are_what_they_are(go: dict[str, Ledger]) -> None:
    check_wait(go["sleeper"], State.SLEEP)
    check_wait(go["reader"], State.PIPE)


@pytest.mark.parametrize("name", ["holder-1", "holder-2"])
def test_a_monitor_of_java_is_a_futex(java: dict[str, Ledger], name: str) -> None:
    check_wait(java[name], State.FUTEX)


def test_a_parked_thread_of_java_is_at_a_futex(java: dict[str, Ledger]) -> None:
    check_wait(java["parked"], State.FUTEX)
