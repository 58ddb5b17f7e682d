"""bidirectional: step on while it gets better, step back and turn round when it gets worse.

Source: M.G.A. Janssen, Adaptive thread pool scaling and real-time thread monitoring (TU Delft,
2022), algorithm 2. It begins at the pool's own size (in print at the highest), downwards, and turns
at the bounds.

Corrected against the printed version: that one puts GOMAXPROCS back to the previous size but not
its own variable, so that the next step starts from a size which is not in effect and stays where it
is for an interval. `BidirectionalPrinted` keeps it as printed.

Added, off by default, as its chapters 6 and 7 recommend: a dip gate, bounds by the number of
programs, and a rest. Two turns within a few steps are a plateau: it rests at the better one of the
sizes between which it goes to and fro, and searches on after the rest.
"""

from collections import deque
from dataclasses import dataclass

from tidscope_policies.contract import (
    NOT_COUNTED,
    Decision,
    Observation,
    is_usable,
)
from tidscope_policies.parameters import Parameters, parameter

DOWN, UP = -1, 1

TURNS, WITHIN = 2, 4
"""Number of turns within `WITHIN` steps that mark a plateau."""


@dataclass(frozen=True)
class BidirectionalParameters(Parameters):
    """Parameters of the policy `bidirectional`."""

    start: int = parameter(0, 0, 65536, "threads", "size to begin with; 0: the pool's own")
    rest: int = parameter(0, 0, 600, "intervals", "rest on a plateau; 0: none")
    dip_gate: int = parameter(0, 0, 1, "", "1: dips are left out")
    share: float = parameter(
        0.0, 0.0, 10.0, "doublings", "largest distance from a fair share of the host; 0: any"
    )


class Bidirectional:
    """Two-way hill climbing by steps of one."""

    def __init__(self, parameters: BidirectionalParameters) -> None:
        self._p = parameters
        self._direction = DOWN
        self._turns: deque[bool] = deque(maxlen=WITHIN)
        self._resting = 0
        self._before: tuple[int, float] | None = None
        self._last: float | None = None
        self._why = "The climb begins"
        self._begun = False

    def observe(self, seen: Observation) -> Decision:
        """Compare with the interval before."""
        bounds = seen.bounds
        if not self._begun:
            self._begun, self._last, self._direction = True, None, DOWN
            self._turns.clear()
            self._resting = 0
            size = bounds.clamp(self._p.start or seen.size)
            why = f"{self._why}, at {size}."
            return Decision(size, "climbing down", why, deferred=size == seen.size)
        if not is_usable(seen):
            self._last = None
            self._resting = max(0, self._resting - 1)
            size = bounds.clamp(seen.size)
            return Decision(size, "holding", f"{NOT_COUNTED}.", deferred=True)
        if self._resting:
            self._resting -= 1
            return Decision(bounds.clamp(seen.size), "resting", f"Resting at {seen.size}.")
        last, now = self._last, seen.progress
        before, self._before = self._before, (seen.size, now)
        self._last = now
        falls = last is not None and last > now
        self._turns.append(falls)
        if self._p.rest and sum(self._turns) >= TURNS:
            return self._rest(seen, before)
        if last is not None and falls:
            self._direction = -self._direction
            return self._step(seen, f"{now:.6g} ops/s is less than {last:.6g} before: back")
        return self._step(seen, "Progress did not fall: on")

    def restart(self, reason: str) -> None:
        """Start again at the initial size."""
        self._begun = False
        self._why = f"The climb restarts: {reason}"

    def _rest(self, seen: Observation, before: tuple[int, float] | None) -> Decision:
        better = seen.size if before is None or before[1] <= seen.progress else before[0]
        size = seen.bounds.clamp(better)
        self._resting, self._last, self._before = self._p.rest, None, None
        self._turns.clear()
        return Decision(size, "resting", f"It goes to and fro: a rest at {size}, the better one.")

    def _step(self, seen: Observation, why: str) -> Decision:
        bounds = seen.bounds
        size = seen.size + self._direction
        if size not in bounds.sizes:
            self._direction = -self._direction
            size = bounds.clamp(seen.size + self._direction)
        word = "climbing up" if self._direction == UP else "climbing down"
        return Decision(size, word, f"{why} to {size}.")


@dataclass(frozen=True)
class BidirectionalPrintedParameters(Parameters):
    """Parameters of the policy `bidirectional-printed`."""


class BidirectionalPrinted:
    """bidirectional-printed: algorithm 2 exactly as printed, to reproduce the thesis.

    When progress fell, GOMAXPROCS goes back to the previous size and the direction turns, but the
    variable that the next step starts from keeps its value. Around a peak of 10, without noise, the
    sizes are 10, 10, 11, 10, 10, 9 and again: every third interval repeats a size. Use
    `bidirectional` for anything but a comparison.
    """

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
        """Start again at the highest size."""
        self._variable = None
        self._why = f"The climb restarts: {reason}"
