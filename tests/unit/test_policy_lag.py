"""The decorator for operations that are counted later than they are done."""

from collections import deque
from itertools import pairwise
from random import Random
from statistics import mean

import pytest
from tidscope_policies.contract import Bounds, Decision, Observation, Part
from tidscope_policies.lag import Lag

BOUNDS = Bounds(1, 16)
PARTS = 8


class Alternating:
    """Changes between two sizes after every two intervals that it sees; keeps these."""

    def __init__(self, sizes: tuple[int, int]) -> None:
        self.sizes, self.seen = sizes, list[Observation]()

    def observe(self, seen: Observation) -> Decision:
        self.seen.append(seen)
        at = (len(self.seen) // 2) % 2
        return Decision(self.sizes[at], "exploring", "Because.", probing=True)

    def restart(self, reason: str) -> None:
        raise AssertionError(reason)


class Pool:
    """A pool that does 100 operations a second for each worker, up to `best`; counted late."""

    def __init__(
        self, inner: Alternating, late_s: float, best: int = 16, noise: float = 0.03
    ) -> None:
        self.inner, self.policy, self.best, self.noise = inner, Lag(inner), best, noise
        self.size, self.at = inner.sizes[0], 0
        self.chance = Random(3)
        self.uncounted = deque[float]([0.0] * round(late_s / 0.25))

    def step(self, share: float = 1.0) -> Decision:
        parts = []
        for _ in range(PARTS):
            done = 25.0 * min(self.size, self.best) * share
            self.uncounted.append(max(0.0, done * self.chance.gauss(1, self.noise)))
            parts.append(Part(0.25, self.uncounted.popleft()))
        self.at += 1
        ops = sum(part.ops for part in parts)
        decided = self.policy.observe(
            Observation(2.0 * self.at, 2.0, ops, self.size, BOUNDS, tuple(parts))
        )
        self.size = decided.size
        return decided

    def hidden(self, intervals: int) -> int:
        """How many of so many intervals the inner policy does not see."""
        before = len(self.inner.seen)
        for _ in range(intervals):
            self.step()
        return intervals - (len(self.inner.seen) - before)


@pytest.mark.parametrize("late_s", [3.0, 4.25, 6.0])
def test_a_size_is_judged_by_what_it_did_and_not_by_the_one_before(
    late_s: float,
) -> None:
    pool = Pool(Alternating((4, 8)), late_s)
    for _ in range(60):
        pool.step()
    counted = [seen for seen in pool.inner.seen if seen.ops]
    assert len(counted) > 16
    # The dip gate leaves out the first two parts after a change.
    settled = [(seen.size, [part.progress for part in seen.parts[2:]]) for seen in counted[1:]]
    wrong = [size for size, found in settled if found and abs(mean(found) / (100 * size) - 1) > 0.1]
    assert len(wrong) <= 1


def test_where_nothing_lags_little_is_hidden() -> None:
    pool = Pool(Alternating((4, 8)), 0.0)
    pool.hidden(10)
    assert pool.hidden(60) == 0


def test_it_waits_for_a_change_that_does_not_come() -> None:
    """All intervals but the two that each size is seen for, up to the longest possible lag."""
    pool = Pool(Alternating((4, 8)), 0.0, best=4)
    assert 10 <= pool.hidden(30) <= 24


def test_a_fall_is_passed_on_at_once() -> None:
    pool = Pool(Alternating((8, 2)), 0.0)
    assert pool.hidden(20) == 0


def test_hidden_time_does_not_pass_for_the_inner_policy() -> None:
    pool = Pool(Alternating((4, 8)), 4.0)
    for _ in range(40):
        pool.step()
    times = [seen.at_s for seen in pool.inner.seen]
    assert [later - one for one, later in pairwise(times)] == [2.0] * (len(times) - 1)
