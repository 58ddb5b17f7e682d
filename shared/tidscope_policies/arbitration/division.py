"""Divides cores among programs so that the sum of share x log(throughput) is largest. Pure.

Every program has what its claim and its bounds leave no choice about. Then cores are handed out one
by one, each to the program for which it adds the most (water-filling). For curves that are concave
that is the best division, also where control groups and affinities limit programs together, as long
as such sets contain one another or have nothing in common (H. Groenevelt, Two algorithms for
maximizing a separable concave function over a polymatroid feasible region, 1991). Others are
replaced by the lowest concave curve above them, and who would end in a dent of his curve, where
fewer cores do more, has those.

The logarithm makes a percent of one program worth a percent of another (proportional fairness; F.
Kelly, Charging and rate control for elastic traffic, 1997); a share of 2 makes it worth two.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import log

from tidscope_policies.contract import Bounds

MIN_GAIN = 0.1
"""Minimum gain of a further core, as a share of linear scaling's. A core below it stays free."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of a program on a division.

    Attributes:
        share: weight of its throughput, above 0.
        floor: guaranteed cores; 0 for the smallest size.
        priority: programs of higher priority are served before others get more than their floors.
    """

    share: float = 1.0
    floor: int = 0
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Claimant:
    """A program that takes part in a division.

    Attributes:
        name: identity.
        claim: requested share.
        bounds: allowed sizes.
        worths: natural logarithm of its throughput at each size of the bounds, the lowest first;
            only differences count. Sizes beyond the last one add nothing.
    """

    name: str
    claim: Claim
    bounds: Bounds
    worths: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Cores that several programs share.

    Attributes:
        cores: number of cores.
        members: names of the programs limited by the pool.
    """

    cores: int
    members: frozenset[str]


def divide(claimants: Iterable[Claimant], pools: Sequence[Pool]) -> dict[str, int]:
    """Divide the cores.

    Every program has at least its smallest size, even beyond the available cores. Floors come next,
    by priority if they do not all fit; then gains.

    Returns:
        Sizes by name. Cores without gain stay free.
    """
    ranked = sorted(claimants, key=lambda one: one.name)
    priorities = sorted({one.claim.priority for one in ranked}, reverse=True)
    while True:
        filling = _Filling(ranked, pools)
        for priority in priorities:
            filling.fill_floors([one for one in ranked if one.claim.priority == priority])
        for priority in priorities:
            filling.fill_gains([one for one in ranked if one.claim.priority == priority])
        bounded = [_out_of_dent(one, filling.sizes[one.name]) for one in ranked]
        if bounded == ranked:
            return filling.sizes
        ranked = bounded


def _out_of_dent(one: Claimant, size: int) -> Claimant:
    """Reduce a size to the best smaller one, if fewer cores do more."""
    bounds = one.bounds
    least = max(bounds.low, min(one.claim.floor, size))
    sizes = range(least, min(size, bounds.low + len(one.worths) - 1) + 1)
    best = max(sizes, key=lambda each: (one.worths[each - bounds.low], -each), default=size)
    if best >= size or one.worths[best - bounds.low] <= one.worths[sizes[-1] - bounds.low]:
        return one
    kept = one.worths[: best - bounds.low + 1]
    return replace(one, bounds=Bounds(bounds.low, best), worths=kept)


def worth(claimants: Iterable[Claimant], sizes: dict[str, int]) -> float:
    """Sum of share x log(throughput) of a division."""
    return sum(
        one.claim.share * one.worths[min(sizes[one.name] - one.bounds.low, len(one.worths) - 1)]
        for one in claimants
    )


def smooth(worths: Sequence[float]) -> list[float]:
    """Return the lowest concave curve above a curve."""
    hull: list[int] = []
    for at, value in enumerate(worths):
        while len(hull) > 1:
            first, last = hull[-2], hull[-1]
            if (worths[last] - worths[first]) * (at - first) > (value - worths[first]) * (
                last - first
            ):
                break
            hull.pop()
        hull.append(at)
    found = [float(worths[0])]
    for first, last in pairwise(hull):
        slope = (worths[last] - worths[first]) / (last - first)
        found.extend(worths[first] + slope * (at - first) for at in range(first + 1, last + 1))
    return found


