"""Several columns of a key as one number each row, in the order of the columns."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

_BITS = 64
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def packed(columns: Sequence[npt.NDArray[np.unsignedinteger]]) -> Words | None:
    """A number for each row: two are equal, or less, where the rows' keys are.

    Args:
        columns: the first one counts most; n rows each, one column or more.

    Returns:
        uint64[n]; None: they need more than 64 bits.
    """
    if not len(columns[0]):
        return np.empty(0, np.uint64)
    parts = list[tuple[Words, int]]()
    for column in columns:
        words = column.astype(np.uint64, copy=False)
        # Halves with few bits each, as of two ids, need less room than all bits between them.
        if int(words.max()).bit_length() > int(_HALF):
            parts += [_part(words >> _HALF), _part(words & _LOW)]
        else:
            parts.append(_part(words))
    if sum(bits for _, bits in parts) > _BITS:
        return None
    made = np.zeros(len(columns[0]), np.uint64)
    for words, bits in parts:
        if bits:  # a shift by 64 is not defined, and one by all of them moves nothing
            made = made << np.uint64(bits % _BITS) | words
    return made


def _part(words: Words) -> tuple[Words, int]:
    return words, int(words.max()).bit_length()


def are_ascending(numbers: Words) -> bool:
    """Whether each number is greater than the one before."""
    return bool((numbers[1:] > numbers[:-1]).all())
