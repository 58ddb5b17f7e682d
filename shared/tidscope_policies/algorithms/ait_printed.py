"""ait-printed: steer on the average time that jobs wait, exactly as printed.

Source: D. Xu, Performance study and dynamic optimization design for thread pool systems (Iowa State
University, 2004), figure 6.8, section 6.3. Once in a cycle of five finished jobs, with the average
idle time (AIT) of this cycle, of the one before (pre) and of the one before that (prepre):

    if |AIT - pre| / pre > 1 %:
        if AIT > pre:    shrink by a stride if pre < prepre, otherwise grow by one as well
        else:            grow by a stride if pre < prepre, otherwise stay
    else:                grow by a stride if the size is that of the last cycle

so that it shrinks only where the step before had helped and this one did not. What it compares its
size with is set after each step, so the last condition holds unless another hand changed the size:
on a plateau it grows in every cycle, without limit but the bounds. In its experiments it starts at
4 or 16 threads.

Whoever decides once an interval sees many cycles at once: their jobs are one cycle then, a longer
one. Left open in print, and chosen here: the first two cycles have nothing to be compared with, and
grow. Use `ait` for anything but a comparison.
"""

from dataclasses import dataclass

from tidscope_policies.algorithms.job_cycle import JobCycle
from tidscope_policies.contract import Decision, Observation
from tidscope_policies.parameters import Parameters, parameter


@dataclass(frozen=True)
class AitPrintedParameters(Parameters):
    """Of the policy `ait-printed`."""

    start: int = parameter(
        0, 0, 65536, "threads", "size to begin with, in print 4 or 16; 0: the pool's own"
    )
    cycle: int = parameter(5, 1, 1_000_000, "jobs", "finished jobs per average")
    stride: int = parameter(2, 1, 1024, "threads", "step")
    threshold: float = parameter(0.01, 0.0, 1.0, "", "smallest relative change that counts")


class AitPrinted:
    """Figure 6.8, with its three variables."""

    def __init__(self, parameters: AitPrintedParameters) -> None:
        self._p = parameters
        self._begun = False
        self._why = "It begins"
        self._cycle = JobCycle(parameters.cycle)
        self._forget()

    def observe(self, seen: Observation) -> Decision:
        """Take in an interval; decide when a cycle is full."""
        if not self._begun:
            self._begun = True
            size = seen.bounds.clamp(self._p.start or seen.size)
            why = f"{self._why}, at {size}."
            return Decision(size, "starting", why, deferred=size == seen.size)
        waited_s = self._cycle.take_in(seen)
        return waited_s if isinstance(waited_s, Decision) else self._decide(seen, waited_s)

    def restart(self, reason: str) -> None:
        """Begin again, at the size to begin with."""
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
