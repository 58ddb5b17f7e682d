"""Cost of a search's trials: a budget of work, and sizes that are left alone for a while.

The unit is the work that the program does in an interval at the size at which the search began. An
interval at a worse size costs the difference, one at a better size earns it, and a small share
comes back with time. A size is tried only if its risk is within the budget: what it is expected to
lose if the loss goes on as at the sizes tried on the way to it. Where none was, half the threads
may do half the work, as in a pool that waits, and more threads get in each other's way a little.

Progress that falls at once after a change of size may be a dip, or that size. The search goes back
at once, and tries the size again later, after twice as long each time.
"""

from collections.abc import Collection
from dataclasses import dataclass
from math import exp, expm1, log2

import numpy as np
from numpy.typing import NDArray

from tidscope_policies.algorithms.curves import Curves

BELOW, ABOVE = 0.7, 0.3
"""Assumed loss of half and of twice the threads, in logarithms, before anything is known."""
FALL = 0.7
"""Assumed cost of an interval in which progress fell at once, in intervals."""
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
        self._left = most
        self._first: int | None = None
        self._falls: dict[int, _Fall] = {}

    @property
    def is_rested(self) -> bool:
        """True if all of the budget is there."""
        return self._left >= self._most

    def elapse(self, intervals: float) -> None:
        """Let intervals pass."""
        self._left = min(self._most, self._left + intervals * self._refill)

    def measured(self, size: int, curves: Curves) -> None:
        """Pay for an interval at a size, or earn by it. The first one sets the unit."""
        if self._first is None:
            self._first = size
        self._left = min(self._most, self._left + self._gain(size, curves))

    def fell(self, size: int, at_s: float) -> None:
        """Note that progress fell at once after the change to a size."""
        times = self._falls[size].times if size in self._falls else 0
        until_s = at_s + self._interval_s * (FIRST_WAIT << times)
        self._falls[size] = _Fall(times + 1, until_s)
        self._left -= FALL

    def allowed(self, curves: Curves, tried: Collection[int], at_s: float) -> NDArray[np.bool_]:
        """Mask of the sizes whose risk is within the budget, and which are not left alone.

        Args:
            curves: beliefs about the sizes.
            tried: the sizes that were measured; one at least.
            at_s: the time.
        """
        sizes, best = np.array(curves.sizes), best_of(tried, curves)
        left = max(0.0, self._left)
        mask = np.array([self._risk(size, best, tried, curves) <= left for size in curves.sizes])
        for size, fall in self._falls.items():
            if fall.until_s > at_s:
                mask &= sizes > size if size < best else sizes < size
        return mask

    def _gain(self, size: int, curves: Curves) -> float:
        """How much more a size is expected to do than the first one, as a share."""
        return expm1(-_less(size, self._first or size, curves))

    def _risk(self, size: int, best: int, tried: Collection[int], curves: Curves) -> float:
        """Share of an interval's work that a size may cost."""
        way = {one: log2(one / best) for one in tried if (one - best) * (size - best) > 0}
        there = log2(size / best)
        nearer = [one for one, doublings in way.items() if abs(doublings) <= abs(there)]
        further = [one for one, doublings in way.items() if abs(doublings) > abs(there)]
        loss = (BELOW if size < best else ABOVE) * abs(there)
        last = max(nearer, key=lambda one: abs(way[one]), default=best)
        if further:
            following = min(further, key=lambda one: abs(way[one]))
            begin = way.get(last, 0.0)
            share = (there - begin) / (way[following] - begin)
            loss = (1 - share) * _less(last, best, curves) + share * _less(following, best, curves)
        elif nearer:
            loss = _less(last, best, curves) * there / way[last]
        return 1 - (1 + self._gain(best, curves)) * exp(-loss)


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


def _less(size: int, other: int, curves: Curves) -> float:
    """How much less a size is expected to do than another one, in logarithms."""
    means = curves.means
    return float(means[curves.sizes.index(other)] - means[curves.sizes.index(size)])
