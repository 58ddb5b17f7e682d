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

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.anomalies.limits import NORMAL_MAD
from tidscope_traces.anomalies.vectors import Times

POOLED_WEIGHT = 20
"""A chain's own spread counts as much as that of all once this many traces have it."""
LEAST_SPREAD = 0.1
"""Of log2 times: clocks and schedulers differ by that much."""
MOST_SQUARED = 16.0


@dataclass(frozen=True, slots=True)
class Density:
    """What times are usual.

    Attributes:
        medians: of log2(1 + µs), by chain.
        spreads: standard deviations of these, by chain.
        mean_squared: what a chain adds to a score in a usual trace.
    """

    medians: NDArray[np.float64]
    spreads: NDArray[np.float64]
    mean_squared: float

    def squares(self, times: Times) -> tuple[list[int], NDArray[np.float64]]:
        """Chains of a trace, and the squared deviation of each."""
        places = list(times)
        values = _log(list(times.values()))
        deviations = (values - self.medians[places]) / self.spreads[places]
        return places, deviations**2

    def largest(self, times: Times) -> float:
        """The greatest squared deviation of a chain."""
        return float(self.squares(times)[1].max(initial=0.0))

    def score(self, times: Times) -> float:
        """How unlike the usual all times are: about 0 for a usual trace, of any number of chains.

        A sum of squares is not normal where there are few; its cube root nearly is (E. Wilson and
        M. Hilferty, 1931).
        """
        if not times:
            return 0.0
        _, squares = self.squares(times)
        spread = 2 / (9 * len(squares))
        bounded = np.minimum(squares, MOST_SQUARED)
        root = np.cbrt(bounded.sum() / (self.mean_squared * len(squares)))
        return float((root - (1 - spread)) / np.sqrt(spread))


def estimate(rows: Sequence[Times], features: int) -> Density:
    """The density of traces, most of which are normal.

    Args:
        rows: of each trace, time (ns) by chain.
        features: how many chains there are.
    """
    own: list[list[float]] = [[] for _ in range(features)]
    for times in rows:
        for place, value in times.items():
            own[place].append(value)
    counts = np.array([len(values) for values in own])
    medians, spreads = np.zeros(features), np.zeros(features)
    for place, values in enumerate(own):
        if values:
            logs = _log(values)
            medians[place] = np.median(logs)
            spreads[place] = NORMAL_MAD * np.median(np.abs(logs - medians[place]))
    often = spreads[counts >= POOLED_WEIGHT]
    pooled = float(np.median(often)) if len(often) else 1.0
    spreads = (counts * spreads + POOLED_WEIGHT * pooled) / (counts + POOLED_WEIGHT)
    # A median of few is uncertain itself: its variance is pi / 2 of the mean's.
    spreads = np.maximum(spreads, LEAST_SPREAD) * np.sqrt(1 + np.pi / 2 / np.maximum(counts, 1))
    density = Density(medians, spreads, 1.0)
    squares = [density.squares(times)[1] for times in rows if times]
    mean = float(np.minimum(np.concatenate(squares), MOST_SQUARED).mean()) if squares else 1.0
    return Density(medians, spreads, max(mean, LEAST_SPREAD))


def _log(times_ns: Sequence[float]) -> NDArray[np.float64]:
    return np.log2(1 + np.array(times_ns) / 1000)
