"""How probable the times of a trace are, by a robust estimate for each chain of callers.

Of each chain the logarithm of its time has a median and a spread (median absolute deviation), which
a few abnormal traces among the normal ones do not move. Chains are taken to be independent, given
which of them a trace has: a score sums their squared deviations, each bounded, so that one strange
chain does not hide what the others say. Densities of scikit-learn (principal components, Gaussian
mixtures, local outlier factor, isolation forest) found far fewer of the same abnormal traces: a
chain that is absent is no time of 0, and they have no other way to see it (docs/traces.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.anomalies.limits import NORMAL_MAD, tail
from tidscope_traces.anomalies.vectors import Times

POOLED_WEIGHT = 20
"""A chain's own spread counts as much as that of all once this many traces have it."""
LEAST_SPREAD = 0.1
"""Of log2 times: clocks and schedulers differ by that much."""
MOST_SQUARED = 16.0
LEAST_EXCESS = 1.0
"""Of squared deviations; normal ones have about 2."""


@dataclass(frozen=True, slots=True)
class Density:
    """What times are usual.

    Attributes:
        floor_us: times far below this are alike: a chain's time in the mean.
        medians: of log2(floor_us + µs), by chain.
        spreads: standard deviations of these, below the median and above it, by chain: stalls only
            make longer, and the logarithm of a normal time has its longer tail below.
        mean_squared: what a chain adds to a score in a usual trace.
        tails: of squared deviations, what the greatest fifth exceeds, and by how much in the mean;
            by side and chain.
    """

    floor_us: float
    medians: NDArray[np.float64]
    spreads: NDArray[np.float64]
    mean_squared: float
    tails: NDArray[np.float64]

    def strangeness(self, times: Times) -> tuple[list[int], NDArray[np.float64]]:
        """Chains of a trace, and how far each is in the tail of its usual deviations."""
        places, sides, squares = self._squares(times)
        least, excess = self.tails[:, sides, places]
        return places, (squares - least) / excess

    def largest(self, times: Times) -> float:
        """The greatest strangeness of a chain."""
        return float(self.strangeness(times)[1].max(initial=0.0))

    def score(self, times: Times) -> float:
        """How unlike the usual all times are: about 0 for a usual trace, of any number of chains.

        A sum of squares is not normal where there are few; its cube root nearly is (E. Wilson and
        M. Hilferty, 1931).
        """
        if not times:
            return 0.0
        _, _, squares = self._squares(times)
        spread = 2 / (9 * len(squares))
        bounded = np.minimum(squares, MOST_SQUARED)
        root = np.cbrt(bounded.sum() / (self.mean_squared * len(squares)))
        return float((root - (1 - spread)) / np.sqrt(spread))

    def _squares(self, times: Times) -> tuple[list[int], NDArray[np.int64], NDArray[np.float64]]:
        """Chains, the side of the median that each is at, and its squared deviation."""
        places = list(times)
        away = _log(list(times.values()), self.floor_us) - self.medians[places]
        sides = (away > 0).astype(np.int64)
        return places, sides, (away / self.spreads[sides, places]) ** 2


def estimate(rows: Sequence[Times], features: int) -> Density:
    """The density of traces, most of which are normal.

    Args:
        rows: of each trace, time (ns) by chain.
        features: how many chains there are.
    """
    means = [sum(times.values()) / len(times) for times in rows if times]
    floor_us = 1 + float(np.median(means)) / 1000 if means else 1.0
    own: list[list[float]] = [[] for _ in range(features)]
    for times in rows:
        for place, value in times.items():
            own[place].append(value)
    logs = [_log(values, floor_us) for values in own]
    medians = np.array([np.median(values) if len(values) else 0.0 for values in logs])
    away = [values - median for values, median in zip(logs, medians, strict=True)]
    sides = [_estimate_side([sign * one[sign * one >= 0] for one in away]) for sign in (-1, 1)]
    squares = np.concatenate([one for side in sides for one in side.squares])
    mean = float(np.minimum(squares, MOST_SQUARED).mean()) if len(squares) else 1.0
    return Density(
        floor_us,
        medians,
        np.array([side.spreads for side in sides]),
        max(mean, LEAST_SPREAD),
        np.array([side.tails for side in sides]).swapaxes(0, 1),
    )


class _Side(NamedTuple):
    """Deviations to one side of the medians."""

    spreads: NDArray[np.float64]
    tails: NDArray[np.float64]
    squares: list[NDArray[np.float64]]


def _estimate_side(away: Sequence[NDArray[np.float64]]) -> _Side:
    counts = np.array([len(one) for one in away])
    spreads = np.array([NORMAL_MAD * np.median(one) if len(one) else 0.0 for one in away])
    spreads = np.maximum(_pooled(spreads, counts), LEAST_SPREAD)
    # A median of few is uncertain itself: its variance is pi / 2 of the mean's. Half are here.
    spreads *= np.sqrt(1 + np.pi / 4 / np.maximum(counts, 1))
    squares = [(one / spread) ** 2 for one, spread in zip(away, spreads, strict=True)]
    own = np.array([tail(one) if len(one) else (0.0, 0.0) for one in squares]).reshape(-1, 2)
    least, excess = (_pooled(column, counts) for column in own.T)
    return _Side(spreads, np.array([least, np.maximum(excess, LEAST_EXCESS)]), squares)


def _pooled(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each chain its own value, or that of all as far as few traces have it."""
    often = values[counts >= POOLED_WEIGHT]
    pooled = float(np.median(often)) if len(often) else 1.0
    return np.asarray((counts * values + POOLED_WEIGHT * pooled) / (counts + POOLED_WEIGHT))


def _log(times_ns: Sequence[float], floor_us: float) -> NDArray[np.float64]:
    return np.log2(floor_us + np.array(times_ns) / 1000)
