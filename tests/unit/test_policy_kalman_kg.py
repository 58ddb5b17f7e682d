"""kalman-kg: what it searches, when it rests, and what makes it search again."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from policy_harness import BOUNDS, Pool, flat, peak, pool, seen
from tidscope_policies.algorithms.candidates import MAX_SIZES, candidates
from tidscope_policies.algorithms.kalman_kg import KalmanKg, KalmanKgParameters
from tidscope_policies.contract import Bounds, Observation, Peers
from tidscope_policies.coordinator import Coordinator

SEARCH = [8, 8, 4, 4, 6, 6, 10, 10, 7, 7, 10, 10, 4, 4]
"""Sizes around a peak at 10, followed by a rest there."""
SLOT = 25
"""Intervals from one trial to the next."""


def rests(steered: Pool, sizes: list[int]) -> set[int]:
    """Sizes outside of trials."""
    states = steered.states()[-len(sizes) :]
    return {
        size for size, state in zip(sizes, states, strict=True) if state in ("settled", "exploring")
    }


def test_noiseless_peak() -> None:
    steered = pool("kalman-kg", peak(10))
    assert steered.run(len(SEARCH)) == SEARCH
    assert steered.run(10) == [10] * 10
    assert steered.last.state == "settled"
    # The first trial, by the clock: two intervals at a larger size, two at a smaller one, and back.
    assert steered.run(5) == [12, 12, 8, 8, 10]


@pytest.mark.parametrize("best", range(4, 17))
def test_any_noiseless_peak_is_found(best: int) -> None:
    steered = pool("kalman-kg", peak(best))
    steered.run(60)
    # A margin of 1 % is not worth a change; each thread off the peak costs 0.5 %.
    sizes = steered.run(SLOT)
    assert abs(max(set(sizes), key=sizes.count) - best) <= 3


def test_flat_curve_is_left_alone() -> None:
    steered = pool("kalman-kg", flat)
    # A size that makes no difference may show its effect later, so each step is given time.
    steered.run(3 * SLOT - 1)
    sizes = steered.run(10 * SLOT)
    typical = max(set(sizes), key=sizes.count)
    assert sizes.count(typical) >= 8 * SLOT
    assert {
        size
        for size, state in zip(sizes, steered.states()[-len(sizes) :], strict=True)
        if state == "exploring"
    } == set()


def test_one_dip_in_a_rest_changes_no_decision() -> None:
    calm = pool("kalman-kg", peak(10)).run(150)
    for begin in range(len(SEARCH) + 2, 60):
        dipped = pool("kalman-kg", peak(10))
        assert dipped.run(150, dips={begin: 0.05, begin + 1: 0.4}) == calm, begin


@pytest.mark.parametrize("begin", range(len(SEARCH)))
def test_one_dip_while_it_searches_does_not_mislead_it(begin: int) -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(SLOT + 15, dips={begin: 0.05})
    assert steered.last.state == "settled"
    assert peak(10)(steered.size) >= 0.98 * peak(10)(10)


def test_without_the_gate_one_interval_far_off_changes_nothing_either() -> None:
    calm, dipped = pool("kalman-kg", peak(10)), pool("kalman-kg", peak(10))
    calm.policy, dipped.policy = (KalmanKg(KalmanKgParameters()) for _ in range(2))
    assert dipped.run(120, dips={40: 0.05}) == calm.run(120)
    assert any("odd" in each.reason for each in dipped.decisions)


def test_a_change_of_level_and_curve_is_noticed_and_followed() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.curve = lambda size: 0.6 * peak(5)(size)
    steered.run(2)
    assert steered.decisions[60].reason == "The last interval is odd, and not counted."
    assert steered.last.reason.startswith("The program changed. ")
    steered.run(10)
    assert rests(steered, steered.run(12)) <= {4, 5, 6}


def test_after_a_change_of_the_level_alone_it_comes_back() -> None:
    def steep(size: int) -> float:
        return 1000.0 - 30.0 * abs(size - 10)

    steered = pool("kalman-kg", steep)
    steered.run(60)
    steered.curve = lambda size: 1.6 * steep(size)
    steered.run(12)
    assert rests(steered, steered.run(10)) <= {8, 9, 10, 11, 12}


def test_a_best_size_that_moves_unseen_is_found_by_a_trial() -> None:
    def moved(size: int) -> float:
        return 1000.0 * (1 + 0.04 * (min(size, 14) - 10))

    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    assert moved(10) == peak(10)(10)
    steered.curve = moved
    sizes = steered.run(5 * SLOT)
    assert sizes[-1] in (13, 14, 15, 16)


def test_the_size_is_found_while_the_level_swings() -> None:
    def swinging(level: float, size: int) -> float:
        return level * (1000 - 60 * abs(size - 9))

    steered = pool("kalman-kg", flat)
    sizes = []
    for at in range(300):
        level = 1 + 0.3 * math.sin(2 * math.pi * at / 45)
        steered.curve = partial(swinging, level)
        sizes.append(steered.step())
    later = sizes[60:]
    assert sum(abs(size - 9) <= 1 for size in later) > 0.7 * len(later)
    assert sum(one != other for one, other in pairwise(later)) <= 24


def test_two_peaks() -> None:
    def curve(size: int) -> float:
        return max(1000.0 - 30 * abs(size - 14), 1250.0 - 80 * abs(size - 5))

    steered = pool("kalman-kg", curve)
    sizes = steered.run(60)
    assert sizes[-1] in (4, 5, 6)


def test_one_thread_is_the_best() -> None:
    steered = pool("kalman-kg", lambda size: 1000.0 / size)
    steered.bounds = Bounds(1, 16)
    sizes = steered.run(200)
    assert sizes.index(1) <= 12
    assert sizes[20:].count(1) > 160


def test_a_restart_searches_again() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.policy.restart("a person asked")
    assert steered.step() != 10
    assert steered.last.state == "exploring"
    assert steered.last.probing
    assert steered.last.reason.startswith(
        "The search restarts (a person asked): earlier measurements count less. "
    )


def test_a_size_that_loses_much_is_left_after_an_interval() -> None:
    steered = pool("kalman-kg", lambda size: 100.0 * min(size, 12))
    sizes = steered.run(30)
    lossy = [at for at, size in enumerate(sizes) if size < 10]
    assert lossy
    assert all(sizes[at + 1] != sizes[at] for at in lossy)


def test_progress_that_falls_at_once_is_no_dip() -> None:
    """At half the threads it does a third: the search goes back, and waits before it returns."""
    steered = pool("kalman-kg", lambda size: 900.0 if size > 9 else 300.0)
    sizes = steered.run(60)
    first = sizes.index(8)
    assert sizes[first : first + 2] == [8, 16]
    assert steered.decisions[first + 1].reason.startswith("Progress dipped in this interval")
    assert all(size > 9 for size in sizes[first + 1 : first + 10])
    assert sum(size <= 9 for size in sizes) <= 6


@pytest.mark.parametrize("fails", [0.1, 0.3, 0.5])
def test_the_first_minute_costs_little(fails: float) -> None:
    """Whatever half the threads would do."""
    steered = pool("kalman-kg", lambda size: 1000.0 * max(fails, min(1.0, size / 16)))
    sizes = steered.run(30)
    assert sum(steered.curve(size) for size in sizes) >= 0.95 * 30 * 1000.0


def test_changes_of_size_are_rationed() -> None:
    """Even where no two intervals are alike: 16 at once, and then one in 12 intervals."""

    def even(level: float, _: int) -> float:
        return level

    steered = pool("kalman-kg", flat)
    sizes = [16]
    for at in range(600):
        level = 1000.0 * (1 + (at * 0.618034) % 1.0)
        steered.curve = partial(even, level)
        sizes.append(steered.step())
    changes = sum(one != other for one, other in pairwise(sizes))
    assert changes <= 16 + 600 / 12 + 2


def test_another_hand_on_the_knob() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.size = 15
    assert steered.step(moved_by_other=True) == 15
    assert steered.last.state == "holding"
    assert abs(steered.run(10)[-1] - 10) <= 2


def test_a_trial_that_is_not_its_turn_is_left_out() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(24)
    assert steered.step() == 12
    steered.size = 10
    assert steered.run(20) == [10] * 20


def test_bounds_that_change() -> None:
    steered = pool("kalman-kg", peak(10))
    steered.run(60)
    steered.bounds = Bounds(4, 7)
    assert steered.run(1) == [7]
    sizes = steered.run(100)
    assert set(sizes) <= {4, 5, 6, 7}
    # Twice the threads have to bring 1 %: from 5 to 7 that is as much as they bring.
    assert max(set(sizes), key=sizes.count) in (5, 6, 7)
    steered.bounds = Bounds(12, 12)
    assert set(steered.run(60)) == {12}


def test_many_sizes_are_thinned_out() -> None:
    assert candidates(BOUNDS) == list(BOUNDS.sizes)
    assert candidates(BOUNDS, apart=1.2) == [4, 5, 6, 7, 8, 10, 12, 14, 16]
    wide = candidates(Bounds(1, 1024))
    assert (wide[0], wide[-1]) == (1, 1024)
    assert len(wide) <= MAX_SIZES
    assert wide == sorted(set(wide))
    steered = pool("kalman-kg", lambda size: 1000 - 60 * abs(math.log2(size / 200)), in_force=500)
    steered.bounds = Bounds(1, 1024)
    sizes = steered.run(150)
    assert 120 < max(set(sizes), key=sizes.count) < 330


def test_no_progress_is_nothing_to_learn_from() -> None:
    steered = pool("kalman-kg", lambda _: 0.0)
    assert steered.run(5) == [16] * 5
    assert steered.last.state == "holding"


TWO = Peers(instances=2, log_progress=math.log(1000))


def test_alone_it_is_kalman_kg() -> None:
    alone = pool("cooperative", peak(10))
    assert alone.run(17) == [16, *pool("kalman-kg", peak(10)).run(16)]
    assert alone.decisions[0].reason == "It begins at 16, the program's own size."


def test_alone_again_it_goes_back_to_the_size_that_it_had_alone() -> None:
    steered = pool("cooperative", peak(10))
    steered.run(len(SEARCH) + 10)
    assert steered.size == 10
    assert steered.step(peers=TWO) == 8
    for _ in range(20):
        steered.step(peers=TWO)
    assert steered.step() == 10
    assert steered.last.reason.endswith("at 10, the size that it had alone.")


def test_a_program_that_was_never_alone_goes_back_to_its_own_size() -> None:
    steered = pool("cooperative", peak(10))
    assert steered.step(peers=TWO) == 8
    assert steered.step() == 16


def test_a_program_that_was_never_alone_goes_on_from_the_best_size_that_it_tried() -> None:
    """From its own size, which may be far worse, it may lack the changes to search."""
    steered = pool("cooperative", peak(10), in_force=4)
    for _ in range(30):
        steered.step(peers=TWO)
    best = max({one.size for one in steered.decisions}, key=peak(10))
    assert steered.step() == best
    assert steered.last.reason.endswith("the best of the sizes that it tried.")
    assert set(steered.run(60)[-20:]) <= {9, 10, 11}


def test_it_starts_from_its_share_of_the_cores() -> None:
    for instances, share in ((2, 8), (3, 5), (4, 4), (9, 4)):
        steered = pool("cooperative", peak(10))
        assert steered.step(peers=Peers(instances, 7.0)) == share
    steered = pool("cooperative", peak(10), cores=12)
    assert steered.step(peers=TWO) == 6
    assert steered.last.reason == "It begins at 6: 12 cores for 2 programs."


def test_search_restarts_when_the_number_of_programs_changes_and_when_asked() -> None:
    steered = pool("cooperative", peak(10))
    steered.run(60)
    assert steered.last.size in (9, 10, 11)
    assert steered.step(peers=TWO) == 8
    for _ in range(60):
        steered.step(peers=TWO)
    steered.policy.restart("a person asked")
    assert steered.step(peers=TWO) == 8
    assert steered.last.reason == (
        "The search restarts (a person asked) at 8: 16 cores for 2 programs."
    )


def test_it_keeps_still_while_another_one_searches() -> None:
    steered = pool("cooperative", peak(10))
    steered.step(peers=TWO)
    for _ in range(50):
        assert steered.step(peers=TWO, probing_elsewhere=True) == 8
    assert steered.last.state == "waiting"
    assert not steered.last.probing
    for _ in range(60):
        steered.step(peers=TWO)
    assert steered.last.size in (9, 10, 11)


def test_it_keeps_its_turn_for_a_while_after_it_moved() -> None:
    steered = pool("cooperative", peak(10))
    steered.step(peers=TWO)
    steered.step(peers=TWO)
    assert steered.last.probing
    states: list[bool] = []
    for _ in range(60):
        before = steered.size
        steered.step(peers=TWO)
        states.append(steered.last.probing)
        back = steered.last.reason.startswith("Back to")
        assert steered.last.probing or steered.size == before or back
    # Later it takes a turn for a trial, now and then: the host's programs take theirs by turns.
    assert sum(states[-50:]) <= 15


def test_a_dip_of_another_program_changes_no_decision() -> None:
    def run(dips: set[int]) -> list[int]:
        steered = pool("cooperative", peak(10))
        typical = math.log(1000)
        others = [typical + math.log(0.05) * (at in dips) for at in range(100)]
        return [steered.step(peers=Peers(2, other)) for other in others]

    assert run({40, 41}) == run(set())
    assert run({50, 51, 52, 53}) == run(set())


def test_lasting_slowdown_of_another_program_is_a_phase_change() -> None:
    steered = pool("cooperative", peak(10))
    for _ in range(60):
        steered.step(peers=TWO)
    for _ in range(10):
        steered.step(peers=Peers(2, math.log(300)))
    reasons = [decided.reason for decided in steered.decisions[60:]]
    assert sum("another program dipped" in reason for reason in reasons) == 4
    assert any("The program changed" in reason for reason in reasons)


def test_what_its_own_size_does_to_others_is_no_dip_of_theirs() -> None:
    """A program that takes a third of the others' progress above 5 threads."""
    steered = pool("cooperative", lambda size: size**0.2)
    for _ in range(120):
        steered.step(peers=Peers(2, math.log(1000 if steered.size <= 5 else 650)))
    assert not any("another program" in each.reason for each in steered.decisions)
    assert steered.last.size in (4, 5)


