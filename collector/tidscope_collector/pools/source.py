"""Where the figures of pools come from."""

from collections.abc import Sequence
from typing import Literal, Protocol

from tidscope_wire.generated.agent import AgentPool

PoolOrigin = Literal["agent", "prometheus", "hsperfdata"]


class PoolsUnreadableError(Exception):
    """There is nothing to read now; the text is a sentence for people."""


class PoolSource(Protocol):
    """Reads the pools of one process; one thread uses it."""

    @property
    def origin(self) -> PoolOrigin:
        """What it reads."""

    def read(self) -> Sequence[AgentPool]:
        """All pools as they are now, each name once.

        Raises:
            PoolsUnreadableError: there is nothing to read.
        """

    def close(self) -> None:
        """It is read no more."""
