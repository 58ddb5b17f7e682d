"""The tables `pools` and `pool_times`: known figures, and quantiles of times."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tidscope_wire.generated.frame_tables import COLUMNS

RESPONSE, QUEUE_WAIT = 0, 1
"""Values of the column `time`."""
BUCKETS = 32
_COLUMNS = tuple(COLUMNS["pools"])
FIGURES: Sequence[str] = _COLUMNS[_COLUMNS.index("known") + 1 : _COLUMNS.index("name")]
"""Columns whose presence the bits of `known` tell: bit b for the b-th."""


def knows(row: np.void, figure: str) -> bool:
    """True if a row of `pools` has a figure."""
    return bool(int(row["known"]) >> FIGURES.index(figure) & 1)


def upper_s(bucket: int) -> float:
    """Upper end of a bucket, seconds."""
    return 2.0 ** (bucket + 10) / 1e9


def quantile_s(counts: npt.NDArray[np.integer[Any]], part: float) -> float | None:
    """A quantile of a histogram of times, seconds, as the page has it (stayHistogram.ts).

    Within its bucket jobs count as spread evenly over the logarithm; of the last bucket it is the
    lower end.

    Args:
        counts: int[BUCKETS], jobs by bucket.
        part: of the jobs, above 0.

    Returns:
        Seconds, or None for an empty histogram.
    """
    above = np.cumsum(counts)
    total = int(above[-1])
    if total <= 0:
        return None
    bucket = int(np.argmax(above >= part * total))
    upper = upper_s(bucket)
    if bucket >= BUCKETS - 1:
        return upper / 2
    below = int(above[bucket]) - int(counts[bucket])
    return upper / 2 * 2 ** ((part * total - below) / int(counts[bucket]))
