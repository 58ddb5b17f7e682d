"""Proof mode on pools whose gain is known."""

from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import log, sin
from random import Random

import pytest
from policy_harness import seen
from tidscope_collector.steering.loop.signals import Count, IntervalMeter
from tidscope_collector.steering.loop.trial import NOT_SEEN, proof_state
from tidscope_policies.contract import Bounds, CoreShare, Decision, Observation
from tidscope_policies.parameters import ParameterError
from tidscope_policies.proving.evidence import (
    ProofRecord,
    ProofSettings,
    add_up,
    mean_interval,
    p99,
)
from tidscope_policies.proving.proof import Proof, describe_proof, policy_first
from tidscope_policies.registry import POLICIES
from tidscope_policies.sweep.sweep import LINES

ORIGINAL, OTHER = 4, 8
BOUNDS = Bounds(1, 16)
NOISE = 0.03


@dataclass
class Jump:
    """Wants one size; keeps what it sees."""

    size: int = OTHER
    probing: bool = False
    seen: list[Observation] = field(default_factory=list)
    restarts: list[str] = field(default_factory=list)

    def observe(self, seen: Observation) -> Decision:
        self.seen.append(seen)
        return Decision(self.size, "jumped", "Because.", probing=self.probing)

    def restart(self, reason: str) -> None:
        self.restarts.append(reason)


@dataclass
class Pool:
    """Does `base` operations a second at its own size, and as many times that at another one."""

    policy: Proof
    factor: float
    noise: float = NOISE
    size: int = ORIGINAL
    at: int = 0
    base: float = 1000.0
    chance: Random = field(default_factory=lambda: Random(7))

    def step(self, *, paused: bool = False) -> Decision:
        """One interval."""
        self.at += 1
        progress = self.base * (self.factor if self.size == OTHER else 1.0)
        made = seen(progress * self.chance.gauss(1, self.noise), self.size, self.at, BOUNDS)
        decided = self.policy.observe(replace(made, paused=paused))
        self.size = decided.size
        return decided

    def run(self, intervals: int = 1000) -> Decision:
        """Until the proof has a result, or so many intervals have passed."""
        decided = self.step()
        while self.policy.verdict == "open" and self.at < intervals:
            decided = self.step()
        return decided


def proof(smallest: float = 0.01, most_s: float = 900.0) -> tuple[Proof, Jump]:
    jump = Jump()
    return Proof(jump, ProofSettings(smallest=smallest, most_s=most_s)), jump


def test_a_planted_gain_is_shown_and_the_policy_goes_on() -> None:
    policy, _ = proof()
    pool = Pool(policy, 1.10)
    decided = pool.run()
    assert policy.verdict == "better"
    gain = policy.record.gain
    assert gain is not None
    assert 0 < gain.low < 0.10 < gain.high < 0.3
    assert (decided.size, decided.state, decided.release) == (
        OTHER,
        "proven better",
        False,
    )
    assert decided.reason.startswith("The policy is better: +")
    later = [pool.step() for _ in range(50)]
    assert {one.size for one in later} == {OTHER}
    assert policy.verdict == "better"


def test_what_is_better_comes_with_the_line_that_keeps_it() -> None:
    policy, _ = proof()
    Pool(policy, 1.10).run()
    kept = "The policy was at size 8 most of the time; to keep that without the policy: "
    assert proof_state(policy, keeps=LINES["java"]).text.endswith(
        f"{kept}Executors.newFixedThreadPool(8)."
    )
    assert proof_state(policy).text.endswith("The policy was at size 8 most of the time.")
    # A policy that is not better recommends nothing.
    same, _ = proof(smallest=0.02, most_s=3600)
    Pool(same, 1.0).run(5000)
    assert "most of the time" not in proof_state(same, keeps=LINES["java"]).text


def test_a_policy_that_stays_nowhere_recommends_no_size() -> None:
    policy, jump = proof()
    pool = Pool(policy, 1.0)
    while policy.verdict == "open" and pool.at < 1000:
        jump.size = 6 + pool.at % 3
        pool.factor = 1.2 if pool.size == OTHER else 1.0
        pool.step()
    assert policy.verdict == "better"
    assert policy.typical_size is None


