"""Decorator: leave the size alone for a while, until caches and pools of the target are warm."""

from tidscope_policies.contract import Decision, Observation, Policy


class WarmUp:
    """Holds the size found for the first seconds; a later restart does not warm up again.

    Args:
        inner: decides after that.
        seconds: from the beginning of the first interval on.
    """

    def __init__(self, inner: Policy, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._until_s: float | None = None

    def observe(self, seen: Observation) -> Decision:
        """Wait, or pass on."""
        if self._until_s is None:
            self._until_s = seen.at_s - seen.elapsed_s + self._seconds
        left_s = self._until_s - seen.at_s
        # A clock that is read as seconds leaves rests like 1e-12.
        if left_s > 1e-6:
            reason = f"The program warms up for {left_s:.1f} s more."
            return Decision(seen.size, "warming up", reason, deferred=True)
        return self._inner.observe(seen)

    def restart(self, reason: str) -> None:
        """Pass on."""
        self._inner.restart(reason)
