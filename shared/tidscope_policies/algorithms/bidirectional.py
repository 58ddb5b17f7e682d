"""bidirectional: step on while it gets better, step back and turn round when it gets worse.

Source: M.G.A. Janssen, Adaptive thread pool scaling and real-time thread monitoring (TU Delft,
2022), algorithm 2. It begins at the highest size, downwards, and turns at the bounds.

Corrected against the printed version: that one puts GOMAXPROCS back to the previous size but not
its own variable, so that the next step starts from a size which is not in effect and stays where it
is for an interval. `bidirectional_printed.py` keeps it as printed.
"""

from dataclasses import dataclass

from tidscope_policies.contract import (
    NOT_COUNTED,
    Decision,
    Observation,
    is_usable,
)
from tidscope_policies.parameters import Parameters

DOWN, UP = -1, 1


@dataclass(frozen=True)
class BidirectionalParameters(Parameters):
    """Of the policies `bidirectional` and `bidirectional-printed`."""


class Bidirectional:
    """Two-way hill climbing by steps of one."""

    def __init__(self, parameters: BidirectionalParameters) -> None:
        self._direction = DOWN
        self._last: float | None = None
        self._why = "The climb begins"
        self._begun = False

    def observe(self, seen: Observation) -> Decision:
        """Compare with the interval before."""
        bounds = seen.bounds
        if not self._begun:
            self._begun, self._last, self._direction = True, None, DOWN
            return Decision(bounds.high, "climbing down", f"{self._why}, at the highest size.")
        if not is_usable(seen):
            self._last = None
            return Decision(bounds.clamp(seen.size), "holding", f"{NOT_COUNTED}.")
        last, now = self._last, seen.progress
        self._last = now
        if last is not None and last > now:
            self._direction = -self._direction
            return self._step(seen, f"{now:.6g} ops/s is less than {last:.6g} before: back")
        return self._step(seen, "Progress did not fall: on")

    def restart(self, reason: str) -> None:
        """Begin again at the highest size."""
        self._begun = False
        self._why = f"The climb restarts: {reason}"

    def _step(self, seen: Observation, why: str) -> Decision:
        bounds = seen.bounds
        size = seen.size + self._direction
        if size not in bounds.sizes:
            self._direction = -self._direction
            size = bounds.clamp(seen.size + self._direction)
        word = "climbing up" if self._direction == UP else "climbing down"
        return Decision(size, word, f"{why} to {size}.")
