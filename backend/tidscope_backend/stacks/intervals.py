"""95 % intervals of shares and of differences. Pure."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Z = 1.959963984540054
"""Half-width of a 95 % interval, in standard deviations."""


def wilson(share: Floats, number: Floats) -> tuple[Floats, Floats]:
    """Return the 95 % interval of a share that was seen in a number of samples."""
    extra = Z**2 / number
    centre = (share + extra / 2) / (1 + extra)
    half = np.sqrt(share * (1 - share) / number + extra / (4 * number)) * Z / (1 + extra)
    return np.maximum(centre - half, 0), np.minimum(centre + half, 1)


def t_ratio(freedom: Floats) -> Floats:
    """Return the 97.5 % quantile of Student's t by that of the normal distribution.

    The first terms of its expansion (Abramowitz and Stegun, 26.7.5), for one degree of freedom or
    more.
    """
    inverse = 1 / np.maximum(freedom, 1)
    second = (5 * Z**4 + 16 * Z**2 + 3) / 96
    return 1 + (Z**2 + 1) / 4 * inverse + second * inverse**2


def difference(
    before: Floats, low: Floats, high: Floats, after: Floats, after_low: Floats, after_high: Floats
) -> tuple[Floats, Floats]:
    """Return the 95 % interval of after - before, from the intervals of both.

    The squares of the distances to the ends add up (Zou and Donner, 2008), so that intervals need
    not be symmetric.
    """
    change = after - before
    down = np.hypot(after - after_low, high - before)
    up = np.hypot(after_high - after, before - low)
    return change - down, change + up