def test_progress_of_others_that_is_not_known_is_waited_for() -> None:
    steered = pool("cooperative", peak(10))
    steered.step(peers=TWO)
    assert steered.step(peers=Peers(2, None)) == 8
    assert steered.last.state == "holding"


def crowded(mine: int, other: int) -> float:
    """Progress on 16 cores: every thread above them costs both 2 %."""
    return float(1000.0 * mine**0.5 * math.exp(-0.02 * max(0, mine + other - 16)))


def settle(name: str, curve: Callable[[int, int], float], intervals: int) -> list[int]:
    """Sizes of two programs that run this policy, with a coordinator, noise-free."""
    pools = [pool(name, lambda _: 0.0) for _ in range(2)]
    token = Coordinator()
    for at in range(intervals):
        done = [curve(pools[me].size, pools[1 - me].size) for me in range(2)]
        before = [each.size for each in pools]
        reported = [_reported(pools[me], done[me], done[1 - me], at + 1) for me in range(2)]
        for me, each in enumerate(pools):
            now = 2.0 * (at + 1)
            elsewhere = token.is_probing_elsewhere(str(me), now)
            decided = each.policy.observe(replace(reported[me], probing_elsewhere=elsewhere))
            held = token.request_turn(str(me), now, probing=decided.probing)
            assert held or not decided.probing
            each.size = decided.size
        if at > 2:
            assert sum(each.size != was for each, was in zip(pools, before, strict=True)) <= 1
    return [each.size for each in pools]


