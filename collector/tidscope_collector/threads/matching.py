"""Which rows of two tables of threads are the same threads'. Pure."""

import numpy as np
import numpy.typing as npt

Index = slice | npt.NDArray[np.intp]
"""Rows: all of them, or their numbers."""


def rows_of_both(
    left: npt.NDArray[np.uint32], right: npt.NDArray[np.uint32]
) -> tuple[Index, Index]:
    """Rows of the ids that stand in both tables.

    Args:
        left: uint32[n], ids, none of them twice.
        right: uint32[m], the same.

    Returns:
        Where they stand in the first table, ascending, and where in the second.
    """
    if np.array_equal(left, right):
        return slice(None), slice(None)
    if not len(right):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    order = np.argsort(right, kind="stable")
    at = np.searchsorted(right, left, sorter=order)
    at[at == len(right)] = 0
    there = order[at]
    here = np.flatnonzero(right[there] == left)
    return here, there[here]
