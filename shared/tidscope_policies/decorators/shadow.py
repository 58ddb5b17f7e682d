"""Decorator: decide, but do not act."""

from dataclasses import replace

from tidscope_policies.contract import Decision, Observation, Policy


class Shadow:
    """Decides to keep the current size, and says what it would have set.

    The policy inside sees what really happened, so that a search does not get beyond its first
    sizes: it never sees another one tried.
    """

    def __init__(self, inner: Policy) -> None:
        self._inner = inner

    def observe(self, seen: Observation) -> Decision:
        """Pass on, and keep the size."""
        decided = self._inner.observe(seen)
        return replace(
            decided,
            size=seen.size,
            state=f"shadow: {decided.state}",
            probing=False,
            proposed=decided.size,
        )

    def restart(self, reason: str) -> None:
        """Pass on."""
        self._inner.restart(reason)
