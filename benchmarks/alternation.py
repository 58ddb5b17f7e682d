"""States in turn, many times, and what they differ by: for effects smaller than the noise.

A block measures every state once, in random order, so that what drifts meets all of them alike.
Differences are taken within a block; of the blocks' differences the middle 60 % are averaged, and
intervals come from a bootstrap over blocks.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_RESAMPLES = 4000
_CUT = 0.2
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A figure with the interval that holds it with a confidence of 95 %."""

    value: float
    low: float
    high: float

    def rounded(self, digits: int) -> tuple[float, list[float]]:
        """The figure and its interval."""
        return round(self.value, digits), [round(self.low, digits), round(self.high, digits)]


def alternate(
    states: Sequence[str], blocks: int, measure: Callable[[str], tuple[float, ...]], seed: int
) -> dict[str, Floats]:
    """Measure all states in so many blocks.

    Args:
        states: their names.
        blocks: how often each is measured.
        measure: brings a state about, measures, and leaves it; the same numbers for every state.
        seed: of the orders.

    Returns:
        float64[numbers, blocks] for each state.
    """
    order, shuffle = list(states), random.Random(seed).shuffle
    found: dict[str, list[tuple[float, ...]]] = {state: [] for state in states}
    for _ in range(blocks):
        shuffle(order)
        for state in order:
            found[state].append(measure(state))
    return {state: np.array(rows, np.float64).T for state, rows in found.items()}


def mean(differences: Floats, seed: int = 0) -> Estimate:
    """The trimmed mean of float64[blocks]."""
    return _estimate(_trimmed(differences), _trimmed(_resampled(differences, seed)))


def ratio(above: Floats, below: Floats, seed: int = 0) -> Estimate:
    """The ratio of two trimmed means of float64[blocks]; blocks are drawn for both alike."""
    return _estimate(
        _trimmed(above) / _trimmed(below),
        _trimmed(_resampled(above, seed)) / _trimmed(_resampled(below, seed)),
    )


def _resampled(values: Floats, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).integers(0, len(values), (_RESAMPLES, len(values)))
    return values[drawn]


def _trimmed(values: Floats) -> Floats:
    cut = int(values.shape[-1] * _CUT)
    middle: Floats = np.sort(values)[..., cut : values.shape[-1] - cut].mean(axis=-1)
    return middle


def _estimate(value: Floats, resampled: Floats) -> Estimate:
    low, high = np.quantile(resampled, (0.025, 0.975))
    return Estimate(float(value), float(low), float(high))
