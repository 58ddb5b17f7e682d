"""Cost of a search's trials: a budget of work, and sizes that are left alone for a while.

The unit is the work that the program does in an interval at the size at which the search began. An
interval at a worse size costs the difference, one at a better size earns it, and a small share
comes back with time. All time counts, measured or not, and all of it at what is believed at
present: a loss that cannot be ruled out yet counts as one, and is refunded when it can. A size is
tried only if its risk is within the budget: what it is expected to lose if the loss goes on as at
the sizes tried on the way to it. Where none was, half the threads may do half the work, as in a
pool that waits, and more threads get in each other's way a little.

Progress that falls at once after a change of size may be a dip, or that size. The search goes back
at once, and tries the size again later, after twice as long each time.
"""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from math import exp, expm1, log2

import numpy as np
from numpy.typing import NDArray

from tidscope_policies.algorithms.curves import Curves

BELOW, ABOVE = 0.7, 0.3
"""Assumed loss of half and of twice the threads, in logarithms, before anything is known."""
UNSURE = 1.0
"""Standard deviations by which a size may be worse than expected, as far as the budget goes."""
TOLERABLE = 0.05
"""Loss of a size that is allowed even if trials have cost all that they may."""
REVIEWED = 60
"""Intervals whose cost follows what is believed; earlier ones keep theirs."""
FIRST_WAIT = 10
"""Intervals for which a size is left alone after progress fell at it for the first time."""
MUCH = 0.105
"""A loss of 10 %, in logarithms: such a size is left after one interval."""


@dataclass(frozen=True, slots=True)
class _Fall:
    """Progress fell at once at a size: how often, and until when it is left alone."""

    times: int
    until_s: float


class Caution:
    """The budget of one search.

    Args:
        most: highest budget, which it begins with, in intervals of work.
        refill: share of an interval that comes back in each.
        interval_s: length of an interval.
    """

    def __init__(self, most: float, refill: float, interval_s: float) -> None:
        self._most, self._refill, self._interval_s = most, refill, interval_s
        self._first: int | None = None
        self._before = most
        self._stays: deque[tuple[int, float]] = deque()
        self._falls: dict[int, _Fall] = {}

    def begin(self, size: int) -> None:
        """Set the size at which the search begins, unless it is set."""
        self._first = self._first or size

    def compare_with(self, size: int, curves: Curves) -> None:
        """Compare with this size from here on; trials have cost what is believed at present."""
        self._before = self.left(curves)
        self._stays.clear()
        self._first = size

    def rest(self, size: int, curves: Curves) -> None:
        """Compare with the resting size, if it surely is no worse than the one before."""
        if self._may_lose(size, curves) <= TOLERABLE:
            self.compare_with(size, curves)

    def stay(self, size: int, intervals: float, curves: Curves) -> None:
        """Count time at a size, once the search has begun."""
        if self._first is None:
            return
        self._stays.append((size, intervals))
        if len(self._stays) > REVIEWED:
            self._before = self._after(self._before, [self._stays.popleft()], curves)

    def left(self, curves: Curves) -> float:
        """Work that trials may cost, in intervals; negative if they did cost more."""
        return self._after(self._before, self._stays, curves)

    def _after(self, left: float, stays: Collection[tuple[int, float]], curves: Curves) -> float:
        losses = {size: self._may_lose(size, curves) for size in {size for size, _ in stays}}
        for size, intervals in stays:
            left = min(self._most, left + intervals * (self._refill - losses[size]))
        return left

    def is_rested(self, curves: Curves) -> bool:
        """True if all of the budget is there."""
        return self.left(curves) >= self._most

    def is_spent(self, size: int, curves: Curves) -> bool:
        """True if trials have cost all that they may, and a size may go on to lose much."""
        return self._may_lose(size, curves) > TOLERABLE and self.left(curves) <= 0

    def fell(self, size: int, at_s: float) -> None:
        """Note that progress fell at once after the change to a size."""
        times = self._falls[size].times if size in self._falls else 0
        until_s = at_s + self._interval_s * (FIRST_WAIT << times)
        self._falls[size] = _Fall(times + 1, until_s)

    def allowed(self, curves: Curves, tried: Collection[int], at_s: float) -> NDArray[np.bool_]:
        """Mask of the sizes whose risk is within the budget, and which are not left alone.

        Args:
            curves: beliefs about the sizes.
            tried: the sizes that were measured; one at least.
            at_s: the time.
        """
        sizes, best = np.array(curves.sizes), best_of(tried, curves)
        left = max(TOLERABLE, self.left(curves))
        risks = [self._risk(size, best, tried, curves) for size in curves.sizes]
        mask = np.array(risks) <= left
        for size, fall in self._falls.items():
            if fall.until_s > at_s:
                mask &= sizes > size if size < best else sizes < size
        return mask

    def _risk(self, size: int, best: int, tried: Collection[int], curves: Curves) -> float:
        """Share of an interval's work that a size may cost, against the first size."""
        if size in tried:
            return self._may_lose(size, curves)
        way = {one: log2(one / best) for one in tried if (one - best) * (size - best) > 0}
        there = log2(size / best)
        nearer = [one for one, doublings in way.items() if abs(doublings) <= abs(there)]
        further = [one for one, doublings in way.items() if abs(doublings) > abs(there)]
        loss = _assumed(size, best)
        last = max(nearer, key=lambda one: abs(way[one]), default=best)
        if further:
            following = min(further, key=lambda one: abs(way[one]))
            begin = way.get(last, 0.0)
            share = (there - begin) / (way[following] - begin)
            loss = (1 - share) * _worse(last, best, curves) + share * _worse(
                following, best, curves
            )
        elif nearer:
            loss = _worse(last, best, curves)
            loss += min(_assumed(size, last), 2 * loss * (there / way[last] - 1))
        return 1 - exp(_less(self._first or best, best, curves) - loss)

    def _may_lose(self, size: int, curves: Curves) -> float:
        """Share of an interval's work that a measured size may cost, against the first size."""
        return -expm1(-_worse(size, self._first or size, curves))


def best_of(tried: Collection[int], curves: Curves) -> int:
    """The size that is expected to do most, of those that were measured."""
    means = curves.means
    return max(tried, key=lambda size: float(means[curves.sizes.index(size)]))


def loses_much(size: int, tried: Collection[int], curves: Curves, sure: float) -> bool:
    """True if a measured size does much less than another one.

    Args:
        size: the size.
        tried: the sizes that were measured.
        curves: beliefs about the sizes.
        sure: by how many standard deviations of the difference.
    """
    if size not in tried:
        return False
    best = best_of(tried, curves)
    here, there = curves.sizes.index(size), curves.sizes.index(best)
    return _less(size, best, curves) > MUCH + sure * curves.doubt(here, there)


def _assumed(size: int, other: int) -> float:
    """How much less a size may do than another one, before anything is known, in logarithms."""
    return (BELOW if size < other else ABOVE) * abs(log2(size / other))


def _worse(size: int, other: int, curves: Curves) -> float:
    """How much less a size may do than another one, as far as is known, in logarithms."""
    if size == other:
        return 0.0
    doubt = curves.doubt(curves.sizes.index(size), curves.sizes.index(other))
    loss = _less(size, other, curves)
    return max(loss, min(loss + UNSURE * doubt, _assumed(size, other)))


def _less(size: int, other: int, curves: Curves) -> float:
    """How much less a size is expected to do than another one, in logarithms."""
    means = curves.means
    return float(means[curves.sizes.index(other)] - means[curves.sizes.index(size)])