def test_sizes_that_are_just_tried_are_not_recommended() -> None:
    policy, jump = proof()
    pool = Pool(policy, 1.10)
    while policy.verdict == "open" and pool.at < 1000:
        jump.probing = pool.at % 3 > 0
        jump.size = 7 if jump.probing else OTHER
        pool.step()
    assert policy.typical_size == OTHER


def test_no_gain_is_said_to_be_none_and_the_program_is_released() -> None:
    policy, _ = proof(smallest=0.02, most_s=3600)
    decided = Pool(policy, 1.0).run(5000)
    assert policy.verdict == "same"
    assert (decided.size, decided.release) == (ORIGINAL, True)
    assert decided.reason.startswith("No difference above 2.0%: ")


def test_a_small_loss_is_shown() -> None:
    policy, _ = proof()
    decided = Pool(policy, 0.96, noise=0.005).run()
    assert policy.verdict == "worse"
    assert (decided.size, decided.release) == (ORIGINAL, True)


def test_harm_stops_it_before_the_first_block_has_passed() -> None:
    policy, _ = proof()
    decided = Pool(policy, 0.5).run()
    assert policy.verdict == "harmful"
    assert (decided.size, decided.release) == (ORIGINAL, True)
    # 5 % of four blocks of 20 s are lost after 8 s at half the speed.
    assert 4.0 < policy.record.lost_s < 5.5
    assert decided.reason.startswith("Stopped: the policy lost ")


def test_a_program_that_does_less_by_itself_is_no_harm() -> None:
    """From the first block of the policy on the program does half, whatever its size."""
    policy, _ = proof(most_s=200)
    pool = Pool(policy, 1.0, noise=0.005)
    while not policy.steers:
        pool.step()
    pool.base = 500.0
    states = []
    while policy.verdict == "open":
        states.append(pool.step().state)
    assert policy.verdict in ("same", "unsettled")
    # The policy pauses within its block, and has the rest of it afterwards.
    assert states.index("proof, pair 1, without it") < len(states) - 1
    assert policy.record.lost_s < 1.0


@pytest.mark.parametrize(("factor", "least", "most"), [(1.0, 0, 2), (0.5, 9, 10)])
def test_levels_that_swing_are_seldom_taken_for_harm(factor: float, least: int, most: int) -> None:
    found = []
    for seed in range(10):
        policy, _ = proof()
        pool = Pool(policy, factor, chance=Random(seed))
        while policy.verdict == "open":
            pool.base = 1000 * (1 + 0.3 * sin(pool.at / (5 + seed)))
            pool.step()
        found.append(policy.verdict)
    assert least <= found.count("harmful") <= most, found


def curve(points: dict[int, float]) -> Callable[[int], float]:
    """Operations a second by size, linear in the logarithm of the size between known ones."""
    sizes = sorted(points)

    def at(size: int) -> float:
        place = min(max(bisect(sizes, size), 1), len(sizes) - 1)
        low, high = sizes[place - 1], sizes[place]
        part = min(1.0, max(0.0, log(size / low) / log(high / low)))
        return points[low] + part * (points[high] - points[low])

    return at


def prove_policy(points: dict[int, float], size: int, seed: int) -> Proof:
    """A proof of the default policy on a noisy pool, to its end."""
    policy = POLICIES["cooperative"].make({}, proof=ProofSettings()).proof
    assert policy is not None
    chance, progress = Random(seed), curve(points)
    for at in range(1, 1000):
        made = seen(progress(size) * chance.gauss(1, NOISE), size, at, Bounds(1, 16))
        size = policy.observe(replace(made, cores=CoreShare(2, 2))).size
        if policy.verdict != "open":
            break
    return policy


OBSTRUCTED = {1: 97.0, 2: 134.0, 4: 372.0, 6: 437.0, 8: 390.0, 16: 255.0}
"""A pool of Python whose jobs sleep and get in each other's way, as measured."""
MUTEX = {1: 100.0, 2: 180.0, 4: 260.0, 8: 300.0, 16: 305.0}
WAITING = {1: 100.0, 16: 1600.0}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("points", "size", "verdicts"),
    [
        (OBSTRUCTED, 16, ("better",)),
        ({1: 300.0, 16: 300.0}, 8, ("same",)),
        (MUTEX, 16, ("same", "worse")),
        (WAITING, 16, ("same", "worse", "unsettled")),
    ],
)
def test_what_a_search_costs_is_paid_once(
    points: dict[int, float], size: int, verdicts: tuple[str, ...], seed: int
) -> None:
    """Whatever a size is worth, the search does not end the proof."""
    proof = prove_policy(points, size, seed)
    assert proof.verdict in verdicts, describe_proof(proof.record)
    record = proof.record
    assert 0 < record.learning.seconds < record.settings.most_learning_s
    assert record.learning_lost_s < record.settings.learning_s + 1
    assert " To learn took " in describe_proof(record)


