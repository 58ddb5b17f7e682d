"""What an agent sets, and what stands there if it sets nothing."""

from typing import Literal, Protocol

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
