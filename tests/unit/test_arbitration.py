"""Division of the machine's cores among steered programs."""

from dataclasses import replace
from itertools import product
from math import log, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_policies.arbitration.arbiter import IDLE_S, SILENT_S, Arbiter
from tidscope_policies.arbitration.division import (
    MIN_GAIN,
    Claim,
    Claimant,
    Pool,
    best_move,
    divide,
    smooth,
    worth,
)
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
        """Report all live programs."""
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
        """Loss of the division against the best one by the true curves."""
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
    assert host.grant("a").reason == (
        "b does not answer: its cores go to the others. It takes 4 cores from b."
    )
    assert (host.grant("b").more, host.grant("b").less) == (None, None)
    host.mute.clear()
    host.pass_part()
    assert host.sizes == {"a": 4, "b": 4}
    assert host.grant("b").reason == "b works again. It takes 4 cores from a."


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
    assert host.grant("a").reason == "b has ended. It takes 4 free cores."
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


def scaling(name: str, best: int, most: int = 8, *, low: int = 1, claim: Claim) -> Claimant:
    """Throughput that grows with cores up to the best number of them, and falls after it."""
    bounds = Bounds(low, most)
    worths = [log(min(size, best)) - 0.1 * max(0, size - best) for size in bounds.sizes]
    return Claimant(name, claim, bounds, tuple(worths))


@st.composite
def claimants(draw: st.DrawFn) -> list[Claimant]:
    made = []
    for at in range(draw(st.integers(1, 4))):
        low = draw(st.integers(1, 2))
        claim = Claim(
            share=draw(st.sampled_from([0.5, 1.0, 2.0, 3.0])),
            floor=draw(st.integers(0, 3)),
            priority=draw(st.integers(-1, 1)),
        )
        made.append(scaling(f"p{at}", draw(st.integers(2, 7)), low=low, claim=claim))
    return made


def together(some: list[Claimant], cores: int) -> list[Pool]:
    return [Pool(cores, frozenset(one.name for one in some))]


@given(claimants(), st.integers(4, 24))
def test_floors_hold_and_no_more_than_all_is_divided(some: list[Claimant], cores: int) -> None:
    sizes = divide(some, together(some, cores))
    least = {one.name: max(one.bounds.low, one.claim.floor) for one in some}
    if sum(least.values()) <= cores:
        assert all(sizes[name] >= size for name, size in least.items())
    assert sum(sizes.values()) <= max(cores, sum(one.bounds.low for one in some))
    assert all(one.bounds.low <= sizes[one.name] <= one.bounds.high for one in some)


@given(claimants().flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))))
def test_order_does_not_matter(both: tuple[list[Claimant], list[Claimant]]) -> None:
    some, shuffled = both
    for cores in (5, 9, 14):
        pools = together(some, cores)
        assert divide(shuffled, pools) == divide(some, pools)


@given(claimants(), st.integers(4, 24))
def test_a_higher_share_never_gets_less(some: list[Claimant], cores: int) -> None:
    pools = together(some, cores)
    before = divide(some, pools)["p0"]
    higher = replace(some[0], claim=replace(some[0].claim, share=some[0].claim.share * 2))
    assert divide([higher, *some[1:]], pools)["p0"] >= before


@given(claimants(), st.integers(4, 24))
def test_a_higher_priority_gets_what_it_can_use(some: list[Claimant], cores: int) -> None:
    pools = together(some, cores)
    first = replace(some[0], claim=replace(some[0].claim, priority=2))
    sizes = divide([first, *some[1:]], pools)
    others = sum(max(one.bounds.low, one.claim.floor) for one in some[1:])
    alone = divide([first], [Pool(max(1, cores - others), frozenset({"p0"}))])["p0"]
    if others + first.bounds.low <= cores:
        assert sizes["p0"] >= alone


