"""Adding up rows that have the same key. Pure."""

import numpy as np
import numpy.typing as npt

Keys = tuple[npt.NDArray[np.uint64], ...]
Values = tuple[npt.NDArray[np.uint64], ...]


def sum_by(keys: Keys, values: Values) -> tuple[Keys, Values]:
    """Sums of the rows of each key, ascending.

    Args:
        keys: columns, uint64[n] each; together they are a row's key.
        values: columns, uint64[n] each.

    Returns:
        The columns again, a row a key.
    """
    if not len(keys[0]):
        return keys, values
    order = np.lexsort(keys[::-1])
    ordered = tuple(column[order] for column in keys)
    first = np.zeros(len(order), np.bool_)
    first[0] = True
    for column in ordered:
        first[1:] |= column[1:] != column[:-1]
    begins = np.flatnonzero(first)
    return (
        tuple(column[begins] for column in ordered),
        tuple(np.add.reduceat(column[order], begins) for column in values),
    )