def test_a_policy_that_never_learns_is_measured_all_the_same() -> None:
    class Restless(Jump):
        def observe(self, seen: Observation) -> Decision:
            return replace(super().observe(seen), probing=True)

    policy = Proof(Restless(), ProofSettings(most_s=900))
    Pool(policy, 1.1).run()
    assert policy.verdict == "better"
    assert policy.record.learning.seconds == pytest.approx(120, abs=2)


def test_a_search_that_loses_too_much_is_stopped() -> None:
    class Restless(Jump):
        def observe(self, seen: Observation) -> Decision:
            return replace(super().observe(seen), probing=True)

    policy = Proof(Restless(), ProofSettings(learning_s=5))
    Pool(policy, 0.1).run()
    assert policy.verdict == "harmful"
    # 5 s while it learns, 4 s (5 % of four blocks of 20 s), and up to an interval of 2 s more.
    assert 9 < policy.record.lost_s < 12


def test_a_policy_that_keeps_the_size_ends_as_the_same() -> None:
    policy = Proof(Jump(size=ORIGINAL), ProofSettings(smallest=0.001))
    decided = Pool(policy, 1.0, noise=0.2).run()
    assert (policy.verdict, len(policy.record.ratios)) == ("same", 3)
    assert decided.reason.startswith("The policy keeps the program's own size: ")


def test_what_cannot_be_settled_ends() -> None:
    policy, _ = proof(most_s=120)
    decided = Pool(policy, 1.0, noise=0.2).run()
    assert policy.verdict == "unsettled"
    assert decided.release
    assert decided.reason.startswith("No difference shown in 120 s: ")


def test_blocks_are_long_enough_and_the_interval_of_the_change_is_left_out() -> None:
    policy, jump = proof(most_s=200)
    pool = Pool(policy, 1.0, noise=0.0)
    sizes = []
    while policy.verdict == "open":
        sizes.append(pool.size)
        pool.step()
    assert sizes[:11] == [ORIGINAL] * 11, "the first block is without the policy"
    # The policy is asked for the first time at the end of the interval that is left out.
    assert sizes[11:23] == [ORIGINAL] + [OTHER] * 10 + [sizes[22]]
    assert policy.record.ratios[0] == 0.0
    # Another controller moves the size in the first interval of each block.
    assert [one.moved_by_other for one in jump.seen[:3]] == [True, False, False]


def test_intervals_that_do_not_count_make_a_block_longer() -> None:
    policy, _ = proof()
    pool = Pool(policy, 1.0, noise=0.0)
    for _ in range(11):
        pool.step(paused=True)
    for _ in range(9):
        assert pool.step().state == "proof, pair 1, without it"
    assert pool.step().state == "proof, pair 1, with the policy"


def test_where_its_own_size_is_not_in_effect_nothing_is_measured() -> None:
    policy, _ = proof()
    pool = Pool(policy, 1.1)
    pool.step()
    for _ in range(20):
        pool.size = OTHER
        assert pool.step().state == "proof, pair 1, without it"
    assert policy.record.reference == 0


def test_a_new_phase_discards_the_pair_under_way() -> None:
    policy, jump = proof()
    pool = Pool(policy, 1.1)
    for _ in range(15):
        pool.step()
    policy.restart("new phase")
    assert jump.restarts == ["new phase"]
    assert policy.record.discarded == 1
    assert policy.record.ratios == []


def test_a_program_that_stands_still_gives_no_pair() -> None:
    policy, _ = proof(most_s=200)
    pool = Pool(policy, 0.0, noise=0.0)
    pool.run()
    assert policy.verdict == "harmful"
    idle = ProofRecord(ProofSettings())
    assert describe_proof(idle) == "No gain is known, after 0 pairs of blocks."


def test_the_order_is_random_and_the_first_pair_begins_without() -> None:
    for seed in range(20):
        order = [policy_first(seed, pair) for pair in range(100)]
        assert not order[0]
        assert 30 < sum(order) < 70
    assert len({tuple(policy_first(seed, pair) for pair in range(32)) for seed in range(20)}) == 20


