"""bidirectional-printed: two-way hill climbing exactly as printed, so that the thesis can be
reproduced.

Source: M.G.A. Janssen, Adaptive thread pool scaling and real-time thread monitoring (TU Delft,
2022), algorithm 2. When progress fell, GOMAXPROCS goes back to the previous size and the direction
turns, but the variable that the next step starts from stays where it was. Around a peak of 10,
without noise, the sizes are 10, 10, 11, 10, 10, 9 and again: it stands still in every third
interval. Use `bidirectional` for anything but a comparison.
"""

from dataclasses import dataclass

from tidscope_policies.algorithms.bidirectional import DOWN, UP
from tidscope_policies.contract import (
    NOT_COUNTED,
    Decision,
    Observation,
    is_usable,
)
from tidscope_policies.parameters import Parameters


@dataclass(frozen=True)
class BidirectionalPrintedParameters(Parameters):
    """Of the policy `bidirectional-printed`."""


class BidirectionalPrinted:
    """Algorithm 2 with its own variable, which can differ from the current size."""

    def __init__(self, parameters: BidirectionalPrintedParameters) -> None:
        self._direction = DOWN
        self._variable: int | None = None
        self._last = 0.0
        self._why = "The climb begins"

    def observe(self, seen: Observation) -> Decision:
        """Compare with the interval before."""
        bounds = seen.bounds
        if self._variable is None:
            self._variable, self._direction, self._last = bounds.high, DOWN, 0.0
            why, size = f"{self._why}, at the highest size.", bounds.high
            return Decision(size, "climbing down", why, deferred=size == seen.size)
        if not is_usable(seen):
            size = bounds.clamp(self._variable)
            return Decision(size, "holding", f"{NOT_COUNTED}.", deferred=True)
        last, self._last = self._last, seen.progress
        if last > seen.progress:
            size = bounds.clamp(self._variable - self._direction)
            self._direction = -self._direction
            why = f"{seen.progress:.6g} ops/s is less than {last:.6g} before: back"
        else:
            if self._variable + self._direction not in bounds.sizes:
                self._direction = -self._direction
            self._variable = bounds.clamp(self._variable + self._direction)
            size = self._variable
            why = "Progress did not fall: on"
        word = "climbing up" if self._direction == UP else "climbing down"
        return Decision(size, word, f"{why} to {size}.")

    def restart(self, reason: str) -> None:
        """Begin again at the highest size."""
        self._variable = None
        self._why = f"The climb restarts: {reason}"