def _reported(steered: Pool, mine: float, other: float, at: int) -> Observation:
    return replace(seen(mine, steered.size, at), peers=Peers(2, math.log(other)))


def test_two_programs_share_where_each_alone_would_take_more() -> None:
    """One thread more pays for the one that has it, and costs both together more."""
    assert crowded(16, 16) > crowded(12, 16)
    both = {mine: 2 * math.log(crowded(mine, mine)) for mine in range(4, 17)}
    assert max(both, key=lambda size: both[size]) in (12, 13)
    assert min(settle("kalman-kg", crowded, 190)) >= 13
    shares = settle("cooperative", crowded, 190)
    assert sum(math.log(crowded(*pair)) for pair in (shares, shares[::-1])) > both[12] - 0.03


def test_a_dip_does_not_cost_it_its_turn() -> None:
    """Another program would begin to search in the middle of its search, or of its trial."""
    calm, dipped = pool("cooperative", peak(10)), pool("cooperative", peak(10))
    for steered in (calm, dipped):
        for _ in range(9):
            steered.step(peers=TWO)
    calm.step(peers=TWO)
    dipped.step(0.05, peers=TWO)
    assert dipped.last.reason.startswith("Progress dipped")
    assert (dipped.last.probing, calm.last.probing) == (True, True)
    # The other size dips likewise.
    other = pool("cooperative", peak(10))
    for _ in range(9):
        other.step(peers=TWO)
    other.step(peers=replace(TWO, log_progress=math.log(100)))
    assert other.last.reason == "Progress of another program dipped."
    assert other.last.probing


def test_a_dip_after_another_program_moved_does_not_end_a_trial() -> None:
    begin = 50
    """Interval in which the first trial of two programs begins."""

    def run(dip: float) -> list[int]:
        steered = pool("cooperative", peak(10))
        sizes = []
        for at in range(begin + 10):
            other = replace(TWO, moved=at == begin - 2)
            sizes.append(steered.step(dip if at == begin - 1 else 1.0, peers=other))
        return sizes

    calm = run(1.0)
    assert calm[begin - 2] != calm[begin - 1] != calm[begin + 2]
    assert run(0.05) == calm
