"""Bulk reads of counters: the policy and the cross-check."""

from itertools import count, pairwise

import numpy as np
import numpy.typing as npt
import pytest
from tidscope_collector.threads.reading import Reading
from tidscope_collector.walk.crosscheck import (
    EVERY,
    MAX_NEW,
    SHARE,
    Asked,
    CrossCheck,
    DisagreementError,
    Walked,
    compare,
)
from tidscope_collector.walk.policy import DOWN_NS, AskingCost
from tidscope_wire.generated.models import AbsentField

# A walk, what taskstats says, the next walk: counters lie between, or it is said where not.


FIELDS = ("cpu_run_ns", "cpu_count")
PID = 10
NOBODY = np.empty(0, np.uint32)


def walked(*threads: tuple[int, int, int, int]) -> Walked:
    """Of tid, start, and two counters each."""
    table = np.array(threads, np.int64).reshape(len(threads), 4)
    return Walked(table[:, 0].astype(np.uint32), table[:, 1], table[:, 2:].astype(np.uint64))


def asked(*threads: tuple[int, int, int, int], says: list[tuple[int, int]]) -> Asked:
    return Asked(walked(*threads), np.array(says, np.uint64))


def test_what_lies_between_agrees() -> None:
    before = asked((10, 1, 5, 5), (11, 2, 7, 0), says=[(5, 6), (7, 0)])
    assert compare(before, walked((10, 1, 5, 6), (11, 2, 9, 0)), FIELDS, NOBODY) == ""


def test_more_by_the_walk_before_is_named_with_its_values() -> None:
    before = asked((10, 1, 5, 5), (11, 2, 7, 3), says=[(5, 5), (7, 2)])
    assert compare(before, walked((10, 1, 5, 5), (11, 2, 7, 3)), FIELDS, NOBODY) == (
        "cpu_count of thread 11 is 3 by the walk and 2 by taskstats after it"
    )


def test_less_by_the_walk_after_is_named_with_its_values() -> None:
    before = asked((10, 1, 5, 5), says=[(6, 5)])
    assert compare(before, walked((10, 1, 5, 5)), FIELDS, NOBODY) == (
        "cpu_run_ns of thread 10 is 6 by taskstats and 5 by the walk after it"
    )


def test_threads_that_are_gone_or_others_are_left_out() -> None:
    before = asked((10, 1, 9, 9), (11, 2, 9, 9), (12, 3, 9, 9), says=[(1, 1)] * 3)
    # 11 is gone, 12 is another thread's, and the first one may be another with the same start.
    assert (
        compare(before, walked((10, 1, 9, 9), (12, 8, 9, 9)), FIELDS, np.array([10], np.uint32))
        == ""
    )
    assert compare(before, walked((10, 1, 9, 9)), FIELDS, NOBODY).startswith("cpu_run_ns of")


class Kernel:
    """Answers what the test says, and notes what it was asked."""

    fields = FIELDS
    absent: tuple[AbsentField, ...] = ()

    def __init__(self) -> None:
        self.questions: list[list[int]] = []
        self.counters: dict[int, tuple[int, int]] = {}

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        self.questions.append(tids.tolist())
        known = [tid for tid in tids.tolist() if tid in self.counters]
        rows = np.array([self.counters[tid] for tid in known], np.uint64).reshape(len(known), 2)
        starts = np.zeros(len(known), np.int64)
        return Reading(np.array(known, np.uint32), rows, None, starts, np.empty(len(known), "S16"))

    def close(self) -> None:
        pass


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


def check_of(kernel: Kernel) -> CrossCheck:
    """Threads are chosen in turn instead of at random."""
    turn = count()
    return CrossCheck(kernel, np.array([PID], np.uint32), choose=lambda below: next(turn) % below)


def walk_on(check: CrossCheck, found: Walked, walks: int = EVERY - 1) -> None:
    """Walks between two questions, of the same threads."""
    for _ in range(walks):
        check.check(found, same=True)
        assert check.asked == 0


def test_new_threads_are_all_asked_about_and_others_by_share(kernel: Kernel) -> None:
    check = check_of(kernel)
    kernel.counters = dict.fromkeys(range(10, 400), (0, 0))
    many = walked(*((tid, 1, 0, 0) for tid in range(10, 200)))
    check.check(many, same=False)
    assert sorted(kernel.questions.pop()) == list(range(10, 200))
    assert check.asked == 190
    walk_on(check, many)
    check.check(many, same=True)
    assert check.asked == len(kernel.questions.pop()) == SHARE
    more = walked(*((tid, 1 if tid != 50 else 2, 0, 0) for tid in range(10, 200)), (300, 5, 0, 0))
    check.check(more, same=False)
    assert kernel.questions == []
    walk_on(check, more, EVERY - 2)
    check.check(more, same=True)
    question = kernel.questions.pop()
    assert {50, 300} <= set(question)
    assert check.asked == len(question) <= SHARE + 2


