"""Decorator: only sizes near a fair share of the host are tried.

Source: M.G.A. Janssen, Adaptive thread pool scaling and real-time thread monitoring (TU Delft,
2022), section 6.1, which proposes to limit the sizes to a range that depends on how many Go
schedulers run. Here: on how many programs are steered.
"""

from dataclasses import replace
from math import ceil, floor

from tidscope_policies.contract import Bounds, Decision, Observation, Policy


class Share:
    """Shows the policy inside narrower bounds, around the highest size by the number of programs.

    Args:
        inner: tries sizes.
        doublings: how far from the share they may be; 0: no limit.
    """

    def __init__(self, inner: Policy, doublings: float) -> None:
        self._inner = inner
        self._doublings = doublings

    def observe(self, seen: Observation) -> Decision:
        """Pass on, with narrower bounds."""
        programs = 1 if seen.peers is None else seen.peers.instances
        if self._doublings <= 0 or programs <= 1:
            return self._inner.observe(seen)
        share, factor = seen.bounds.high / programs, 2.0**self._doublings
        low = seen.bounds.clamp(ceil(share / factor))
        high = max(low, seen.bounds.clamp(floor(share * factor)))
        return self._inner.observe(replace(seen, bounds=Bounds(low, high)))

    def restart(self, reason: str) -> None:
        """Pass on."""
        self._inner.restart(reason)
