"""cooperative: a share of the cores to start with, one search at a time, for the good of all."""

import math
from collections.abc import Callable
from dataclasses import replace

from policy_harness import Pool, peak, pool, seen
from tidscope_policies.contract import Observation, Peers
from tidscope_policies.coordinator import Coordinator

TWO = Peers(instances=2, log_progress=math.log(1000))


def test_alone_it_is_kalman_kg() -> None:
    alone = pool("cooperative", peak(10), in_force=5)
    assert alone.run(17) == [16, *pool("kalman-kg", peak(10)).run(16)]
    assert alone.decisions[0].reason == "It begins at 16: 16 cores for one program."


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
        usual = math.log(1000)
        others = [usual + math.log(0.05) * (at in dips) for at in range(100)]
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
    """With more than 5 threads it takes a third of the others' progress away."""
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
    # The same when it is the other one that dips.
    other = pool("cooperative", peak(10))
    for _ in range(9):
        other.step(peers=TWO)
    other.step(peers=replace(TWO, log_progress=math.log(100)))
    assert other.last.reason == "Progress of another program dipped."
    assert other.last.probing


def test_a_dip_after_another_program_moved_does_not_end_a_trial() -> None:
    begin = 50
    """Where a trial begins: the first one of two programs."""

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
