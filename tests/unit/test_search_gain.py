"""Estimated gain of the size that a search found, without a proof."""

from dataclasses import replace
from random import Random

import pytest
from policy_harness import seen
from tidscope_collector.steering.loop.trial import finding
from tidscope_policies.contract import Bounds, Decision, Peers
from tidscope_policies.proving.evidence import Interval
from tidscope_policies.registry import POLICIES
from tidscope_policies.sweep.sweep import LINES

BOUNDS = Bounds(1, 16)
OWN = 2


def progress(size: int) -> float:
    """6 workers do most: 2.5 times as much as 2 (0.36 of the peak for each of them at most)."""
    return 1000.0 * (min(size, 6) / 6 - 0.02 * max(0, size - 6))


def settled(
    policy: str, curve: dict[int, float], *, seed: int, peers: Peers | None = None
) -> list[Decision]:
    """Decisions of 120 intervals with 2 % noise."""
    tested, random = POLICIES[policy].make().policy, Random(seed)
    size, found = OWN, []
    for at in range(1, 121):
        did = curve[size] * random.gauss(1.0, 0.02)
        observed = replace(seen(did, size, at, BOUNDS), original=OWN, peers=peers)
        found.append(tested.observe(observed))
        size = found[-1].size
    return found


@pytest.mark.parametrize("policy", ["kalman-kg", "cooperative"])
def test_a_settled_search_knows_what_its_size_gives(policy: str) -> None:
    curve = {size: progress(size) for size in BOUNDS.sizes}
    right = 0
    for seed in range(10):
        last = [one for one in settled(policy, curve, seed=seed) if one.chooses][-1]
        assert last.gain is not None
        truth = curve[last.size] / curve[OWN] - 1
        right += last.gain.low <= truth <= last.gain.high
        assert last.gain.low > 1.0
    assert right >= 8


def test_a_size_that_gives_nothing_is_not_recommended() -> None:
    flat = dict.fromkeys(BOUNDS.sizes, 1000.0)
    for seed in range(5):
        for one in settled("kalman-kg", flat, seed=seed):
            assert one.gain is None or one.gain.low < 0.03, one


def test_beside_other_programs_there_is_no_gain_of_one_alone() -> None:
    curve = {size: progress(size) for size in BOUNDS.sizes}
    found = settled("cooperative", curve, seed=1, peers=Peers(2, 3.0))
    assert all(one.gain is None for one in found)


def test_the_sentence_names_interval_and_line() -> None:
    better = Decision(6, "settled", "It is best.", gain=Interval(0.7, 0.62, 0.78))
    assert finding(better, 2, LINES["python"]) == (
        " 6 does +70.0% [+62.0%, +78.0%] against the program's own 2; to keep that without the "
        "policy: ThreadPoolExecutor(max_workers=6)."
    )
    assert finding(better, 2, None).endswith("against the program's own 2.")
    unsure = replace(better, gain=Interval(0.7, -0.1, 2.0))
    assert (
        finding(unsure, 2, LINES["go"]) == finding(replace(better, gain=None), 2, LINES["go"]) == ""
    )
