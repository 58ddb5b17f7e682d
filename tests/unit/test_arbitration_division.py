"""Dividing cores by what each program gains."""

from dataclasses import replace
from itertools import product
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from tidscope_policies.contract import Bounds


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
    # Without any room everybody has the smallest size all the same.
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
