"""What is believed about the progress at every size, and how a measurement changes it.

Progress is spoken of by its logarithm, so that errors are relative and programs of any speed look
alike. The belief is a Gaussian one: before anything is measured, a Gaussian process over log2 of
the size (sizes near each other are alike; C. E. Rasmussen and C. K. I. Williams, Gaussian Processes
for Machine Learning, 2006, section 2.2) on a level of which nothing is known. A measurement is

    y = f(size) + disturbance + noise

with a disturbance common to all sizes that fades slowly (autoregressive of first order). A Kalman
filter (R. E. Kalman, A new approach to linear filtering and prediction problems, 1960) takes it in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL_SD = 5.0
"""Of the level, in logarithms: as good as unknown."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What is believed before anything is measured.

    Attributes:
        length_scale: how far sizes are alike, in doublings.
        sd: how much progress differs between sizes that are far apart, relative.
        drift: share of the prior's variance that comes back in each interval.
        keep: share of the common disturbance that is left after an interval.
        disturbance_sd: of the common disturbance, relative.
    """

    length_scale: float
    sd: float
    drift: float
    keep: float
    disturbance_sd: float


class Belief:
    """Mean and covariance of f at every size, and of the disturbance.

    Args:
        sizes: that can be chosen, ascending.
        prior: what is believed first.

    Attributes:
        sd: how much progress is thought to differ between sizes, relative.
    """

    def __init__(self, sizes: Sequence[int], prior: Prior) -> None:
        self.sizes = tuple(sizes)
        self._prior = prior
        place = np.log2(np.array(self.sizes, dtype=np.float64))
        distance = (place[:, None] - place[None, :]) / prior.length_scale
        count = len(self.sizes)
        self._alike = np.zeros((count + 1, count + 1))
        self._alike[:count, :count] = np.exp(-0.5 * distance**2)
        self._mean = np.zeros(count + 1)
        self.widen(prior.sd)

    def widen(self, sd: float) -> None:
        """Go back to a prior in which sizes differ by so much, relative."""
        self.sd = sd
        self._shape = sd**2 * self._alike
        self.forget()

    def forget(self) -> None:
        """Go back to the prior."""
        self._mean[:] = 0.0
        self._covariance = self._shape.copy()
        self._covariance[:-1, :-1] += LEVEL_SD**2
        self._covariance[-1, -1] = self._prior.disturbance_sd**2

    def loosen(self, sd: float) -> None:
        """The level moved by something like `sd`; what is known of the differences stays."""
        self._covariance[:-1, :-1] += sd**2

    def elapse(self) -> None:
        """Let one interval pass."""
        prior = self._prior
        self._mean[-1] *= prior.keep
        self._covariance[-1, :] *= prior.keep
        self._covariance[:, -1] *= prior.keep
        self._covariance[-1, -1] += (1 - prior.keep**2) * prior.disturbance_sd**2
        self._covariance += prior.drift * self._shape

    def surprise(self, size: int, log_progress: float, noise: float) -> tuple[float, float]:
        """How far a measurement is from what is expected: the difference, and its variance."""
        at = self.sizes.index(size)
        covariance = self._covariance
        variance = covariance[at, at] + 2 * covariance[at, -1] + covariance[-1, -1] + noise
        return log_progress - float(self._mean[at] + self._mean[-1]), float(variance)

    def take_in(self, size: int, log_progress: float, noise: float) -> None:
        """Learn from a measurement.

        Args:
            size: that it was made at.
            log_progress: natural logarithm of operations a second.
            noise: variance of the measurement.
        """
        difference, variance = self.surprise(size, log_progress, noise)
        column = self._response(self.sizes.index(size))
        self._mean += column * (difference / variance)
        self._covariance -= np.outer(column, column) / variance

    @property
    def means(self) -> Floats:
        """Expected logarithm of progress at each size."""
        return self._mean[:-1]

    @property
    def best(self) -> int:
        """The size with the highest expectation; the lowest of equals."""
        return self.sizes[int(np.argmax(self.means))]

    def doubt(self, one: int, other: int) -> float:
        """Standard deviation of the difference between two sizes, given by their places."""
        found = self._covariance
        return float(
            np.sqrt(max(0.0, found[one, one] + found[other, other] - 2 * found[one, other]))
        )

    def knowledge_gradients(self, worths: Floats, noise: float, most: int) -> Floats:
        """How much better the best choice is expected to become for each measurement made, by size.

        One measurement may teach next to nothing where several would: what so many in a row are
        worth is divided by their number, and the best number taken.

        Source: P. I. Frazier, W. B. Powell and S. Dayanik, The knowledge-gradient policy for
        correlated normal beliefs (2009); P. I. Frazier and W. B. Powell, Paradoxes in learning and
        the marginal value of information (2010), for several in a row. The expectation is taken by
        Gauss-Hermite quadrature.

        Args:
            worths: what each size is expected to be worth: its mean, less what going there costs.
            noise: variance of one measurement.
            most: largest number in a row that is thought of.
        """
        covariance = self._covariance
        variances = np.diagonal(covariance)[:-1] + 2 * covariance[:-1, -1] + covariance[-1, -1]
        # Row: the size measured; column: how much what is believed of each size moves with it.
        moves = covariance[:-1, :-1] + covariance[-1:, :-1]
        # What moves all sizes alike decides nothing.
        moves = moves - moves.mean(axis=1, keepdims=True)
        counts = _COUNTS[most >= _COUNTS]
        slopes = moves / np.sqrt(variances + noise / counts[:, None])[:, :, None]
        futures = worths + _NODES[:, None, None, None] * slopes
        expected = np.tensordot(_WEIGHTS, futures.max(axis=3), 1)
        gains = np.maximum(expected - worths.max(), 0.0) / counts[:, None]
        gradients: Floats = gains.max(axis=0)
        return gradients

    def _response(self, at: int) -> Floats:
        """Covariance of the state with a measurement at a size."""
        response: Floats = self._covariance[:, at] + self._covariance[:, -1]
        return response


_COUNTS = np.array([1, 2, 4, 8, 16, 32], dtype=np.float64)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
