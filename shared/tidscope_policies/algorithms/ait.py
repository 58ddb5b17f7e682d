"""ait: steer on the average time that jobs wait before a thread takes them.

Source: D. Xu, Performance study and dynamic optimization design for thread pool systems (Iowa State
University, 2004): after every cycle of finished jobs the pool grows by a stride while the average
idle time (AIT) falls.

Corrected: as printed, the test for a plateau is true whatever the times are, and the pool grows
without limit. Here, as it is meant: it goes on while the time falls by more than a threshold, turns
round when it rises by more, and rests on a plateau; bounds hold. It needs a signal that tells how
long jobs wait; without one it keeps the size.
"""

from dataclasses import dataclass

from tidscope_policies.algorithms.job_cycle import JobCycle
from tidscope_policies.contract import Decision, Observation
from tidscope_policies.parameters import Parameters, parameter

DOWN, UP = -1, 1


@dataclass(frozen=True)
class AitParameters(Parameters):
    """Of the policy `ait`."""

    start: int = parameter(0, 0, 65536, "threads", "size to begin with; 0: the pool's own")
    cycle: int = parameter(5, 1, 1_000_000, "jobs", "finished jobs per average")
    stride: int = parameter(2, 1, 1024, "threads", "step")
    threshold: float = parameter(0.01, 0.0, 1.0, "", "smallest relative change that counts")


class Ait:
    """Hill descent on the mean waiting time."""

    def __init__(self, parameters: AitParameters) -> None:
        self._p = parameters
        self._direction = UP
        self._last_s: float | None = None
        self._cycle = JobCycle(parameters.cycle)
        self._begun = False
        self._why = "It begins"

    def observe(self, seen: Observation) -> Decision:
        """Take in an interval; decide when a cycle is full."""
        if not self._begun:
            self._begun, self._direction, self._last_s = True, UP, None
            self._cycle.empty()
            size = seen.bounds.clamp(self._p.start or seen.size)
            why = f"{self._why}, at {size}."
            return Decision(size, "starting", why, deferred=size == seen.size)
        waited_s = self._cycle.take_in(seen)
        return waited_s if isinstance(waited_s, Decision) else self._compare(seen, waited_s)

    def restart(self, reason: str) -> None:
        """Begin again, at the size to begin with."""
        self._begun = False
        self._why = f"The search restarts: {reason}"

    def _compare(self, seen: Observation, now_s: float) -> Decision:
        last_s, threshold = self._last_s, self._p.threshold
        if last_s is None:
            self._last_s = now_s
            return self._step(seen, f"Jobs wait {_ms(now_s)}")
        change = now_s / last_s - 1 if last_s > 0 else float(now_s > 0)
        if abs(change) <= threshold:
            why = f"Jobs wait {_ms(now_s)}, about as long as before."
            return Decision(seen.bounds.clamp(seen.size), "plateau", why)
        self._last_s = now_s
        if change > 0:
            self._direction = -self._direction
            return self._step(seen, f"Jobs wait {_ms(now_s)}, longer than before")
        return self._step(seen, f"Jobs wait {_ms(now_s)}, less than before")

    def _step(self, seen: Observation, why: str) -> Decision:
        bounds = seen.bounds
        size = bounds.clamp(seen.size + self._direction * self._p.stride)
        if size == seen.size:
            return Decision(size, "at the bound", f"{why}, and {size} is the bound.")
        word = "growing" if self._direction == UP else "shrinking"
        return Decision(size, word, f"{why}: on to {size}.")


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.4g} ms"
