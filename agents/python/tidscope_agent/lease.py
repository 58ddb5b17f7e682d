"""Who steers, and until when."""

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
        """What it is called in the hello."""

    @property
    def wanted(self) -> int:
        """The size that was set last."""

    def resize(self, size: int) -> None:
        """Set the size."""

    def counts(self) -> Counts:
        """Its counters, and the current size."""


class NothingSteered:
    """The agent only reports pools: there is one size, 1."""

    knob: Knob = "none"
    wanted = 1

    def resize(self, size: int) -> None:
        """Nothing changes: 1 is the only size within the bounds."""

    def counts(self) -> Counts:
        """Jobs of all pools."""
        return Counts(POOLS.finished(), 0, 0, 1)


class Lease:
    """Holds the size that a client set, for as long as it renews it.

    It outlives its client's connection, so that a collector that is restarted in time finds things
    as they were; until it is over, another client may take it only if that connection is gone.

    Used by the agent's thread alone.

    Args:
        pool: what is steered; its size now is what it goes back to.
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
            FailureError: it is out of bounds, or another client steers.
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
        """Go back to the original size, whoever set another one."""
        if self._deadline is not None:
            self.pool.resize(self.original)
        self._holder = self._deadline = None

    @property
    def is_held(self) -> bool:
        """Whether a size is set that goes back."""
        return self._deadline is not None

    def forget(self, client: object) -> None:
        """A client is gone: its lease runs on without it."""
        if self._holder is client:
            self._holder = None

    def left_s(self) -> float | None:
        """Seconds until it is over; then it is released and None is returned, as without one."""
        if self._deadline is None:
            return None
        left_s = self._deadline - time.monotonic()
        if left_s > 0:
            return left_s
        self.release()
        return None