@given(
    st.lists(st.tuples(st.integers(2, 6), st.sampled_from([1.0, 2.0])), min_size=2, max_size=3),
    st.integers(3, 12),
)
def test_it_is_the_best_division_and_better_than_equal_parts(
    programs: list[tuple[int, float]], cores: int
) -> None:
    some = [
        scaling(f"p{at}", best, claim=Claim(share=share))
        for at, (best, share) in enumerate(programs)
    ]
    sizes = divide(some, together(some, cores))
    possible = [
        worth(some, {one.name: size for one, size in zip(some, each, strict=True)})
        for each in product(range(1, 9), repeat=len(some))
        if sum(each) <= cores
    ]
    assert worth(some, sizes) == pytest.approx(max(possible))
    equal = {one.name: cores // len(some) for one in some}
    if all(size >= 1 for size in equal.values()):
        assert worth(some, sizes) >= worth(some, {n: min(8, s) for n, s in equal.items()}) - 1e-9


def test_limits_of_groups_hold() -> None:
    some = [scaling(name, 8, claim=Claim()) for name in "abc"]
    inner, outer = Pool(3, frozenset("ab")), Pool(9, frozenset("abc"))
    assert divide(some, [outer, inner]) == {"a": 2, "b": 1, "c": 6}


def test_a_core_that_brings_next_to_nothing_stays_free() -> None:
    flat = [0.5 * MIN_GAIN * log(size) for size in range(1, 9)]
    (one,) = [Claimant("a", Claim(), Bounds(1, 8), tuple(flat))]
    assert divide([one], [Pool(8, frozenset("a"))]) == {"a": 1}


def test_floors_that_do_not_fit_go_by_priority() -> None:
    claims = {"a": Claim(floor=4), "b": Claim(floor=4, priority=1), "c": Claim(floor=2)}
    some = [scaling(name, 8, claim=claim) for name, claim in claims.items()]
    assert divide(some, together(some, 6)) == {"a": 1, "b": 4, "c": 1}
    # Without any free cores, each program still has its smallest size.
    assert divide(some, together(some, 2)) == {"a": 1, "b": 1, "c": 1}


def test_a_curve_with_a_dent_is_seen_from_above() -> None:
    assert smooth([0.0, 0.0, 2.0, 2.5, 2.0]) == pytest.approx([0.0, 1.0, 2.0, 2.5, 2.0])
    assert smooth([1.0]) == [1.0]


@given(
    st.lists(st.lists(st.floats(-1, 1), min_size=1, max_size=8).map(tuple), min_size=1, max_size=4),
    st.integers(1, 20),
)
def test_nobody_has_more_cores_than_do_him_good(
    curves: list[tuple[float, ...]], cores: int
) -> None:
    some = [
        Claimant(f"p{at}", Claim(), Bounds(1, len(curve)), curve) for at, curve in enumerate(curves)
    ]
    sizes = divide(some, together(some, cores))
    assert sum(sizes.values()) <= max(cores, len(some))
    for one in some:
        size = sizes[one.name]
        assert one.worths[size - 1] == max(one.worths[:size])


def test_who_would_end_in_a_dent_leaves_its_cores_to_others() -> None:
    dented = Claimant("a", Claim(), Bounds(1, 8), (0.0, 1.0, 0.5, 0.5, 0.5, 0.5, 1.2, 2.8))
    plain = scaling("b", 8, claim=Claim())
    pools = [Pool(8, frozenset("ab"))]
    assert divide([dented, plain], pools) == {"a": 2, "b": 6}
    assert divide([dented], [Pool(8, frozenset("a"))]) == {"a": 8}


def test_the_best_move_is_found_across_a_dent() -> None:
    dented = Claimant("a", Claim(), Bounds(1, 5), (0.4, 0.2, 0.0, 0.1, 0.9))
    plain = Claimant("b", Claim(), Bounds(1, 5), (0.0, 0.1, 0.2, 0.2, 0.2))
    pools = [Pool(6, frozenset("ab"))]
    gain, after = best_move([dented, plain], pools, {"a": 3, "b": 3})
    assert after == {"a": 5, "b": 1}
    assert gain == pytest.approx(0.9 - 0.2)


def test_no_move_is_worth_nothing() -> None:
    some = [scaling(name, 3, claim=Claim()) for name in "ab"]
    assert best_move(some, together(some, 6), {"a": 3, "b": 3}) == (0.0, {"a": 3, "b": 3})


def test_moves_respect_floors_and_priorities() -> None:
    low = scaling("low", 8, claim=Claim(floor=2))
    high = scaling("high", 8, claim=Claim(priority=1))
    pools = together([low, high], 6)
    # The higher one takes, down to the floor and not below; what the lower one loses counts not.
    gain, after = best_move([low, high], pools, {"low": 3, "high": 3})
    assert after == {"low": 2, "high": 4}
    assert gain == pytest.approx(log(4 / 3))
    # The lower one never takes from the higher.
    greedy = replace(low, claim=Claim(share=100.0))
    _, after = best_move([greedy, high], pools, {"low": 3, "high": 3})
    assert after["high"] >= 3
