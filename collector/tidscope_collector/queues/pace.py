"""When queues are read: at intervals, and as seldom as their cost requires. Not thread-safe."""

import time
from collections.abc import Callable

REST = 300
"""Minimum pause after a reading, as a multiple of the CPU time that it took."""
LONGEST_GAP_NS = 5_000_000_000
"""Maximum age of the previous reading, in nanoseconds; the time since an older one is not
covered."""


class Pace:
    """Intervals of one reading.

    Args:
        every_s: minimum interval, in seconds.
        first_s: time until the first reading, in seconds: a costly one that came too early to see
            anything would delay the second.
    """

    def __init__(self, every_s: float, first_s: float = 0.0) -> None:
        self._every_ns = int(every_s * 1e9)
        self._read_ns = 0
        self._next_ns = time.monotonic_ns() + int(first_s * 1e9)

    def read(self, read: Callable[[int], None]) -> None:
        """Read if it is time to.

        Args:
            read: takes the time since the reading before, in nanoseconds; 0 if it is not covered.
        """
        now_ns = time.monotonic_ns()
        if now_ns < self._next_ns:
            return
        since_ns = now_ns - self._read_ns
        self._read_ns = now_ns
        began_ns = time.thread_time_ns()
        read(since_ns if since_ns <= LONGEST_GAP_NS else 0)
        cost_ns = time.thread_time_ns() - began_ns
        self._next_ns = now_ns + max(self._every_ns, REST * cost_ns)

    def left_s(self) -> float:
        """Seconds until the next reading."""
        return max(0.0, (self._next_ns - time.monotonic_ns()) / 1e9)