def test_looking_after_every_pair_finds_a_difference_where_there_is_none_in_5_percent() -> None:
    chance = Random(3)
    wrong = 0
    for _ in range(400):
        values: list[float] = []
        for _ in range(40):
            values.append(chance.gauss(0, 0.04))
            found = mean_interval(values)
            if found.low > 0 or found.high < 0:
                wrong += 1
                break
    assert wrong / 400 <= 0.05


def test_an_interval_holds_its_mean_and_shrinks() -> None:
    chance = Random(4)
    values = [chance.gauss(1, 0.1) for _ in range(64)]
    halves = [mean_interval(values[:n]).high - mean_interval(values[:n]).mean for n in (8, 64)]
    assert halves[1] < halves[0] / 2
    assert mean_interval(values[:2]).high == float("inf")
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


def test_a_policy_is_proven_with_its_decorators() -> None:
    ready = POLICIES["fixed"].make({"size": OTHER}, proof=ProofSettings())
    assert ready.proof is ready.policy
    with pytest.raises(ParameterError, match="shadow"):
        POLICIES["fixed"].make({}, shadow=True, proof=ProofSettings())


def test_the_percentile_is_within_its_entry() -> None:
    # 500 jobs between 2^20 and 2^21 ns, evenly by their logarithms.
    assert p99([0] * 10 + [500, 500]) == pytest.approx(2**20.98 / 1e9)
    # All of them between 2^19 and 2^20 ns: it may be anywhere.
    assert p99([0] * 10 + [1000]) is None
    # The 99th of 98 + 2 values is the first of the two.
    assert p99([98, 0, 0, 2]) == pytest.approx(2**12.5 / 1e9)
    assert p99([99]) is None
    assert p99([]) is None


def test_histograms_are_added() -> None:
    assert add_up([(1, 2), (), (1, 1, 1)]) == (2, 3, 1)
    assert add_up([]) == ()


def test_an_interval_has_the_jobs_that_ended_in_it() -> None:
    meter = IntervalMeter(Count(1.0, 5), 2, (3, 4))
    assert meter.responses((3, 6, 1)) == (0, 2, 1)
    # The program's part that counts was started again.
    assert meter.responses((1, 6)) == ()
    assert IntervalMeter(Count(1.0, 5), 2).responses(()) == ()


class JumpWithTimes:
    """Wants one size."""

    def observe(self, _: Observation) -> Decision:
        return Decision(8, "jumped", "Because.")

    def restart(self, reason: str) -> None:
        raise AssertionError(reason)


def prove(slow: tuple[int, ...], reference: tuple[int, ...]) -> Proof:
    """Ten pairs of a policy that changes response times only."""
    proof = Proof(JumpWithTimes(), ProofSettings(block_s=4, smallest=0.001, most_s=190))
    size = 4
    for at in range(1, 96):
        made = seen(1000 + at % 3, size, at, Bounds(1, 16))
        responses = slow if size == 8 else reference
        decided = proof.observe(
            Observation(
                **{name: getattr(made, name) for name in ("at_s", "elapsed_s", "ops", "bounds")},
                size=size,
                responses=responses,
            )
        )
        size = decided.size
        if decided.release:
            break
    return proof


def test_a_proof_shows_how_the_percentile_changes() -> None:
    proof = prove(slow=(0,) * 11 + (250, 250), reference=(0,) * 10 + (250, 250))
    found = proof_state(proof)
    assert found.p99 is not None
    assert found.p99.percent == pytest.approx(100)
    assert found.p99.low_percent == pytest.approx(100)
    assert found.p99_missing is None
    assert "99th percentile of response times: +100.0% [+100.0%, +100.0%]." in found.text


def test_it_says_why_there_is_none() -> None:
    proof = prove(slow=(0,) * 11 + (500,), reference=(0,) * 10 + (500,))
    assert (proof_state(proof).p99, proof_state(proof).p99_missing) == (None, NOT_SEEN)
    proof = prove(slow=(1,), reference=(1,))
    assert proof_state(proof).p99 is None
    assert proof_state(proof).p99_missing == NOT_SEEN
    assert proof_state(proof, "No agent.").p99_missing == "No agent."
    assert "percentile" not in proof_state(proof).text
