"""The tables `pools` and `pool_times`: which figures are known, and the buckets of times."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tidscope_wire.generated.frame_tables import COLUMNS

RESPONSE, QUEUE_WAIT = 0, 1
"""Values of the column `time`."""
BUCKETS = 32
_COLUMNS = tuple(COLUMNS["pools"])
FIGURES: Sequence[str] = _COLUMNS[_COLUMNS.index("known") + 1 : _COLUMNS.index("name")]
"""Columns of which `known` says whether they are known: bit b is of the b-th."""


def knows(row: np.void, figure: str) -> bool:
    """Whether a row of `pools` knows a figure."""
    return bool(int(row["known"]) >> FIGURES.index(figure) & 1)


def known_rows(known: npt.NDArray[np.uint32], figure: str) -> npt.NDArray[np.bool_]:
    """Which rows know a figure, bool[n].

    Args:
        known: the column, uint32[n].
        figure: a column of FIGURES.
    """
    return (known >> np.uint32(FIGURES.index(figure)) & np.uint32(1)).astype(np.bool_)


def upper_s(bucket: int) -> float:
    """Upper end of a bucket, seconds."""
    return 2.0 ** (bucket + 10) / 1e9
