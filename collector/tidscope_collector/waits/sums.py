"""Adding up rows that have the same key. Pure."""

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import are_ascending, packed

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
    first = np.zeros(len(keys[0]), np.bool_)
    first[0] = True
    numbers = packed(keys)
    if numbers is None:
        order = np.lexsort(keys[::-1])
        for column in keys:
            ordered = column[order]
            first[1:] |= ordered[1:] != ordered[:-1]
    elif are_ascending(numbers):
        return keys, values
    else:
        order = np.argsort(numbers)
        ordered = numbers[order]
        first[1:] = ordered[1:] != ordered[:-1]
    begins = np.flatnonzero(first)
    return (
        tuple(column[order[begins]] for column in keys),
        tuple(np.add.reduceat(column[order], begins) for column in values),
    )
