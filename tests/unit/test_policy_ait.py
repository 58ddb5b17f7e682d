"""ait: grows while jobs wait less, turns round when they wait longer, rests on a plateau."""

import pytest
from policy_harness import Pool, pool
from tidscope_policies.contract import Bounds


def waits(steered: Pool, *milliseconds: float, jobs: int = 1000) -> list[int]:
    """Sizes decided when jobs waited so long."""
    return [steered.step(mean_wait_s=wait / 1000, jobs=jobs) for wait in milliseconds]


@pytest.fixture
def ait() -> Pool:
    return pool("ait", lambda _: 1000.0, start=4)


def test_noiseless_best_time(ait: Pool) -> None:
    assert waits(ait, 9, 50, 40, 30, 20, 30, 20, 30) == [4, 6, 8, 10, 12, 10, 8, 10]
    assert ait.states()[4:7] == ["growing", "shrinking", "shrinking"]


def test_flat_curve_does_not_grow_without_limit(ait: Pool) -> None:
    """As printed, what is a plateau makes the pool grow."""
    assert waits(ait, 9, 50, *[50] * 20) == [4, *[6] * 21]
    assert ait.last.state == "plateau"


def test_changes_of_a_percent_are_a_plateau(ait: Pool) -> None:
    assert waits(ait, 9, 100, 99.1, 100.9, 98.9) == [4, 6, 6, 6, 8]


def test_a_cycle_is_of_so_many_jobs(ait: Pool) -> None:
    assert waits(ait, 9) == [4]
    assert waits(ait, 100, jobs=2) == [4]
    assert ait.last.reason == "2 of 5 jobs of this cycle have ended."
    assert waits(ait, 200, jobs=2) == [4]
    assert waits(ait, 300, jobs=4) == [6]
    assert ait.last.reason.startswith("Jobs wait 225 ms")


def test_without_the_signal_it_keeps_the_size(ait: Pool) -> None:
    waits(ait, 9, 50)
    assert ait.step(mean_wait_s=None, jobs=0) == 6
    assert ait.last.state == "no signal"


def test_one_dip_turns_it_round(ait: Pool) -> None:
    assert waits(ait, 9, 50, 40, 800, 30) == [4, 6, 8, 6, 4]


def test_phase_change(ait: Pool) -> None:
    assert waits(ait, 9, 50, 40, 50, 60, 50) == [4, 6, 8, 6, 8, 10]


def test_restart_begins_at_the_start(ait: Pool) -> None:
    waits(ait, 9, 50, 40)
    ait.policy.restart("a person asked")
    assert waits(ait, 30, 30) == [4, 6]


def test_another_hand_on_the_knob(ait: Pool) -> None:
    waits(ait, 9, 50, 40)
    ait.size = 14
    assert ait.step(moved_by_other=True, mean_wait_s=0.001) == 14
    assert waits(ait, 30) == [16]


def test_bounds(ait: Pool) -> None:
    ait.bounds = Bounds(4, 7)
    assert waits(ait, 9, 50, 40, 30, 20, 30, 20) == [4, 6, 7, 7, 7, 5, 4]
    assert ait.states()[3:5] == ["at the bound"] * 2


def test_it_begins_at_the_pools_own_size() -> None:
    own = pool("ait", lambda _: 1000.0, in_force=9)
    assert waits(own, 9, 50, 40) == [9, 11, 13]
