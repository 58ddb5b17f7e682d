"""When asking takes too much CPU, and when it does no more."""

from itertools import pairwise

import pytest
from tidscope_collector.walk.policy import DOWN_NS, AskingCost

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
