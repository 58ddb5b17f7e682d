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

from tidscope_policies.contract import NOT_COUNTED, Decision, Observation, is_usable
from tidscope_policies.parameters import Parameters, parameter

DOWN, UP = -1, 1


class JobCycle:
    """Average queue wait over a cycle of finished jobs.

    Source: D. Xu (see above), section 6.3.

    Args:
        length: minimum number of finished jobs of a cycle.
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self.empty()

    def empty(self) -> None:
        """Start a new cycle."""
        self._jobs, self._waited_s = 0, 0.0

    def take_in(self, seen: Observation) -> float | Decision:
        """Add an interval.

        Returns:
            Average wait over a full cycle, in seconds, after which a new cycle starts. Until then,
            the decision to stay.
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


@dataclass(frozen=True)
class AitParameters(Parameters):
    """Parameters of the policy `ait`."""

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
        """Add an interval; decide when a cycle is full."""
        if not self._begun:
            self._begun, self._direction, self._last_s = True, UP, None
            self._cycle.empty()
            size = seen.bounds.clamp(self._p.start or seen.size)
            why = f"{self._why}, at {size}."
            return Decision(size, "starting", why, deferred=size == seen.size)
        waited_s = self._cycle.take_in(seen)
        return waited_s if isinstance(waited_s, Decision) else self._compare(seen, waited_s)

    def restart(self, reason: str) -> None:
        """Start again at the initial size."""
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


@dataclass(frozen=True)
class AitPrintedParameters(Parameters):
    """Parameters of the policy `ait-printed`."""

    start: int = parameter(
        0, 0, 65536, "threads", "size to begin with, in print 4 or 16; 0: the pool's own"
    )
    cycle: int = parameter(5, 1, 1_000_000, "jobs", "finished jobs per average")
    stride: int = parameter(2, 1, 1024, "threads", "step")
    threshold: float = parameter(0.01, 0.0, 1.0, "", "smallest relative change that counts")


class AitPrinted:
    """ait-printed: figure 6.8 of section 6.3 exactly as printed, with its three variables.

    Once in a cycle of finished jobs, with the average idle time (AIT) of this cycle, of the one
    before (pre) and of the one before that (prepre):

        if |AIT - pre| / pre > 1 %:
            if AIT > pre:    shrink by a stride if pre < prepre, otherwise grow by one as well
            else:            grow by a stride if pre < prepre, otherwise stay
        else:                grow by a stride if the size is that of the last cycle

    It therefore shrinks only after a step that helped was followed by one that did not. The size
    to compare with is set after each step, so the last condition holds unless another hand changed
    the size: on a plateau the pool grows in every cycle, limited only by the bounds. In the printed
    experiments it starts at 4 or 16 threads.

    An interval may contain many cycles; their jobs then form one longer cycle. The print leaves the
    first two cycles open: here the pool grows in them. Use `ait` for anything but a comparison.
    """

    def __init__(self, parameters: AitPrintedParameters) -> None:
        self._p = parameters
        self._begun = False
        self._why = "It begins"
        self._cycle = JobCycle(parameters.cycle)
        self._forget()

    def observe(self, seen: Observation) -> Decision:
        """Add an interval; decide when a cycle is full."""
        if not self._begun:
            self._begun = True
            size = seen.bounds.clamp(self._p.start or seen.size)
            why = f"{self._why}, at {size}."
            return Decision(size, "starting", why, deferred=size == seen.size)
        waited_s = self._cycle.take_in(seen)
        return waited_s if isinstance(waited_s, Decision) else self._decide(seen, waited_s)

    def restart(self, reason: str) -> None:
        """Start again at the initial size."""
        self._begun = False
        self._why = f"It restarts: {reason}"
        self._cycle.empty()
        self._forget()

    def _forget(self) -> None:
        self._pre_s: float | None = None
        self._prepre_s: float | None = None
        self._pre_size: int | None = None

    def _decide(self, seen: Observation, current_s: float) -> Decision:
        pre_s, prepre_s = self._pre_s, self._prepre_s
        step, why = self._step(seen.size, current_s, pre_s, prepre_s)
        size = seen.bounds.clamp(max(seen.size + step, 1))
        self._prepre_s, self._pre_s, self._pre_size = pre_s, current_s, size
        state = "growing" if size > seen.size else "shrinking" if size < seen.size else "staying"
        return Decision(size, state, f"Jobs wait {1000 * current_s:.4g} ms, {why}: {size} is next.")

    def _step(
        self, size: int, current_s: float, pre_s: float | None, prepre_s: float | None
    ) -> tuple[int, str]:
        stride = self._p.stride
        if pre_s is None or prepre_s is None:
            return stride, "with nothing to compare it with"
        helped = pre_s < prepre_s
        if abs(current_s - pre_s) <= self._p.threshold * pre_s:
            same = self._pre_size == size
            return (stride if same else 0), "about as long as in the last cycle"
        if current_s > pre_s:
            step = -stride if helped else stride
            return step, f"longer than in the last cycle, which {_helped(helped)}"
        return (stride if helped else 0), f"less than in the last cycle, which {_helped(helped)}"


def _helped(helped: bool) -> str:
    return "was better than the one before" if helped else "was no better than the one before"
