"""Time that children may take to read files: one child at a time, and a share of a CPU."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

SHARE = 0.05
"""Share of a CPU that children may use in the long run."""
BURST_S = 4.0
"""Time that children may use at once, after a time without questions, in seconds."""

_Result = TypeVar("_Result")


class Budget:
    """Budget of the children of one collector. Thread-safe.

    Args:
        clock: monotonic time, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._asking = threading.Lock()
        self._counting = threading.Lock()
        self._left_s = BURST_S
        self._at_s = clock()

    def until_ready_s(self) -> float:
        """Return seconds until a child may be asked; 0 if one may be asked now."""
        return max(0.0, -self._take(0.0) / SHARE)

    def spend(
        self,
        ask: Callable[[], _Result],
        cost_s: Callable[[_Result, float], float] = lambda _, wall_s: wall_s,
    ) -> _Result:
        """Ask a child, after waiting for those of other targets; what it cost is taken away.

        Args:
            ask: asks, and returns the answer. If it fails, its wall-clock time is its cost.
            cost_s: cost of an answer in seconds of CPU time, given its wall-clock time, which is
                much longer on a busy machine.
        """
        with self._asking:
            began_s = self._clock()
            try:
                answer = ask()
            except BaseException:
                self._take(self._clock() - began_s)
                raise
            self._take(cost_s(answer, self._clock() - began_s))
            return answer

    def _take(self, spent_s: float) -> float:
        """Take time away and return what is left; negative if too much was spent."""
        with self._counting:
            now_s = self._clock()
            refilled_s = self._left_s + SHARE * (now_s - self._at_s)
            self._left_s, self._at_s = min(BURST_S, refilled_s) - spent_s, now_s
            return self._left_s
