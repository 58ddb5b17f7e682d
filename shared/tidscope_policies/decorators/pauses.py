"""Decorator: while the target stands still, keep what was decided last and learn nothing."""

from tidscope_policies.contract import Decision, Observation, Policy


class Pauses:
    """Hides intervals in which the target was paused from the policy inside."""

    def __init__(self, inner: Policy) -> None:
        self._inner = inner
        self._size: int | None = None

    def observe(self, seen: Observation) -> Decision:
        """Hold, or pass on."""
        if seen.paused:
            size = seen.size if self._size is None else self._size
            reason = "The program is paused: nothing is decided."
            return Decision(size, "paused", reason, deferred=True)
        decided = self._inner.observe(seen)
        self._size = decided.size
        return decided

    def restart(self, reason: str) -> None:
        """Pass on."""
        self._inner.restart(reason)
