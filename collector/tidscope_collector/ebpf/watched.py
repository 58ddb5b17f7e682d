"""Whose threads are counted: those of one process, or of the several that a group has."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

Pids = npt.NDArray[np.uint32]


class Processes(Protocol):
    """Several processes that come and go; hashed by identity.

    Attributes:
        pids: uint32[m], ascending: their ids, also those of processes that ended so lately that
            exit records may still come. Another array once they change.
    """

    @property
    def pids(self) -> Pids: ...

    def names(self) -> Mapping[int, str]:
        """Names of these processes by their ids: comm of each."""


Whose = int | Processes
"""A process id stands for that process."""


def are_in(pids: Pids, known: Pids) -> npt.NDArray[np.bool_]:
    """Which ids are among known ones.

    Args:
        pids: uint32[n].
        known: uint32[m], ascending.

    Returns:
        bool[n].
    """
    if not len(known):
        return np.zeros(len(pids), np.bool_)
    at = np.minimum(np.searchsorted(known, pids), len(known) - 1)
    found: npt.NDArray[np.bool_] = known[at] == pids
    return found


def are_of(pids: Pids, whose: Whose) -> npt.NDArray[np.bool_]:
    """Which ids are of the processes that are meant.

    Args:
        pids: uint32[n].
        whose: processes.

    Returns:
        bool[n].
    """
    if isinstance(whose, int):
        one: npt.NDArray[np.bool_] = pids == whose
        return one
    return are_in(pids, whose.pids)
