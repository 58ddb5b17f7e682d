"""An arbiter that learns from programs of known throughput, and notices who is gone."""

from math import log, sqrt
from random import Random

import pytest
from tidscope_policies.arbitration.arbiter import IDLE_S, SILENT_S, Arbiter
from tidscope_policies.arbitration.division import Claim, Claimant, Pool, divide, worth
from tidscope_policies.contract import Bounds, Grant, Observation

BOUNDS = Bounds(1, 8)
RATE = 200.0


def throughput(size: int, best: int) -> float:
    return size / best if size <= best else 1 / (1 + 0.2 * (size - best))


class Host:
    """Programs with known best sizes, a second an interval.

    Attributes:
        mute: who does not answer.
        still: who makes no progress.
        rate: operations a second of each at its best size.
    """

    def __init__(self, bests: dict[str, int], cores: int, seed: int = 1, **claims: Claim) -> None:
        self.bests, self.cores = bests, cores
        self.arbiter, self.now_s = Arbiter(), 0.0
        self.claims = {name: claims.get(name, Claim()) for name in bests}
        self.counts = dict.fromkeys(bests, 0.0)
        self.rate = RATE
        self.mute: set[str] = set()
        self.still: set[str] = set()
        self._random = Random(seed)
        for name in bests:
            self.arbiter.join(name, name, self.claims[name], BOUNDS, 0.0)
        self.limit("it begins")

    def limit(self, why: str) -> bool:
        return self.arbiter.limit([Pool(self.cores, frozenset(self.bests))], why, self.now_s)

    def grant(self, name: str) -> Grant:
        found = self.arbiter.grant(name)
        assert found is not None
        return found

    @property
    def sizes(self) -> dict[str, int]:
        return {name: self.grant(name).cores for name in self.bests}

    def pass_part(self, seconds: float = 0.25) -> None:
        """Let everybody say that he lives, who does."""
        self.now_s += seconds
        for name in self.bests:
            if name in self.mute:
                continue
            if name not in self.still:
                self.counts[name] += 1
            self.arbiter.hear(name, self.counts[name], self.now_s)

    def pass_interval(self) -> None:
        sizes = self.sizes
        for _ in range(4):
            self.pass_part()
        assert sum(self.sizes.values()) <= self.cores
        for name, best in self.bests.items():
            if name in self.mute or not sizes[name]:
                continue
            mean = 0.0 if name in self.still else self.rate * throughput(sizes[name], best)
            ops = max(0.0, self._random.gauss(mean, sqrt(mean)))
            seen = Observation(self.now_s, 1.0, ops, sizes[name], BOUNDS)
            self.arbiter.report(name, seen, self.now_s)

    @property
    def regret(self) -> float:
        """How far the division is below the best one by the true curves."""
        some = [
            Claimant(
                name,
                self.claims[name],
                BOUNDS,
                tuple(log(throughput(size, best)) for size in BOUNDS.sizes),
            )
            for name, best in self.bests.items()
        ]
        best = divide(some, [Pool(self.cores, frozenset(self.bests))])
        return worth(some, best) - worth(some, self.sizes)


