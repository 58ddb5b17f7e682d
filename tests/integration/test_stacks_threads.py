"""Stacks of many threads and of several targets: bounded, and nothing is lost uncounted."""

import os
from collections.abc import Iterator

import numpy as np
import pytest
from capabilities import needs
from code_times import code_times
from measured_code import NAMED, functions_of
from programs.many_threads import FUNCTIONS, ManyThreads
from stack_collector import StackCollector, StackedTarget
from tidscope_collector.stacks.service import LINGER_NS
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf"), needs("stacks")]

STACKS_A_SECOND, BURST = 400, 100
"""Limits of one CPU: `stacksPerSecond`, and the burst (MAX_CREDIT_NS)."""
CLOCK_HZ = 49
TAKEN, WITHOUT, NO_ROOM, CUT = 1, 2, 4, 5


@pytest.fixture(scope="module")
def collector() -> Iterator[StackCollector]:
    with StackCollector() as made:
        yield made


@pytest.fixture
def program() -> Iterator[ManyThreads]:
    with ManyThreads() as made:
        yield made


@pytest.fixture
def target(collector: StackCollector, program: ManyThreads) -> Iterator[StackedTarget]:
    """A target of which the unwinder knows the code."""
    made = collector.attach(program.pid)
    collector.sample(made)
    warm(collector, program, made)
    yield made
    collector.detach(made)


def warm(collector: StackCollector, program: ManyThreads, target: StackedTarget) -> None:
    while not len(known_stacks(target, 0)):
        program.run(4, 0.2)
        collector.now_ns(target)


def known_stacks(target: StackedTarget, since_ns: int) -> list[str]:
    """Return which function each known stack of a thread that lives for a while has, or nothing."""
    rows, code = target.samples, target.code()
    waits = np.isin(rows["state"], [State.FUTEX, State.SLEEP])
    rows = rows[(rows["node"] > 0) & (rows["begin_ns"] >= since_ns) & waits]
    rows = rows[rows["tid"] != target.target.process.pid]
    return [functions_of(code.stack(int(node)), FUNCTIONS) for node in rows["node"]]


def check_sums(target: StackedTarget, before: dict[int, int]) -> None:
    """Check that what was taken has come, and that what has not come is counted."""
    rows = target.samples
    assert rows["sample"].tolist() == list(range(1, len(rows) + 1))
    known = int((rows["node"] > 0).sum() + (rows["waker_node"] > 0).sum())
    counts = target.counts
    assert counts[TAKEN] - before.get(TAKEN, 0) == known
    unknown = int((rows["node"] == 0).sum())
    assert counts.get(WITHOUT, 0) - before.get(WITHOUT, 0) >= unknown
    assert NO_ROOM not in counts
    assert CUT not in counts


def test_five_hundred_threads(
    collector: StackCollector, program: ManyThreads, target: StackedTarget
) -> None:
    begin = collector.now_ns(target)
    taken = collector.service.counts()[TAKEN - 1]
    program.run(500, 4)
    now = collector.service.counts()[TAKEN - 1]
    end = collector.settle(target)
    functions = known_stacks(target, begin)
    assert len(functions) > 500
    assert sum(bool(one) for one in functions) >= NAMED * len(functions)
    assert set(functions) >= set(FUNCTIONS)
    cpus, seconds = os.cpu_count() or 1, (end - begin) / 1e9
    assert now - taken <= cpus * (BURST + seconds * (STACKS_A_SECOND + CLOCK_HZ))
    # All were in one of the two, nearly always.
    tids = set(target.samples["tid"].tolist()) - {program.pid}
    times = code_times(target, (begin, end), FUNCTIONS, tids, ["sleep", "futex"])
    parts = [times.by_function[name].ns for name in FUNCTIONS]
    assert sum(parts) >= 0.95 * times.exact_ns
    assert parts[0] == pytest.approx(parts[1], rel=0.2)


def test_five_thousand_short_threads(
    collector: StackCollector, program: ManyThreads, target: StackedTarget
) -> None:
    begin = collector.now_ns(target)
    for _ in range(25):
        program.run(200, 0.01)
    collector.settle(target)
    functions = known_stacks(target, begin)
    assert len(functions) > 100
    assert sum(bool(one) for one in functions) >= NAMED * len(functions)


def test_nothing_is_lost_uncounted(collector: StackCollector) -> None:
    with ManyThreads() as program:
        before = dict(enumerate(collector.service.counts(), 1))
        target = collector.attach(program.pid)
        collector.sample(target)
        warm(collector, program, target)
        program.run(200, 1)
        for _ in range(5):
            program.run(100, 0.01)
        collector.settle(target)
        check_sums(target, before)
        collector.detach(target)


def test_a_thread_that_sleeps_since_before_has_no_stack(
    collector: StackCollector, program: ManyThreads, target: StackedTarget
) -> None:
    asleep = program.asleep()
    assert len(asleep) == 2
    begin = collector.now_ns(target)
    program.run(4, 1)
    end = collector.settle(target)
    assert not np.isin(target.samples["tid"], list(asleep)).any()
    times = code_times(target, (begin, end), ["sleep_long", "hold_on"], asleep)
    assert times.samples == 0
    assert [one.ns for one in times.by_function.values()] == [0, 0]
    # Their time is known, and said to be unseen rather than given to anything.
    assert times.exact_ns == 0


def test_two_targets_have_their_own_stacks(
    collector: StackCollector, program: ManyThreads, target: StackedTarget
) -> None:
    with ManyThreads() as other:
        second = collector.attach(other.pid)
        collector.sample(second)
        warm(collector, other, second)
        program.run(4, 0.5)
        other.run(4, 0.5)
        collector.settle(second)
        tids = [set(one.samples["tid"].tolist()) for one in (target, second)]
        assert tids[0] & tids[1] == set()
        assert program.pid in tids[0]
        assert other.pid in tids[1]
        assert all(known_stacks(one, 0) for one in (target, second))
        # A target that goes takes nothing from the other.
        collector.detach(second)
        begin = collector.now_ns(target)
        program.run(4, 0.5)
        collector.settle(target)
        assert known_stacks(target, begin)
        assert not set(target.samples["tid"].tolist()) & tids[1]


def test_stacks_are_taken_until_the_last_target_is_detached(collector: StackCollector) -> None:
    """Somebody may look again at once, so the program lingers."""
    with ManyThreads() as program:
        target = collector.attach(program.pid)
        collector.sample(target)
        warm(collector, program, target)
        periods = len(collector.service.periods())
        assert collector.service.periods()[-1].end_ns == 0
        program.tell("50 2\n")
        collector.detach(target)
        assert program.line() == "done"
        again = collector.attach(program.pid)
        collector.until(lambda: again.times[-1:] > [LINGER_NS] and ended(collector))
        assert len(collector.service.periods()) == periods
        assert not len(again.samples)
        collector.sample(again)
        warm(collector, program, again)
        assert len(collector.service.periods()) == periods + 1
        collector.detach(again)


def ended(collector: StackCollector) -> bool:
    """Return True if no stacks are taken."""
    return collector.service.periods()[-1].end_ns > 0
