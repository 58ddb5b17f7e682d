"""The sequence numbers of exit records: a second account of those that were lost.

The kernel numbers the exit records of each CPU without a gap (kernel/taskstats.c: prepare_reply).
It is not the first account, for three reasons: what is lost at the end shows only when another
thread has exited on that CPU; a thread that is preempted after it took its number is overtaken by
later ones; and one that moves to another CPU meanwhile sends its record to the listeners of the CPU
where it was before. The sum over all CPUs is right again as soon as the last record is there.
"""

import numpy as np
import numpy.typing as npt

_FAR = 1 << 20
"""A number so far ahead of the expected one belongs to the counter of another CPU."""


class Numbering:
    """Numbers seen on all CPUs."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}
        self._taken = 0
        self._seen = 0

    @property
    def missing(self) -> int:
        """Records that were numbered between the first and the last seen, and not seen.

        Below 0 as long as more records moved to another CPU than are missing.
        """
        return self._taken - self._seen

    def note(self, cpu: int, numbers: npt.NDArray[np.uint32]) -> None:
        """Take numbers in, in the order in which they came.

        Args:
            cpu: whose socket they came on.
            numbers: uint32[n].
        """
        if not len(numbers):
            return
        expected = self._next.get(cpu, int(numbers[0]))
        ahead = (numbers - np.uint32(expected)).astype(np.int64)
        near = ahead[ahead < _FAR]
        steps = int(near.max()) + 1 if len(near) else 0
        self._next[cpu] = (expected + steps) % 2**32
        self._taken += steps
        self._seen += len(numbers)
