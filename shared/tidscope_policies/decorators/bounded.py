"""Decorator: no decision leaves the bounds, whatever the policy inside says."""

from dataclasses import replace

from tidscope_policies.contract import Decision, Observation, Policy


class Bounded:
    """Moves sizes outside the bounds to the nearest one inside."""

    def __init__(self, inner: Policy) -> None:
        self._inner = inner

    def observe(self, seen: Observation) -> Decision:
        """Pass on, and bound the answer."""
        decided = self._inner.observe(seen)
        size = seen.bounds.clamp(decided.size)
        if size == decided.size:
            return decided
        limits = f"sizes from {seen.bounds.low} to {seen.bounds.high} are allowed"
        return replace(decided, size=size, reason=f"{decided.reason} Only {limits}.")

    def restart(self, reason: str) -> None:
        """Pass on."""
        self._inner.restart(reason)
