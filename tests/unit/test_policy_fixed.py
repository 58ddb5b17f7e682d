"""fixed keeps its size, whatever happens."""

from dataclasses import replace

import pytest
from policy_harness import BOUNDS, flat, peak, pool, seen
from tidscope_policies.contract import Bounds, Part


def test_the_highest_size_unless_reported_otherwise() -> None:
    assert pool("fixed", peak(10), in_force=7).run(3) == [16, 16, 16]


def test_the_size_that_was_given() -> None:
    fixed = pool("fixed", flat, size=9)
    assert fixed.run(2) == [9, 9]
    assert fixed.decisions[0].reason == "The size is 16 and should be 9."
    assert fixed.decisions[1].reason == "The size stays at 9."


def test_another_hand_is_answered_and_a_restart_changes_nothing() -> None:
    fixed = pool("fixed", flat, size=9)
    fixed.run(2)
    fixed.size = 5
    assert fixed.step(moved_by_other=True) == 9
    fixed.policy.restart("asked for")
    assert fixed.step(0.05) == 9


def test_bounds_hold() -> None:
    fixed = pool("fixed", flat, size=99)
    assert fixed.run(1) == [16]
    fixed.bounds = Bounds(1, 3)
    assert fixed.run(1) == [3]


@pytest.mark.parametrize(("low", "high"), [(0, 4), (5, 4), (-1, 1)])
def test_bounds_without_a_size_are_refused(low: int, high: int) -> None:
    with pytest.raises(ValueError, match="want 1 <= low <= high"):
        Bounds(low, high)


def test_progress_is_by_real_time() -> None:
    late = replace(seen(1000.0, 8), elapsed_s=2.5)
    assert late.progress == 800.0
    assert replace(late, elapsed_s=0.0).progress == 0.0
    assert Part(0.25, 10.0).progress == 40.0
    assert Part(0.0, 10.0).progress == 0.0
    assert list(BOUNDS.sizes) == list(range(4, 17))
