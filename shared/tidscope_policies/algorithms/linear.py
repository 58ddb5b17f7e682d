"""linear: try every size once, from the highest down, then keep the best.

Source: M.G.A. Janssen, Adaptive thread pool scaling and real-time thread monitoring (TU Delft,
2022), algorithm 1. After a warm-up: SEARCH from the highest size down by one an interval, with the
progress of each remembered; FOUND: take the best, the lowest of equals; PAUSED until a restart.

Corrected against the printed version:

- On a restart that sets its copy of `ops` to 0, although the counter is cumulative: the first
  size tried is credited with all operations since the program began, and every restart picks the
  highest size. Here progress is that of one interval, and there is no copy.
- Its first bucket takes in the time before the controller ran. Here the first interval of a search
  ends before the first bucket begins.
- It waits one more interval at the lowest size before it takes the best. Here it takes it at once.

Added, off by default, as its chapters 6 and 7 recommend: a dip gate, bounds by the number of
programs, and a plateau: the lowest size that is as good as the best.
"""

from dataclasses import dataclass

from tidscope_policies.contract import (
    NOT_COUNTED,
    WAITS_ITS_TURN,
    Decision,
    Observation,
    is_usable,
)
from tidscope_policies.parameters import Parameters, parameter


@dataclass(frozen=True)
class LinearParameters(Parameters):
    """Parameters of the policy `linear`."""

    warm_up_s: float = parameter(10.0, 0.0, 600.0, "s", "time before the first search begins")
    lowest: int = parameter(
        0, 0, 65536, "threads", "lowest size that is tried; 0: a quarter of the highest"
    )
    plateau: float = parameter(
        0.0, 0.0, 0.5, "", "sizes that lose no more than this against the best are as good"
    )
    dip_gate: int = parameter(0, 0, 1, "", "1: dips are left out")
    share: float = parameter(
        0.0, 0.0, 10.0, "doublings", "largest distance from a fair share of the host; 0: any"
    )


class Linear:
    """Linear search; the warm-up is a decorator's."""

    def __init__(self, parameters: LinearParameters) -> None:
        self._lowest = parameters.lowest
        self._plateau = parameters.plateau
        self._buckets: dict[int, float] = {}
        self._cursor: int | None = None
        self._best: int | None = None
        self._why = "The search begins"

    def observe(self, seen: Observation) -> Decision:
        """Note the progress of the current size and go to the next one, or keep the best."""
        if self._best is not None:
            return self._keep(seen, self._best)
        if self._cursor is None:
            return self._begin(seen)
        if seen.probing_elsewhere:
            return Decision(seen.size, "waiting", WAITS_ITS_TURN, deferred=True)
        if not is_usable(seen) or seen.size != self._cursor:
            # After bounds got narrower the cursor may lie outside them.
            self._cursor = seen.bounds.clamp(self._cursor)
            return _try(self._cursor, NOT_COUNTED)
        self._buckets[self._cursor] = seen.progress
        tried = f"{self._cursor} did {seen.progress:.6g} ops/s"
        if self._cursor > self._floor(seen):
            self._cursor -= 1
            return _try(self._cursor, tried)
        inside = {size: done for size, done in self._buckets.items() if size in seen.bounds.sizes}
        enough = (1 - self._plateau) * max(inside.values())
        self._best = min(size for size, done in inside.items() if done >= enough)
        best = f"the best of {len(inside)} sizes is {self._best}"
        return Decision(self._best, "settled", f"{tried}; {best} with {inside[self._best]:.6g}.")

    def restart(self, reason: str) -> None:
        """Search again from the highest size."""
        self._buckets.clear()
        self._cursor = self._best = None
        self._why = f"The search restarts: {reason}"

    @property
    def buckets(self) -> dict[int, float]:
        """Operations a second by size, of the sizes tried since the last restart."""
        return dict(self._buckets)

    def _floor(self, seen: Observation) -> int:
        return seen.bounds.clamp(self._lowest or max(1, seen.bounds.high // 4))

    def _begin(self, seen: Observation) -> Decision:
        if seen.probing_elsewhere:
            return Decision(seen.size, "waiting", WAITS_ITS_TURN, deferred=True)
        self._cursor = seen.bounds.high
        return _try(self._cursor, self._why)

    def _keep(self, seen: Observation, best: int) -> Decision:
        size = seen.bounds.clamp(best)
        return Decision(size, "settled", f"{size} is the best found until the search is restarted.")


def _try(size: int, why: str) -> Decision:
    return Decision(size, "exploring", f"{why}; {size} is tried next.", probing=True)
