"""Decorators of policies: bounds, pauses, warm-up, a share of the host, and shadow mode."""

from dataclasses import replace
from math import ceil, floor

from tidscope_policies.contract import Bounds, Decision, Observation, Policy


class Bounded:
    """Decorator that clamps sizes to the bounds."""

    def __init__(self, inner: Policy) -> None:
        self._inner = inner

    def observe(self, seen: Observation) -> Decision:
        """Delegate, and clamp the answer."""
        decided = self._inner.observe(seen)
        size = seen.bounds.clamp(decided.size)
        if size == decided.size:
            return decided
        limits = f"sizes from {seen.bounds.low} to {seen.bounds.high} are allowed"
        return replace(decided, size=size, reason=f"{decided.reason} Only {limits}.")

    def restart(self, reason: str) -> None:
        """Delegate."""
        self._inner.restart(reason)


class Pauses:
    """Decorator that hides intervals of a paused target from the inner policy."""

    def __init__(self, inner: Policy) -> None:
        self._inner = inner
        self._size: int | None = None

    def observe(self, seen: Observation) -> Decision:
        """Hold the size, or delegate."""
        if seen.paused:
            size = seen.size if self._size is None else self._size
            reason = "The program is paused: nothing is decided."
            return Decision(size, "paused", reason, deferred=True)
        decided = self._inner.observe(seen)
        self._size = decided.size
        return decided

    def restart(self, reason: str) -> None:
        """Delegate."""
        self._inner.restart(reason)


class WarmUp:
    """Decorator that holds the initial size at first; a later restart has no warm-up.

    Args:
        inner: policy that decides afterwards.
        seconds: length of the warm-up, from the beginning of the first interval.
    """

    def __init__(self, inner: Policy, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._until_s: float | None = None

    def observe(self, seen: Observation) -> Decision:
        """Wait, or delegate."""
        if self._until_s is None:
            self._until_s = seen.at_s - seen.elapsed_s + self._seconds
        left_s = self._until_s - seen.at_s
        # Differences of float seconds leave remainders like 1e-12.
        if left_s > 1e-6:
            reason = f"The program warms up for {left_s:.1f} s more."
            return Decision(seen.size, "warming up", reason, deferred=True)
        return self._inner.observe(seen)

    def restart(self, reason: str) -> None:
        """Delegate."""
        self._inner.restart(reason)


class Share:
    """Decorator that narrows the bounds around the highest size divided by the programs.

    Source: M.G.A. Janssen, Adaptive thread pool scaling and real-time thread monitoring (TU Delft,
    2022), section 6.1, which proposes to limit the sizes to a range that depends on how many Go
    schedulers run. Here the range depends on how many programs are steered.

    Args:
        inner: policy that tries sizes.
        doublings: maximum distance of sizes from the share; 0 for no limit.
    """

    def __init__(self, inner: Policy, doublings: float) -> None:
        self._inner = inner
        self._doublings = doublings

    def observe(self, seen: Observation) -> Decision:
        """Delegate, with narrower bounds."""
        programs = 1 if seen.peers is None else seen.peers.instances
        if self._doublings <= 0 or programs <= 1:
            return self._inner.observe(seen)
        share, factor = seen.bounds.high / programs, 2.0**self._doublings
        low = seen.bounds.clamp(ceil(share / factor))
        high = max(low, seen.bounds.clamp(floor(share * factor)))
        return self._inner.observe(replace(seen, bounds=Bounds(low, high)))

    def restart(self, reason: str) -> None:
        """Delegate."""
        self._inner.restart(reason)


class Shadow:
    """Decorator that keeps the current size and reports the size it would have set.

    The inner policy sees the real sizes. A search therefore does not get beyond its first sizes,
    because no other size is ever tried.
    """

    def __init__(self, inner: Policy) -> None:
        self._inner = inner

    def observe(self, seen: Observation) -> Decision:
        """Delegate, and keep the size."""
        decided = self._inner.observe(seen)
        return replace(
            decided,
            size=seen.size,
            state=f"shadow: {decided.state}",
            probing=False,
            proposed=decided.size,
        )

    def restart(self, reason: str) -> None:
        """Delegate."""
        self._inner.restart(reason)
