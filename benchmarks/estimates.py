"""Estimates with 95 % intervals from noisy measurements: differences of states, and trends.

For effects smaller than the noise, `alternate` measures every state once per block, in random
order, so that drift affects all states alike. Differences are taken within a block. The middle
60 % of the blocks' differences are averaged; intervals come from a bootstrap over blocks.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
    """Measure all states in a number of blocks.

    Args:
        states: their names.
        blocks: number of measurements of each state.
        measure: brings a state about, measures, and leaves it; the same numbers for every state.
        seed: seed of the orders.

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


BLOCKS = 12
T_10 = 2.228
"""Student's t, 97.5 %, with BLOCKS - 2 degrees of freedom."""


class Trend(NamedTuple):
    """Units a unit of time; the interval of 95 %."""

    slope: float
    low: float
    high: float

    def flat(self, bound: float) -> bool:
        """True without growth: the interval contains zero, or the slope is below a bound."""
        return self.low <= 0 <= self.high or abs(self.slope) < bound


def trend(times: Sequence[float], values: Sequence[float]) -> Trend:
    """Fit a line to the means of twelve equal blocks.

    Samples of memory are autocorrelated, and a fit to single ones would be far too sure of itself;
    means of long blocks are nearly independent. What correlation is left between neighbouring ones
    widens the interval as that of a first-order autoregression does: by √((1+r)/(1-r)).

    Args:
        times: rising, evenly spaced or nearly so; at least two samples a block.
        values: one for each time.
    """
    if len(times) < 2 * BLOCKS:
        raise ValueError(f"{len(times)} samples are too few: a trend needs {2 * BLOCKS}")
    at = np.array([block.mean() for block in np.array_split(np.asarray(times, float), BLOCKS)])
    means = np.array([block.mean() for block in np.array_split(np.asarray(values, float), BLOCKS)])
    x = at - at.mean()
    spread = float(x @ x)
    slope = float(x @ means) / spread
    rest = means - means.mean() - slope * x
    power = float(rest @ rest)
    error = math.sqrt(power / (BLOCKS - 2) / spread)
    r = float(rest[1:] @ rest[:-1]) / power if power else 0.0
    r = min(max(r, 0.0), 0.9)
    half = T_10 * error * math.sqrt((1 + r) / (1 - r))
    return Trend(slope, slope - half, slope + half)
