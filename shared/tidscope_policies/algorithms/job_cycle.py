"""The average time that jobs wait, over a cycle of finished jobs: what `ait` decides by.

Source: D. Xu, Performance study and dynamic optimization design for thread pool systems (Iowa State
University, 2004), section 6.3.
"""

from tidscope_policies.contract import NOT_COUNTED, Decision, Observation, is_usable


class JobCycle:
    """Collects finished jobs until a cycle is full.

    Args:
        length: finished jobs of a cycle, at least.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self.empty()

    def empty(self) -> None:
        """Begin a new cycle."""
        self._jobs, self._waited_s = 0, 0.0

    def take_in(self, seen: Observation) -> float | Decision:
        """Take in an interval.

        Returns:
            How long jobs of a full cycle waited on average, in seconds, after which a new one
            begins; as long as there is none, the decision to stay.
        """
        size = seen.bounds.clamp(seen.size)
        if not is_usable(seen):
            self.empty()
            return Decision(size, "holding", f"{NOT_COUNTED}.", deferred=True)
        if seen.mean_wait_s is None:
            why = "The signal does not report how long jobs wait."
            return Decision(size, "no signal", why, deferred=True)
        self._jobs += seen.jobs
        self._waited_s += seen.mean_wait_s * seen.jobs
        if self._jobs < self._length:
            why = f"{self._jobs} of {self._length} jobs of this cycle have ended."
            return Decision(size, "collecting", why, deferred=True)
        mean_s = self._waited_s / self._jobs
        self.empty()
        return mean_s
