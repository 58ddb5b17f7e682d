"""The contract between the control loop and what it turns.

Every call returns soon, and none is made by two threads at once. Whatever happens to the collector,
a knob goes back to the original by itself: see each kind for how.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

KnobKind = Literal["go-agent", "pool-agent", "go-affinity"]


class KnobError(Exception):
    """A knob does not do what is asked; the text is a sentence for people."""


class KnobRefusedError(KnobError):
    """It cannot be turned, or not so far; nothing was changed."""


class KnobLostError(KnobError):
    """The program is gone, or does not answer, or does not follow; make a new knob or give up."""


@dataclass(frozen=True, slots=True)
class KnobDescription:
    """What a knob is.

    Attributes:
        kind: which one.
        lower: smallest size.
        upper: largest size.
        original: size that it goes back to.
    """

    kind: KnobKind
    lower: int
    upper: int
    original: int


class Knob(Protocol):
    """Changes the size of one target."""

    def describe(self) -> KnobDescription:
        """What it is; the same during its life."""
        ...

    def apply(self, size: int) -> int:
        """Change the size, from `lower` to `upper`.

        Returns:
            The current size now; it may take a moment to become the new one.

        Raises:
            KnobError: it did not.
        """
        ...

    def read(self) -> int:
        """The current size.

        Raises:
            KnobLostError: it cannot be read any more.
        """
        ...

    def renew(self) -> None:
        """Say that the size is still wanted: call it every second or so, else it is taken back.

        Raises:
            KnobError: it cannot be kept.
        """
        ...

    def restore(self) -> str:
        """Go back to the original size, within 3 s.

        Returns:
            What keeps it from going back now and what will let it, as a sentence; empty if it is
            back or the program is gone.
        """
        ...

    def close(self) -> str:
        """Restore, and free what it holds of the system; twice does no harm."""
        ...
