"""Belief of the arbiter about the throughput of one program at each size. Pure.

Before anything is measured the logarithm of throughput rises with that of the size, half as steeply
as where work scales with cores; how far a program is off that line is a curve (algorithms/
curves.py) that is learnt from what is measured, with a level that wanders.
"""

from math import log, sqrt

import numpy as np

from tidscope_policies.algorithms.candidates import candidates
from tidscope_policies.algorithms.curves import Curves, Kind, Wandering
from tidscope_policies.contract import Bounds, Observation

SCALING = 0.5
"""Expected slope: 1 is work that scales with cores."""
KINDS = (Kind(1.2, 0.45, 0.03, 0.7), Kind(0.6, 0.25, 0.0, 0.3))
DRIFT = 1e-3
"""Share of the initial uncertainty that returns with each measurement."""
NOISE_SD, WALK_SD, NOISE_FLOOR = 0.03, 0.01, 0.01
OPTIMISM = 2.0
"""Standard deviations by which an unknown size is assumed to be better."""
STEP = 1.0
"""Largest step beyond the sizes tried, in doublings; one core more is always near."""
ODD = 4.0
"""Standard deviations of a surprise that may mean a change."""
KEPT = 0.5
"""Probability that the curve is unchanged after a surprise at another size."""


class Belief:
    """Belief about one program's throughput curve.

    Args:
        bounds: allowed sizes.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._curves = Curves(candidates(bounds), DRIFT, KINDS)
        self._prior = np.array([SCALING * log(size) for size in self._curves.sizes])
        self._noise = Wandering(NOISE_SD, WALK_SD, NOISE_FLOOR)
        self._size = 0
        self._odd = 0
        self._tried: set[int] = set()

    def take_in(self, seen: Observation) -> None:
        """Learn from an interval that is evidence about the size it ends with."""
        size = min(self._curves.sizes, key=lambda one: (abs(one - seen.size), one))
        value = log(seen.progress) - float(self._prior[self._curves.sizes.index(size)])
        self._noise.least = 1 / seen.ops
        self._curves.elapse(1.0, self._noise.level)
        difference, variance = self._curves.surprise(size, value, self._noise.noise)
        if variance < 1.0 and abs(difference) > ODD * sqrt(variance):
            sign = 1 if difference > 0 else -1
            if size != self._size:
                self._curves.split(KEPT)
            elif self._odd != sign:
                self._odd = sign
                return
            else:
                self._curves.relevel(value)
        self._odd = 0
        self._noise.update(size, value)
        self._curves.take_in(size, value, self._noise.noise)
        self._size = size
        self._tried.add(size)

    def worths(self, most: int, *, here: int = 0) -> tuple[float, ...]:
        """Expected logarithm of throughput at each size from the lowest to `most`, on any level.

        Args:
            most: the last size.
            here: the size in effect, for optimistic values of the other sizes; sizes far from the
                tried ones promise no more than near ones. 0 for plain expectations.
        """
        sizes = self._curves.sizes
        values = self._prior + self._curves.means
        if here:
            at = min(range(len(sizes)), key=lambda one: (abs(sizes[one] - here), one))
            values = values + OPTIMISM * self._curves.doubts(at)
            near = [place for place, size in enumerate(sizes) if self._is_near(size, here)]
            values[: near[0]] = values[near[0]]
            values[near[-1] :] = values[near[-1]]
        wanted = range(self._bounds.low, max(most, self._bounds.low) + 1)
        found = np.interp(np.log(wanted), np.log(sizes), values)
        return tuple(float(value) for value in found)

    def _is_near(self, size: int, here: int) -> bool:
        tried = self._tried | {here}
        return any(
            abs(np.log2(size / one)) <= STEP or abs(size - one) <= 1 for one in tried
        ) or size == min(self._curves.sizes, key=lambda one: abs(one - here))
