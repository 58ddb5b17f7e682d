"""The lease of the steering client, and the pool that it steers."""

import time
from typing import Literal, Protocol

from tidscope_agent.protocol import BOUNDS, BUSY, FailureError
from tidscope_agent.registry import POOLS
from tidscope_agent.workers import Counts

Knob = Literal["pool", "none"]


class Steered(Protocol):
    """A pool whose size can be set."""

    @property
    def knob(self) -> Knob:
        """Name of the knob in the hello."""

    @property
    def line(self) -> str:
        """Line with {size} that sets a size for good; empty for the usual one of the language."""

    @property
    def wanted(self) -> int:
        """Size that was set last."""

    def resize(self, size: int) -> None:
        """Set the size."""

    def counts(self) -> Counts:
        """Counters of the pool, and its current size."""


class NothingSteered:
    """Stand-in for an agent that only reports pools; its only size is 1."""

    knob: Knob = "none"
    line = ""
    wanted = 1

    def resize(self, size: int) -> None:
        """Do nothing: 1 is the only size within the bounds."""

    def counts(self) -> Counts:
        """Counts of all pools' jobs."""
        return Counts(POOLS.finished(), 0, 0, 1)


class Lease:
    """Lease of a size that a client set and must renew.

    The lease outlives its client's connection, so that a restarted collector can continue. Until it
    expires, another client may take it only if that connection is closed.

    Used by the agent's thread alone.

    Args:
        pool: steered pool; its current size is restored at the end.
        lower: smallest size.
        upper: largest size.
    """

    def __init__(self, pool: Steered, lower: int, upper: int) -> None:
        self.pool = pool
        self.lower = lower
        self.upper = upper
        self.original = pool.wanted
        self._holder: object | None = None
        self._deadline: float | None = None

    def set(self, client: object, size: int, lease_s: float) -> None:
        """Set the size, or renew the lease.

        Raises:
            FailureError: the size is out of bounds, or another client steers.
        """
        if self._holder not in (None, client):
            raise FailureError(BUSY, "another client steers; its lease must end first")
        if not self.lower <= size <= self.upper:
            raise FailureError(
                BOUNDS, f"size {size} is not within the bounds, {self.lower} to {self.upper}"
            )
        self._holder = client
        self._deadline = time.monotonic() + lease_s
        self.pool.resize(size)

    def release(self) -> None:
        """Restore the original size, whichever client changed it."""
        if self._deadline is not None:
            self.pool.resize(self.original)
        self._holder = self._deadline = None

    @property
    def is_held(self) -> bool:
        """True while a size is set that will be restored."""
        return self._deadline is not None

    def forget(self, client: object) -> None:
        """Note that a client has disconnected; its lease continues."""
        if self._holder is client:
            self._holder = None

    def left_s(self) -> float | None:
        """Seconds until the lease expires, or None. An expired lease is released."""
        if self._deadline is None:
            return None
        left_s = self._deadline - time.monotonic()
        if left_s > 0:
            return left_s
        self.release()
        return None
