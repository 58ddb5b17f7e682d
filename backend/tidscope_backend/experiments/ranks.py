"""Rank correlation, and where throughput against size becomes stable and degrades. Pure."""

from collections.abc import Mapping, Sequence

import numpy as np
from tidscope_wire.generated.models import GroupFigure

from tidscope_backend.comparison.statistics import difference

NEAR = 0.03
"""A size whose throughput is within this share of the best is as good; as in `tidscope sweep`."""


def spearman(first: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rank correlation of pairs; equal values share a rank. None: it is not defined."""
    a, b = _ranks(first), _ranks(other)
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    return float(np.corrcoef(a, b)[0, 1])


def _ranks(values: Sequence[float]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    found = np.asarray(values, dtype=np.float64)
    _, places, counts = np.unique(found, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: np.ndarray[tuple[int], np.dtype[np.float64]] = (2 * ends - counts + 1) / 2
    return means[places]


def stable_point(by_size: Mapping[float, GroupFigure]) -> float | None:
    """The smallest size whose mean is near the best mean; None: nothing is known."""
    known = {size: one.mean for size, one in by_size.items() if one.mean is not None}
    if not known:
        return None
    best = max(known.values())
    return min(size for size, mean in known.items() if mean >= (1 - NEAR) * best)


def degradation_point(by_size: Mapping[float, GroupFigure]) -> float | None:
    """The smallest size above the best one from which on all are shown to be worse.

    Worse means more than NEAR below the best. None: no size is.
    """
    known = {size: one for size, one in sorted(by_size.items()) if one.mean is not None}
    if not known:
        return None
    best = max(known, key=lambda size: known[size].mean or 0.0)
    found = None
    for size in sorted((one for one in known if one > best), reverse=True):
        change = difference(known[best], known[size])
        bound = -NEAR * abs(known[best].mean or 0.0)
        if change.high is None or change.high >= 0 or (change.absolute or 0.0) > bound:
            break
        found = size
    return found
