"""kalman-kg: believe something about every size, and measure where it pays.

Ours. Each interval a bank of Kalman filters takes the progress into what is believed about all
sizes (curves.py), and the size is chosen that is worth the most, knowledge for later included
(search.py). A dip gate stands in front (dip_gate.py).
"""

from dataclasses import dataclass
from math import log

from tidscope_policies.algorithms.search import Search, SearchParameters
from tidscope_policies.contract import (
    WAITS_ITS_TURN,
    Decision,
    Observation,
    is_usable,
)


@dataclass(frozen=True)
class KalmanKgParameters(SearchParameters):
    """Of the policy `kalman-kg`."""


class KalmanKg:
    """The policy without its dip gate."""

    def __init__(self, parameters: KalmanKgParameters) -> None:
        self._search = Search(parameters)

    def observe(self, seen: Observation) -> Decision:
        """Learn from an interval and choose."""
        if seen.probing_elsewhere:
            return Decision(seen.size, "waiting", WAITS_ITS_TURN, deferred=True)
        if not is_measured(seen):
            return self._search.miss(seen)
        self._search.share(1 if seen.peers is None else seen.peers.instances)
        return self._search.step(seen, log(seen.progress))

    def restart(self, reason: str) -> None:
        """Forget what is believed about the sizes."""
        self._search.forget(f"The search restarts ({reason})")


def is_measured(seen: Observation) -> bool:
    """Whether the interval has a progress, at a size that there may be."""
    return is_usable(seen) and seen.ops > 0 and seen.size in seen.bounds.sizes
