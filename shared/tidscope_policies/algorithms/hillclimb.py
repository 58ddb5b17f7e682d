"""hillclimb: grow by longer and longer steps while it pays, settle, look the other way at times.

Source: J. Timm, An OS-level adaptive thread pool scheme for I/O-heavy workloads (TU Delft, 2021),
which climbs on I/O throughput; here on any progress. It begins at the pool's own size (in the
source at the lowest) and decides once a second. SCALING: steps of 1, 2, 3… while progress times a
factor is above that of the step before; when progress fell the last step is undone. SETTLED: for a
while. EXPLORING: one thread in the other direction than before; what is significantly better is
kept and scaled on from, what is not is undone.

Corrected: an interval in which the size changed by other hands is discarded, and the size found is
where it goes on from. Otherwise the other's effect counts as its own.
"""

from dataclasses import dataclass
from typing import Literal

from tidscope_policies.contract import (
    NOT_COUNTED,
    Decision,
    Observation,
    is_usable,
)
from tidscope_policies.parameters import Parameters, parameter

State = Literal["starting", "scaling", "settled", "exploring"]
DOWN, UP = -1, 1


@dataclass(frozen=True)
class HillclimbParameters(Parameters):
    """Parameters of the policy `hillclimb`."""

    interval_s: float = parameter(
        1.0, 0.5, 60.0, "s", "length of an interval: how often the policy decides"
    )
    factor: float = parameter(
        0.9, 0.5, 1.0, "", "progress times this must exceed that of the step before"
    )
    start: int = parameter(0, 0, 65536, "threads", "size to begin with; 0: the pool's own")
    significance: float = parameter(
        0.0, 0.0, 1.0, "", "relative gain that exploring must exceed for its size to be kept"
    )
    settled: int = parameter(4, 1, 600, "intervals", "rest before it tries the other direction")


class Hillclimb:
    """Hill climbing with growing steps and a rest."""

    def __init__(self, parameters: HillclimbParameters) -> None:
        self._p = parameters
        self._state: State = "starting"
        self._why = "The climb begins"
        self._direction = UP
        self._stride = 1
        self._from = 0
        self._reference: float | None = None
        self._rest = 0
        self._moved = False

    def observe(self, seen: Observation) -> Decision:
        """Compare with the step before."""
        if self._state == "starting":
            self._state, self._direction, self._stride = "scaling", UP, 1
            self._reference = None
            size = seen.bounds.clamp(self._p.start or seen.size)
            why = f"{self._why}, at {size}."
            return Decision(size, "starting", why, deferred=size == seen.size)
        if not is_usable(seen):
            self._settle()
            size = seen.bounds.clamp(seen.size)
            return Decision(size, "holding", f"{NOT_COUNTED}.", deferred=True)
        if self._state == "settled":
            return self._rest_or_explore(seen)
        if self._reference is None:
            return self._climb(seen, f"{seen.size} is measured")
        if self._state == "exploring":
            return self._judge_exploring(seen, self._reference)
        return self._judge_scaling(seen, self._reference)

    def restart(self, reason: str) -> None:
        """Start again at the initial size."""
        self._state = "starting"
        self._why = f"The climb restarts: {reason}"

    def _judge_exploring(self, seen: Observation, reference: float) -> Decision:
        if seen.progress <= reference * (1 + self._p.significance):
            return self._undo(seen)
        self._state, self._stride = "scaling", 1
        return self._climb(seen, f"{seen.size} is better than {self._from}")

    def _judge_scaling(self, seen: Observation, reference: float) -> Decision:
        if seen.progress * self._p.factor > reference:
            self._stride += 1
            return self._climb(seen, f"{seen.size} is much better than {self._from}")
        if seen.progress < reference:
            return self._undo(seen)
        self._settle()
        return Decision(seen.size, "settled", f"{seen.size} is hardly better than {self._from}.")

    def _settle(self) -> None:
        self._state, self._rest = "settled", self._p.settled

    def _climb(self, seen: Observation, why: str) -> Decision:
        size = seen.bounds.clamp(seen.size + self._direction * self._stride)
        if size == seen.size:
            self._settle()
            why = f"{why}, and the bound is reached."
            # Without a second size there is nothing to choose from.
            return Decision(size, "settled", why, deferred=not self._moved)
        self._moved = True
        self._reference, self._from = seen.progress, seen.size
        return Decision(size, self._state, f"{why}: on to {size}.")

    def _undo(self, seen: Observation) -> Decision:
        self._settle()
        size = seen.bounds.clamp(self._from)
        return Decision(size, "settled", f"{seen.size} is no better than {size}: back.")

    def _rest_or_explore(self, seen: Observation) -> Decision:
        self._rest -= 1
        if self._rest > 0:
            why = f"Resting at {seen.size}."
            return Decision(seen.size, "settled", why, deferred=not self._moved)
        self._direction = -self._direction
        if seen.size + self._direction not in seen.bounds.sizes:
            self._direction = -self._direction
        self._state, self._stride = "exploring", 1
        return self._climb(seen, "The rest is over")
