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
    """The rule as printed in the source would let the pool grow on a plateau."""
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


def printed_waits(steered: Pool, *milliseconds: float, jobs: int = 5) -> list[int]:
    """Sizes decided when jobs waited so long."""
    return [steered.step(mean_wait_s=wait / 1000, jobs=jobs) for wait in milliseconds]


def printed(start: int, high: int = 64) -> Pool:
    steered = pool("ait-printed", lambda _: 1000.0, start=start)
    steered.bounds = Bounds(1, high)
    return steered


@pytest.mark.parametrize("start", [4, 16])
def test_from_both_starts_of_the_source_it_grows_while_jobs_wait_less(start: int) -> None:
    sizes = printed_waits(printed(start), 0, 100, 80, 60, 50, 40)
    assert sizes == [start, start + 2, start + 4, start + 6, start + 8, start + 10]


def test_every_branch() -> None:
    ait = printed(16)
    assert printed_waits(ait, 0, 100, 80) == [16, 18, 20]
    # Longer, and the step before had helped: back.
    assert printed_waits(ait, 90) == [18]
    assert ait.last.state == "shrinking"
    # Less, but the step before had not helped: it stays.
    assert printed_waits(ait, 85) == [18]
    # Less, as before: on.
    assert printed_waits(ait, 70) == [20]
    # Longer twice: back, then on.
    assert printed_waits(ait, 80, 90) == [18, 20]
    # Within one percent, at the size of the last cycle: it grows on a plateau.
    assert printed_waits(ait, 90.5) == [22]


def test_a_plateau_is_left_upwards_until_the_bound() -> None:
    """With the rule as printed in the source, only the pool's bounds end its growth."""
    sizes = printed_waits(printed(4, high=20), 0, *[100] * 30)
    assert sizes == sorted(sizes)
    assert sizes[-1] == 20


def test_a_cycle_is_of_five_jobs() -> None:
    ait = printed(4)
    printed_waits(ait, 0)
    assert printed_waits(ait, 100, 200, jobs=2) == [4, 4]
    assert ait.last.reason == "4 of 5 jobs of this cycle have ended."
    assert printed_waits(ait, 300, jobs=4) == [6]
    assert ait.last.reason.startswith("Jobs wait 225 ms")


def test_it_never_gets_below_one() -> None:
    ait = printed(1)
    # 3, 5, then shrinking whenever a step that helped is followed by one that did not.
    sizes = printed_waits(ait, 0, 100, 80, *[90, 70, 95, 60, 99] * 6)
    assert min(sizes) >= 1


def test_it_begins_at_the_pools_own_size_and_restarts_there() -> None:
    ait = pool("ait-printed", lambda _: 1000.0, in_force=9)
    assert printed_waits(ait, 0, 100) == [9, 11]
    ait.policy.restart("a person asked")
    assert printed_waits(ait, 50, 50) == [11, 13]
    assert ait.decisions[2].reason == "It restarts: a person asked, at 11."


def test_printed_without_the_signal_it_keeps_the_size() -> None:
    ait = printed(8)
    printed_waits(ait, 0, 100)
    assert ait.step(mean_wait_s=None, jobs=0) == 10
    assert ait.last.state == "no signal"


def test_another_hand_on_the_knob_empties_the_cycle() -> None:
    ait = printed(8)
    printed_waits(ait, 0)
    printed_waits(ait, 500, jobs=3)
    ait.size = 12
    assert ait.step(moved_by_other=True, mean_wait_s=0.1, jobs=5) == 12
    assert printed_waits(ait, 100, jobs=4) == [12]