@pytest.mark.parametrize(
    ("bests", "shares", "cores"),
    [
        ({"a": 2, "b": 4, "c": 6}, {}, 8),
        ({"a": 2, "b": 4, "c": 6}, {"c": 2.0}, 8),
        ({"a": 2, "b": 2, "c": 2}, {}, 8),
        ({"a": 1, "b": 8, "c": 8}, {}, 9),
        ({"a": 6, "b": 6}, {"b": 3.0}, 8),
        ({"a": 2, "b": 3}, {}, 8),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_finds_the_best_division(
    bests: dict[str, int], shares: dict[str, float], cores: int, seed: int
) -> None:
    claims = {name: Claim(share=share) for name, share in shares.items()}
    host = Host(bests, cores, seed, **claims)
    for _ in range(75):
        host.pass_interval()
    regrets = []
    for _ in range(30):
        host.pass_interval()
        regrets.append(host.regret)
    assert sum(regrets) / len(regrets) < 0.06


def test_before_anything_is_measured_it_divides_by_shares() -> None:
    host = Host({"a": 8, "b": 8}, 8, b=Claim(share=3.0))
    assert host.sizes == {"a": 2, "b": 6}
    grant = host.grant("b")
    assert (grant.total, grant.programs, grant.reason) == (8, 2, "it begins")
    assert grant.more is not None
    assert grant.less is not None
    assert 0 < grant.more < grant.less


def test_who_is_not_heard_of_has_nothing_until_it_answers() -> None:
    host = Host({"a": 8, "b": 8}, 8)
    host.mute.add("b")
    began_s = host.now_s
    while host.grant("b").state != "absent":
        host.pass_part()
        assert host.now_s - began_s <= SILENT_S + 0.5
    assert host.sizes == {"a": 8, "b": 0}
    assert host.grant("a").reason == "b does not answer: its cores go to the others."
    assert (host.grant("b").more, host.grant("b").less) == (None, None)
    host.mute.clear()
    host.pass_part()
    assert host.sizes == {"a": 4, "b": 4}
    assert host.grant("b").reason == "b works again."


def test_a_slow_listener_notices_who_is_silent() -> None:
    host = Host({"a": 8, "b": 8}, 8)
    host.mute.add("b")
    parts = 0
    while host.grant("b").state != "absent":
        parts += 1
        host.pass_part(0.9)
        assert parts < 4
    assert host.grant("a").state == "settled"


def test_who_makes_no_progress_keeps_its_smallest_size() -> None:
    host = Host({"a": 8, "b": 8}, 8, b=Claim(floor=3))
    for _ in range(4):
        host.pass_interval()
    host.still.add("b")
    began_s = host.now_s
    while host.grant("b").state != "idle":
        host.pass_part()
        assert host.now_s - began_s <= IDLE_S + 0.5
    assert host.sizes == {"a": 7, "b": 1}
    host.pass_interval()
    host.still.clear()
    host.pass_part()
    assert host.grant("b").state != "idle"
    assert host.sizes["b"] >= 3


def test_one_whose_operations_are_rare_is_not_taken_for_idle() -> None:
    host = Host({"a": 8, "b": 8}, 8)
    slow = Observation(1.0, 1.0, 1.0, host.sizes["b"], BOUNDS)
    host.now_s = 1.0
    for name in host.bests:
        host.arbiter.hear(name, 1.0, 1.0)
    host.arbiter.report("b", slow, 1.0)
    host.still.add("b")
    for _ in range(20):
        host.pass_part()
    assert host.grant("b").state == "settled"


def test_who_leaves_leaves_its_cores() -> None:
    host = Host({"a": 8, "b": 8}, 8)
    assert host.arbiter.leave("b") == "b"
    assert host.arbiter.leave("b") == ""
    assert host.arbiter.grant("b") is None
    assert host.arbiter.limit([Pool(8, frozenset("a"))], "b has ended.", 1.0)
    assert host.grant("a").cores == 8
    assert not host.arbiter.limit([Pool(8, frozenset("a"))], "nothing", 2.0)
    assert host.grant("a").reason == "b has ended."
    assert not host.arbiter.hear("b", 1.0, 2.0)


def test_a_new_claim_counts_at_once_and_forgets_nothing() -> None:
    host = Host({"a": 8, "b": 8}, 8)
    for _ in range(20):
        host.pass_interval()
    host.arbiter.join("b", "b", Claim(floor=6), BOUNDS, host.now_s)
    assert host.limit("b takes part.")
    assert host.sizes["b"] >= 6


def test_one_that_does_not_follow_holds_nobody_up() -> None:
    host = Host({"a": 2, "b": 8}, 8)
    for _ in range(40):
        for _ in range(4):
            host.pass_part()
        sizes = host.sizes
        for name, size in (("a", sizes["a"]), ("b", 8)):
            ops = RATE * throughput(size, host.bests[name])
            host.arbiter.report(name, Observation(host.now_s, 1.0, ops, size, BOUNDS), host.now_s)
    assert host.grant("a").cores <= 3


def test_a_change_of_level_is_not_taken_for_an_effect_of_the_size() -> None:
    host = Host({"a": 4, "b": 4}, 8)
    for _ in range(40):
        host.pass_interval()
    before = host.sizes
    assert before == {"a": 4, "b": 4}
    host.rate *= 4
    for _ in range(20):
        host.pass_interval()
    assert host.regret < 0.2


def test_a_collector_that_stood_still_suspects_nobody() -> None:
    host = Host({"a": 8, "b": 8}, 8)
    for _ in range(4):
        host.pass_part()
    host.pass_part(30.0)
    assert [host.grant(name).state for name in "ab"] == ["settled", "settled"]
    host.mute.add("b")
    for _ in range(6):
        host.pass_part()
    assert host.grant("b").state == "absent"
