"""What a look at the list of a process' threads gives."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Threads:
    """The threads of a process.

    Attributes:
        tid: uint32[n], in the kernel's order.
        idle: bool[n], those that have certainly not run since the look before this one; None if
            that is not known of any.
    """

    tid: npt.NDArray[np.uint32]
    idle: npt.NDArray[np.bool_] | None = None


class ThreadLister(Protocol):
    """Lists the threads of one process."""

    def list_threads(self) -> Threads:
        """List them.

        Raises:
            TargetExitedError: there are none any more.
            OSError: the kernel refused.
        """

    def close(self) -> None:
        """Close what is open; it cannot be asked any more."""
