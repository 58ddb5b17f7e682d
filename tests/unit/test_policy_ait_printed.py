"""ait-printed: figure 6.8 of the source, line by line."""

import pytest
from policy_harness import Pool, pool
from tidscope_policies.contract import Bounds


def waits(steered: Pool, *milliseconds: float, jobs: int = 5) -> list[int]:
    """Sizes decided when jobs waited so long."""
    return [steered.step(mean_wait_s=wait / 1000, jobs=jobs) for wait in milliseconds]


def printed(start: int, high: int = 64) -> Pool:
    steered = pool("ait-printed", lambda _: 1000.0, start=start)
    steered.bounds = Bounds(1, high)
    return steered


@pytest.mark.parametrize("start", [4, 16])
def test_from_both_starts_of_the_source_it_grows_while_jobs_wait_less(start: int) -> None:
    sizes = waits(printed(start), 0, 100, 80, 60, 50, 40)
    assert sizes == [start, start + 2, start + 4, start + 6, start + 8, start + 10]


def test_every_branch() -> None:
    ait = printed(16)
    assert waits(ait, 0, 100, 80) == [16, 18, 20]
    # Longer, and the step before had helped: back.
    assert waits(ait, 90) == [18]
    assert ait.last.state == "shrinking"
    # Less, but the step before had not helped: it stays.
    assert waits(ait, 85) == [18]
    # Less, as before: on.
    assert waits(ait, 70) == [20]
    # Longer twice: back, then on.
    assert waits(ait, 80, 90) == [18, 20]
    # Within one percent, at the size of the last cycle: it grows on a plateau.
    assert waits(ait, 90.5) == [22]


def test_a_plateau_is_left_upwards_until_the_bound() -> None:
    """As printed: nothing but the bounds ends it."""
    sizes = waits(printed(4, high=20), 0, *[100] * 30)
    assert sizes == sorted(sizes)
    assert sizes[-1] == 20


def test_a_cycle_is_of_five_jobs() -> None:
    ait = printed(4)
    waits(ait, 0)
    assert waits(ait, 100, 200, jobs=2) == [4, 4]
    assert ait.last.reason == "4 of 5 jobs of this cycle have ended."
    assert waits(ait, 300, jobs=4) == [6]
    assert ait.last.reason.startswith("Jobs wait 225 ms")


def test_it_never_gets_below_one() -> None:
    ait = printed(1)
    # 3, 5, then shrinking whenever a step that helped is followed by one that did not.
    sizes = waits(ait, 0, 100, 80, *[90, 70, 95, 60, 99] * 6)
    assert min(sizes) >= 1


def test_it_begins_at_the_pools_own_size_and_restarts_there() -> None:
    ait = pool("ait-printed", lambda _: 1000.0, in_force=9)
    assert waits(ait, 0, 100) == [9, 11]
    ait.policy.restart("a person asked")
    assert waits(ait, 50, 50) == [11, 13]
    assert ait.decisions[2].reason == "It restarts: a person asked, at 11."


def test_without_the_signal_it_keeps_the_size() -> None:
    ait = printed(8)
    waits(ait, 0, 100)
    assert ait.step(mean_wait_s=None, jobs=0) == 10
    assert ait.last.state == "no signal"


def test_another_hand_on_the_knob_empties_the_cycle() -> None:
    ait = printed(8)
    waits(ait, 0)
    waits(ait, 500, jobs=3)
    ait.size = 12
    assert ait.step(moved_by_other=True, mean_wait_s=0.1, jobs=5) == 12
    assert waits(ait, 100, jobs=4) == [12]
