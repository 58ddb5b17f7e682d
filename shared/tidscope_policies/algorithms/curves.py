"""Beliefs about the progress at every size: several curves at once, and their weights.

Progress is spoken of by its logarithm, so that errors are relative and programs of any speed look
alike. A measurement is

    y = f(size) + level + noise

where the level is common to all sizes. It wanders around 0, to which it returns (an Ornstein-
Uhlenbeck process; `Wandering`): where it wanders far, only sizes measured soon after one another
can be compared, and where it hardly wanders all can be. Before anything is measured f is a Gaussian
process over log2 of the size (C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine
Learning, 2006, section 2.2), whose average is not known. How much sizes differ and how smoothly is
not known either, so there are several such processes side by side, each with a Kalman filter (R. E.
Kalman, 1960), weighted by how well they predicted what was measured (D. T. Magill, Optimal adaptive
estimation of sampled stochastic processes, 1965). After a jump one more is among them: the curve as
it was before, with another average.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NEAR, FAR, FURTHEST = 1, 4, 16
"""Intervals between the measurements compared."""

NORMAL = 1.4826
"""Standard deviation of a normal distribution over the median of its absolute value."""

REMEMBERED = 240

MIN_VARIANCE = 1e-6
"""Smaller variances count as zero."""

FIRST = 12
"""Differences before the first estimate counts half."""

FIRST_KEEP = 0.9

MAX_KEEP = 0.995


@dataclass(frozen=True, slots=True)
class Level:
    """Variation of the level that is common to all sizes.

    Attributes:
        variance: variance of the level around its mean.
        keep: share of the deviation that remains after an interval.
    """

    variance: float
    keep: float

    @property
    def step(self) -> float:
        """Variance added by one interval."""
        return (1 - self.keep * self.keep) * self.variance


class Wandering:
    """Estimator of the measurement noise, and of the level's range and speed.

    The level is modelled as an Ornstein-Uhlenbeck process: it wanders around its long-run mean, and
    returns. Measurements at one size, k intervals apart, then differ by

        variance(k) = 2 noise + 2 V (1 - keep^k)

    with V the variance of the level and `keep` the share of it left an interval later. Three
    such variances give noise, V and keep. They are estimated from medians of absolute differences,
    which a few outliers hardly move.

    Args:
        noise_sd: standard deviation of the noise assumed at first.
        walk_sd: standard deviation of the level's steps assumed at first.
        floor: smallest standard deviation of the noise.
    """

    def __init__(self, noise_sd: float, walk_sd: float, floor: float) -> None:
        stationary = walk_sd**2 / (1 - FIRST_KEEP**2)
        self._first = {
            lag: 2 * noise_sd**2 + 2 * stationary * (1 - FIRST_KEEP**lag)
            for lag in (NEAR, FAR, FURTHEST)
        }
        self._floor = floor
        self._row: deque[float | None] = deque(maxlen=FURTHEST + 1)
        self._apart = {lag: deque[float](maxlen=REMEMBERED) for lag in self._first}
        self._size = 0
        self._noise = 0.0
        self.level = Level(0.0, FIRST_KEEP)
        self.least = 0.0
        """Minimum variance of a measurement."""
        self._estimate()

    def move(self) -> None:
        """Forget earlier measurements, because the size or the level changed."""
        self._row.clear()

    def skip(self) -> None:
        """Skip an interval; its neighbours stay two intervals apart."""
        self._row.append(None)

    def update(self, size: int, value: float) -> None:
        """Add a measurement."""
        if size != self._size:
            self._row.clear()
        self._size = size
        self._row.append(value)
        for lag, found in self._apart.items():
            before = self._row[-1 - lag] if len(self._row) > lag else None
            if before is not None:
                found.append(abs(value - before))
        self._estimate()

    def _estimate(self) -> None:
        near, far, furthest = (self._variance(lag) / 2 for lag in self._first)
        noise = max(near - max(0.0, far - near) / (FAR - NEAR), self._floor**2)
        moved = max(0.0, far - noise)
        variance = max(furthest - noise, 1.5 * moved)
        self._noise = noise
        if variance < MIN_VARIANCE:
            self.level = Level(0.0, FIRST_KEEP)
            return
        keep = min(max(0.0, 1 - moved / variance) ** (1 / FAR), MAX_KEEP)
        self.level = Level(variance, keep)

    @property
    def noise(self) -> float:
        """Variance of one measurement."""
        return max(self._noise, self.least)

    def _variance(self, lag: int) -> float:
        found, first = self._apart[lag], self._first[lag]
        if not found:
            return first
        measured = (NORMAL * median(found)) ** 2
        share = len(found) / (len(found) + FIRST)
        return share * measured + (1 - share) * first


AVERAGE_SD = 5.0
"""Standard deviation of the average of f, in logarithms: practically unknown."""

ROUGH_SCALE = 0.3
"""Correlation length of the roughness, in doublings."""

MAX_SURPRISE = 4.0
"""Maximum evidence of one measurement against a curve, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Prior of a kind of curve, before anything is measured.

    Attributes:
        length_scale: correlation length of sizes, in doublings.
        sd: relative difference of progress between distant sizes.
        rough: relative deviation from a smooth curve.
        weight: prior probability.
    """

    length_scale: float
    sd: float
    rough: float
    weight: float


KINDS = (
    Kind(0.8, 0.13, 0.02, 0.5),
    Kind(1.2, 0.6, 0.1, 0.3),
    Kind(0.4, 0.3, 0.0, 0.2),
)


class Curves:
    """Mean and covariance of f at every size and of the level, for each kind of curve.

    Args:
        sizes: allowed sizes, ascending.
        drift: share of the prior's variance that returns in each interval.
        kinds: kinds of curves.
    """

    def __init__(self, sizes: Sequence[int], drift: float, kinds: Sequence[Kind] = KINDS) -> None:
        self.sizes = tuple(sizes)
        self._drift, self._kinds = drift, tuple(kinds)
        count = len(self.sizes)
        place = np.log2(np.array(self.sizes, dtype=np.float64))
        distance = place[:, None] - place[None, :]
        self._shapes = np.zeros((len(kinds), count + 1, count + 1))
        for at, kind in enumerate(kinds):
            alike = np.exp(-0.5 * (distance / kind.length_scale) ** 2)
            rough = np.exp(-0.5 * (distance / ROUGH_SCALE) ** 2)
            self._shapes[at, :count, :count] = kind.sd**2 * alike + kind.rough**2 * rough
        self._first = np.array([kind.weight for kind in kinds])
        self._first /= self._first.sum()
        self._grows = self._shapes
        self.forget()

    def forget(self) -> None:
        """Go back to the priors."""
        self._weights = self._first.copy()
        self._grows = self._shapes
        self._means = np.zeros(self._shapes.shape[:2])
        self._covariances = self._shapes.copy()
        self.relevel(0.0)

    def split(self, kept: float) -> None:
        """Split after a change: the curve is new, or the old one with another average.

        Args:
            kept: probability of the old curve.
        """
        mean, covariance = self._mixed()
        level = float(mean[:-1].mean() + mean[-1])
        grows = np.tensordot(self._weights, self._grows, 1)
        covariance[:-1, :-1] += AVERAGE_SD**2
        self.forget()
        self._means[:, :-1] = level
        self._weights = np.append(self._weights * (1 - kept), kept)
        self._grows = np.concatenate([self._shapes, grows[None]])
        self._means = np.concatenate([self._means, mean[None]])
        self._covariances = np.concatenate([self._covariances, covariance[None]])

    def loosen(self, variance: float) -> None:
        """Add uncertainty to the average, but not to the differences between sizes."""
        self._covariances[:, :-1, :-1] += variance

    def relevel(self, value: float) -> None:
        """Reset the average to an uncertain value near `value`."""
        self._means[:, :-1] += value - self._means[:, :-1].mean(axis=1, keepdims=True)
        self._means[:, -1] = 0.0
        self._covariances[:, -1, :] = self._covariances[:, :, -1] = 0.0
        self._covariances[:, :-1, :-1] += AVERAGE_SD**2

    def elapse(self, intervals: float, level: Level) -> None:
        """Let intervals pass, in which the level wanders."""
        kept = level.keep ** max(1.0, intervals)
        self._covariances += intervals * self._drift * self._grows
        self._means[:, -1] *= kept
        self._covariances[:, -1, :] *= kept
        self._covariances[:, :, -1] *= kept
        self._covariances[:, -1, -1] += (1 - kept * kept) * level.variance

    def surprise(self, size: int, value: float, noise: float) -> tuple[float, float]:
        """Difference of a measurement from its expectation, and the variance of the difference."""
        differences, variances = self._surprises(size, value, noise)
        mean = float(self._weights @ differences)
        variance = float(self._weights @ (variances + (differences - mean) ** 2))
        return mean, variance

    def take_in(self, size: int, value: float, noise: float) -> None:
        """Learn from a measurement: the logarithm of progress, with the variance of its noise."""
        differences, variances = self._surprises(size, value, noise)
        at = self.sizes.index(size)
        columns = self._covariances[:, :, at] + self._covariances[:, :, -1]
        self._means += columns * (differences / variances)[:, None]
        self._covariances -= columns[:, :, None] * columns[:, None, :] / variances[:, None, None]
        squares = np.minimum(differences**2 / variances, MAX_SURPRISE**2)
        logs = np.log(self._weights) - 0.5 * (squares + np.log(variances))
        self._weights = np.exp(logs - logs.max())
        self._weights = np.maximum(self._weights / self._weights.sum(), 1e-6)
        self._weights /= self._weights.sum()

    def _surprises(self, size: int, value: float, noise: float) -> tuple[Floats, Floats]:
        at = self.sizes.index(size)
        found = self._covariances
        variances = found[:, at, at] + 2 * found[:, at, -1] + found[:, -1, -1] + noise
        return value - self._means[:, at] - self._means[:, -1], variances

    def _mixed(self) -> tuple[Floats, Floats]:
        """Merge all curves into one Gaussian of f and the level."""
        mean = self._weights @ self._means
        off = self._means - mean
        between = np.einsum("k,ki,kj->ij", self._weights, off, off)
        return mean, np.tensordot(self._weights, self._covariances, 1) + between

    @property
    def weights(self) -> Floats:
        """Probability of each curve: the kinds, and after a change the old curve."""
        return self._weights

    @property
    def means(self) -> Floats:
        """Expected logarithm of progress at each size, around the average."""
        means: Floats = self._weights @ self._means[:, :-1]
        centred: Floats = means - means.mean()
        return centred

    @property
    def best(self) -> int:
        """The size with the highest expectation; the lowest of equals."""
        return self.sizes[int(np.argmax(self.means))]

    def doubt(self, one: int, other: int) -> float:
        """Standard deviation of the difference between two sizes, given by their places."""
        found = self._mixed()[1]
        return float(
            np.sqrt(max(0.0, found[one, one] + found[other, other] - 2 * found[one, other]))
        )

    def doubts(self, one: int) -> Floats:
        """Standard deviation of the difference between each size and one, given by its place."""
        found = self._mixed()[1][:-1, :-1]
        own = np.diagonal(found)
        doubts: Floats = np.sqrt(np.maximum(0.0, own + own[one] - 2 * found[one]))
        return doubts

    def gradients(
        self, worths: Floats, noise: float, level: Level, most: int
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Expected improvement of the best choice per measurement, by size (knowledge gradient).

        One measurement may teach almost nothing although several would. The value of k measurements
        in a row is therefore divided by k, and the best k is taken.

        Source: P. I. Frazier, W. B. Powell and S. Dayanik, The knowledge-gradient policy for
        correlated normal beliefs (2009); P. I. Frazier and W. B. Powell, Paradoxes in learning and
        the marginal value of information (2010), for several in a row. The expectation is taken by
        Gauss-Hermite quadrature.

        Args:
            worths: expected worth of each size: its mean, less the cost of changing to it.
            noise: variance of one measurement.
            level: variation of the level.
            most: maximum number of measurements in a row.

        Returns:
            The gradients, and the number of measurements in a row behind each.
        """
        means = self._means[:, :-1] + self._means[:, -1:]
        covariances = self._covariances
        # Row: the measured size; column: the shift of the belief about each size.
        moves = covariances[:, :-1, :-1] + covariances[:, -1:, :-1]
        moves = moves - moves.mean(axis=2, keepdims=True)
        variances = (
            np.diagonal(covariances, axis1=1, axis2=2)[:, :-1]
            + 2 * covariances[:, :-1, -1]
            + covariances[:, -1:, -1]
        )
        centred = self._means[:, :-1] - self._means[:, :-1].mean(axis=1, keepdims=True)
        off = means - self._weights @ means
        moves = np.tensordot(self._weights, moves, 1) + np.einsum(
            "k,ki,kj->ij", self._weights, off, centred - self._weights @ centred
        )
        variance = self._weights @ (variances + off**2)
        counts = _COUNTS[most >= _COUNTS]
        noises = noise / counts + np.minimum(level.step * (1 + counts / 3), level.variance)
        slopes = moves / np.sqrt(variance + noises[:, None])[:, :, None]
        futures = worths + _NODES[:, None, None, None] * slopes
        expected = np.tensordot(_WEIGHTS, futures.max(axis=3), 1)
        gains = np.maximum(expected - worths.max(), 0.0) / counts[:, None]
        number = gains.argmax(axis=0)
        gradients: Floats = gains.max(axis=0)
        return gradients, counts.astype(np.int64)[number]


_COUNTS = np.array([2, 4, 8, 16, 32], dtype=np.float64)
"""Two are the fewest: a change of size spoils a part of the first."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)

_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
