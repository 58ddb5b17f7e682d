"""Scenarios from a measured size curve, for hosts with any number of CPUs. Pure.

The universal scalability law is fitted to the points of a sweep. Written as

    n / X(n) = u + b n + c n (n - 1),   u, b, c >= 0

it is linear, so the fit is a least-squares problem with weights, and lambda = 1 / (u + b),
sigma = b / (u + b), kappa = c / (u + b). Each seed draws the points from their intervals and fits
again: scenarios differ as much as the sweep leaves open (parametric bootstrap; B. Efron, 1979).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from tidscope_policies.contract import Bounds
from tidscope_policies.simulation.scenario import ALMOST_ONE, TINY, Process, Scenario
from tidscope_policies.simulation.simulated_pools import usl

FEWEST = 4
"""Sizes that the three parameters need at least, one of them as a check."""
SPAN = 4
"""Least ratio of the largest measured size to the smallest."""
TOLERANCE = 0.03
"""Relative distance beyond its interval by which the law may miss a point."""
SURE_SD = 1.96
"""Standard deviations on each side of an interval that holds 95 %."""
DRAWS = 200
"""Fits from which an interval of the best size is taken."""
POINTS = 8
"""Random stream of the points; runs use other streams."""


class CurveError(ValueError):
    """The curve does not give a law; the text says why."""


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """Throughput at one size, with a 95 % interval.

    Raises:
        CurveError: the interval is empty, or does not hold a throughput above 0.
    """

    size: int
    ops_per_s: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.ops_per_s <= self.high < inf:
            raise CurveError(f"size {self.size} has no interval above 0: measure more rounds")

    @property
    def sd(self) -> float:
        """Standard deviation of the logarithm, at least a thousandth."""
        return max(1e-3, log(self.high / self.low) / (2 * SURE_SD))


@dataclass(frozen=True, slots=True)
class Law:
    """The universal scalability law of one program: see `usl`."""

    ops_per_thread: float
    sigma: float
    kappa: float

    def throughput(self, size: float) -> float:
        """Operations a second."""
        return usl(size, self.ops_per_thread, self.sigma, self.kappa)

    @property
    def best(self) -> float:
        """Size with the highest throughput, 1 at least; infinite if every thread adds some."""
        return max(1.0, sqrt((1 - self.sigma) / self.kappa)) if self.kappa > 0 else inf


@dataclass(frozen=True, slots=True)
class MeasuredLaw:
    """A law fitted to points.

    Attributes:
        law: the most likely one.
        points: by size, ascending.
    """

    law: Law
    points: tuple[MeasuredPoint, ...]

    def draw(self, seed: int) -> Law:
        """Return a law that the points leave possible."""
        stream = np.random.default_rng([seed, POINTS])
        factors = np.exp(stream.normal(0, [point.sd for point in self.points]))
        return _fit(self.points, factors * [point.ops_per_s for point in self.points])

    def best_interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the best size; its ends may be infinite."""
        bests = sorted(self.draw(seed).best for seed in range(DRAWS))
        return bests[DRAWS // 40], bests[-1 - DRAWS // 40]

    def describe(self) -> str:
        """Return the law and its best size as one line."""
        law, sizes = self.law, [point.size for point in self.points]
        ends = ", ".join(_size(end) for end in self.best_interval())
        return (
            f"X(n) = {law.ops_per_thread:.4g} n / (1 + {law.sigma:.3g} (n - 1) + "
            f"{law.kappa:.3g} n (n - 1)), from sizes {sizes[0]} to {sizes[-1]}; "
            f"best size {_size(law.best)} [{ends}]"
        )


def fit_law(points: Sequence[MeasuredPoint]) -> MeasuredLaw:
    """Fit the universal scalability law to a measured curve.

    Raises:
        CurveError: too few sizes, too close ones, or the curve does not follow the law.
    """
    found = tuple(sorted(points, key=lambda point: point.size))
    sizes = [point.size for point in found]
    if len(set(sizes)) < max(FEWEST, len(sizes)):
        raise CurveError(f"{len(set(sizes))} sizes were measured: want {FEWEST}, each once")
    if sizes[-1] < SPAN * sizes[0]:
        raise CurveError(f"sizes {sizes[0]} to {sizes[-1]}: want a factor of {SPAN} between them")
    law = _fit(found, np.array([point.ops_per_s for point in found]))
    for point in found:
        rate = law.throughput(point.size)
        if not point.low / (1 + TOLERANCE) <= rate <= point.high * (1 + TOLERANCE):
            raise CurveError(
                f"the curve does not follow the law: size {point.size} does "
                f"{point.ops_per_s:.4g} a second, by the law {rate:.4g}"
            )
    return MeasuredLaw(law, found)


def _fit(points: Sequence[MeasuredPoint], rates: NDArray[np.float64]) -> Law:
    """Weighted least squares with parameters of 0 or more: the best set of positive ones."""
    sizes = np.array([point.size for point in points], dtype=float)
    # A relative error of X is one of n / X: rows are divided by n / X.
    columns = np.stack([np.ones_like(sizes), sizes, sizes * (sizes - 1)], axis=1)
    weights = 1 / np.array([point.sd for point in points])
    rows = columns * (rates / sizes * weights)[:, None]
    least, best = inf, np.zeros(3)
    for count in (3, 2, 1):
        for chosen in combinations(range(3), count):
            some = np.linalg.lstsq(rows[:, chosen], weights, rcond=None)[0]
            found = np.zeros(3)
            found[list(chosen)] = some
            missed = float(((rows @ found - weights) ** 2).sum())
            if (some >= 0).all() and found[0] + found[1] > 0 and missed < least:
                least, best = missed, found
        if count == 3 and least < inf:
            break
    once, each, pairs = (float(value) for value in best)
    if not once + each > 0:
        raise CurveError("no law fits: one thread alone would do infinitely much")
    alone = once + each
    return Law(1 / alone, min(ALMOST_ONE, each / alone), pairs / alone)


def _size(size: float) -> str:
    return "none" if size == inf else f"{size:.0f}"


@dataclass(frozen=True, slots=True)
class MeasuredProgram:
    """A measured program on a host with a number of CPUs; a family of scenarios.

    Attributes:
        name: column heading.
        title: one line.
        measured: its law. Each thread is taken to have a CPU while there are enough.
        cpus: of the simulated host.
        own: the program's own size.
    """

    name: str
    title: str
    measured: MeasuredLaw
    cpus: int
    own: int

    def draw(self, seed: int) -> Scenario:
        """Return the scenario of a seed.

        Raises:
            ValueError: sizes or CPUs are more than scenarios may have.
        """
        law, sizes = self.measured.draw(seed), [point.size for point in self.measured.points]
        process = Process(max(law.ops_per_thread, TINY), law.sigma, law.kappa)
        bounds = Bounds(sizes[0], max(sizes[-1], self.cpus))
        return Scenario(
            self.name,
            self.title,
            [process],
            cores=self.cpus,
            low=bounds.low,
            high=bounds.high,
            start=bounds.clamp(self.own),
        )
