"""Tables that come piece by piece."""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt


def joined(
    pieces: Iterable[Mapping[str, npt.NDArray[np.void]]],
) -> dict[str, npt.NDArray[np.void]]:
    """All tables at once, by name."""
    return {name: table for piece in pieces for name, table in piece.items()}