def test_more_new_threads_than_may_be_asked_about_wait(kernel: Kernel) -> None:
    check = check_of(kernel)
    total = 2 * MAX_NEW + 50
    kernel.counters = dict.fromkeys(range(10, 10 + total), (0, 0))
    many = walked(*((tid, 1, 0, 0) for tid in range(10, 10 + total)))
    check.check(many, same=False)
    for _ in range(2):
        walk_on(check, many)
        check.check(many, same=True)
    assert {tid for question in kernel.questions for tid in question} == set(kernel.counters)
    assert max(len(question) for question in kernel.questions) <= MAX_NEW + SHARE


def test_a_disagreement_is_raised_at_the_next_walk(kernel: Kernel) -> None:
    check = check_of(kernel)
    kernel.counters = {10: (5, 5), 11: (5, 4)}
    check.check(walked((10, 1, 5, 5), (11, 1, 5, 5)), same=False)
    with pytest.raises(DisagreementError, match="cpu_count of thread 11 is 5 by the walk and 4"):
        check.check(walked((10, 1, 5, 5), (11, 1, 5, 5)), same=True)


def test_the_first_thread_is_left_out_where_threads_changed(kernel: Kernel) -> None:
    """Another thread may have executed a program: then it has id and start of the first one."""
    kernel.counters = {10: (1, 1), 11: (9, 9)}
    before, after = walked((10, 1, 5, 5), (11, 1, 9, 9)), walked((10, 1, 1, 1))
    check = check_of(kernel)
    check.check(before, same=False)
    check.check(after, same=False)
    check = check_of(kernel)
    check.check(before, same=False)
    with pytest.raises(DisagreementError):
        check.check(before, same=True)


# When asking takes too much CPU, and when it does no more.


MS, S = 1_000_000, 1_000_000_000
RATE = 10.0
PERIOD = S // 10


class Run:
    """Samples in a row, ten a second, of a policy that may take one percent of a core."""

    def __init__(self) -> None:
        self.cost = AskingCost(0.01)
        self.now = 100 * S
        self.walks = False

    def samples(self, count: int, *, asking_us: int, ran: int = 100, others: float = 0) -> int:
        """Take samples until the way changes; how many were taken."""
        before = self.walks
        for number in range(count):
            self.walks = self.cost.walks(self.now, others)
            if self.walks is not before:
                return number
            if self.walks:
                self.cost.walked(self.now, 100_000, ran, RATE)
            else:
                self.cost.asked(self.now, asking_us * 1000, ran, RATE)
            self.now += PERIOD
        return count


def test_a_small_target_is_asked_for() -> None:
    run = Run()
    assert run.samples(1000, asking_us=900) == 1000
    assert not run.walks
    assert run.cost.share == pytest.approx(0.009)


def test_a_large_one_is_walked_within_a_second() -> None:
    run = Run()
    assert 3 < run.samples(1000, asking_us=15_000) <= 10
    assert run.walks


def test_the_first_sample_asks_for_every_thread_and_does_not_count() -> None:
    run = Run()
    run.samples(1, asking_us=500_000)
    assert run.samples(100, asking_us=500) == 100


def test_one_dear_sample_is_no_reason() -> None:
    run = Run()
    run.samples(30, asking_us=500)
    run.samples(1, asking_us=4000)
    assert run.samples(100, asking_us=500) == 100


def test_at_one_sample_a_second_too() -> None:
    cost, now = AskingCost(0.01), 0
    for _ in range(10):
        if cost.walks(now):
            break
        cost.asked(now, 50 * MS, 5000, 1.0)
        now += S
    assert cost.walks(now)
    assert now <= 5 * S


def test_it_is_asked_again_when_few_threads_run_for_ten_seconds() -> None:
    run = Run()
    run.samples(100, asking_us=15_000, ran=5000)
    assert run.walks
    # Each thread would take 3 µs: a thousand that run are too many, a hundred are not.
    assert run.samples(300, asking_us=0, ran=1000) == 300
    taken = run.samples(300, asking_us=0, ran=100)
    assert not run.walks
    assert taken < DOWN_NS // PERIOD


def test_between_a_quarter_and_a_half_of_the_budget_nothing_changes() -> None:
    run = Run()
    run.samples(100, asking_us=15_000, ran=5000)
    assert run.samples(3000, asking_us=0, ran=200) == 3000  # 0.7 ms a sample
    run = Run()
    assert run.samples(3000, asking_us=700) == 3000


def test_a_load_that_comes_and_goes_does_not_make_it_flap() -> None:
    run, lengths = Run(), []
    for _ in range(5):
        run.samples(1000, asking_us=15_000, ran=5000)
        assert run.walks
        lengths.append(run.samples(10_000, asking_us=0, ran=10))
        assert not run.walks
    assert lengths[0] == DOWN_NS // PERIOD
    assert all(later == 2 * earlier for earlier, later in pairwise(lengths))


def test_what_asking_takes_of_other_targets_counts() -> None:
    run = Run()
    assert run.samples(100, asking_us=600) == 100
    run.samples(100, asking_us=600, others=0.005)
    assert run.walks