class _Filling:
    """A division in progress."""

    def __init__(self, claimants: Sequence[Claimant], pools: Sequence[Pool]) -> None:
        self.sizes = {one.name: one.bounds.low for one in claimants}
        self._pools = {
            one.name: [at for at, pool in enumerate(pools) if one.name in pool.members]
            for one in claimants
        }
        self._rooms = [
            pool.cores - sum(size for name, size in self.sizes.items() if name in pool.members)
            for pool in pools
        ]

    def fill_floors(self, claimants: Sequence[Claimant]) -> None:
        """Hand out cores one by one, to the program with the smallest part of its floor."""
        wanted = {
            one.name: min(one.claim.floor, one.bounds.high)
            for one in claimants
            if one.claim.floor > one.bounds.low
        }
        heap = [(self.sizes[name] / floor, name) for name, floor in wanted.items()]
        heapify(heap)
        while heap:
            _, name = heappop(heap)
            if self.sizes[name] < wanted[name] and self._give(name):
                heappush(heap, (self.sizes[name] / wanted[name], name))

    def fill_gains(self, claimants: Sequence[Claimant]) -> None:
        """Hand out cores one by one, to the program that gains the most."""
        curves = {one.name: (one, smooth(one.worths)) for one in claimants}
        heap: list[tuple[float, float, str]] = []

        def offer(name: str) -> None:
            one, worths = curves[name]
            size = self.sizes[name]
            at = size - one.bounds.low
            if size >= one.bounds.high or at + 1 >= len(worths):
                return
            gain = worths[at + 1] - worths[at]
            if gain > MIN_GAIN * log((size + 1) / size):
                # If gains are equal, the program with fewer cores for its share wins.
                heappush(heap, (-one.claim.share * gain, size / one.claim.share, name))

        for name in curves:
            offer(name)
        while heap:
            _, _, name = heappop(heap)
            if self._give(name):
                offer(name)

    def _give(self, name: str) -> bool:
        pools = self._pools[name]
        if any(self._rooms[at] < 1 for at in pools):
            return False
        for at in pools:
            self._rooms[at] -= 1
        self.sizes[name] += 1
        return True


def best_move(
    claimants: Sequence[Claimant], pools: Sequence[Pool], now: Mapping[str, int]
) -> tuple[float, dict[str, int]]:
    """Return the move of cores that may gain the most.

    Cores move from one program to another, or to and from the free ones. Curves that promise more
    where less is known are not concave, so filling up core by core cannot find what to try. Single
    moves can, and they disturb at most two programs.

    Floors hold. No program takes from one of higher priority, and a loss of lower priority does not
    count.

    Args:
        claimants: programs, with the worth of each size.
        pools: limits.
        now: the current division, of the same programs.

    Returns:
        The gain in share x log(throughput), and the division after the move. 0 and the same
        division if no move gains.
    """
    ranked = sorted(claimants, key=lambda one: one.name)
    rooms = [
        pool.cores - sum(size for name, size in now.items() if name in pool.members)
        for pool in pools
    ]
    under = {
        one.name: frozenset(at for at, pool in enumerate(pools) if one.name in pool.members)
        for one in ranked
    }
    best, chosen = 0.0, dict(now)
    givers = {one.name: list(_steps(one, now[one.name], -1)) for one in ranked}
    takers = {one.name: list(_steps(one, now[one.name], 1)) for one in ranked}

    def weigh(gain: float, change: Mapping[str, int]) -> None:
        nonlocal best, chosen
        if gain > best + 1e-12:
            best, chosen = gain, {**now, **change}

    for giver in ranked:
        for count, gain in givers[giver.name]:
            weigh(gain, {giver.name: now[giver.name] - count})
    for taker in ranked:
        for count, gain in takers[taker.name]:
            if all(rooms[at] >= count for at in under[taker.name]):
                weigh(gain, {taker.name: now[taker.name] + count})
        for giver in ranked:
            if giver is taker or giver.claim.priority > taker.claim.priority:
                continue
            counts = giver.claim.priority == taker.claim.priority
            for (count, gain), (_, loss) in zip(
                takers[taker.name], givers[giver.name], strict=False
            ):
                if all(rooms[at] >= count for at in under[taker.name] - under[giver.name]):
                    moved = {
                        taker.name: now[taker.name] + count,
                        giver.name: now[giver.name] - count,
                    }
                    weigh(gain + (loss if counts else 0.0), moved)
    return best, chosen


def _steps(one: Claimant, size: int, sign: int) -> Iterator[tuple[int, float]]:
    """Numbers of cores that a program may take (1) or give (-1), with the gain of each."""
    lowest = max(one.bounds.low, min(one.claim.floor, one.bounds.high))
    last = min(one.bounds.high, one.bounds.low + len(one.worths) - 1)
    count = 1
    while lowest <= size + sign * count <= last:
        at = size - one.bounds.low
        yield count, one.claim.share * (one.worths[at + sign * count] - one.worths[at])
        count += 1
