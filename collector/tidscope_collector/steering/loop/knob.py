"""The contract between the control loop and what it turns.

Every call returns soon, and none is made by two threads at once. Whatever happens to the collector,
a knob goes back to the original by itself: see each kind for how.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from tidscope_collector.agent.client import AgentClient, AgentClientError, AgentRefusedError

KnobKind = Literal["go-agent", "pool-agent", "go-affinity"]


class KnobError(Exception):
    """A knob does not do what is asked; the text is a sentence for people."""


class KnobRefusedError(KnobError):
    """The knob cannot be set, or not to this size; nothing was changed."""


class KnobLostError(KnobError):
    """The program is gone, or does not answer, or does not follow; make a new knob or give up."""


@dataclass(frozen=True, slots=True)
class KnobDescription:
    """Description of a knob.

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
        """Describe the knob; the answer never changes."""
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


LEASE_S = 10.0
_KINDS: dict[str, KnobKind] = {"gomaxprocs": "go-agent", "pool": "pool-agent"}


class AgentKnob:
    """The knobs `go-agent` and `pool-agent`: an agent in the program sets the size.

    When the collector dies, the agent restores the original size as soon as the lease is over.

    Args:
        client: closed with the knob; a signal may read through it meanwhile, in the same thread.
        lease_s: how long a size stands without `apply` or `keep`.
    """

    def __init__(self, client: AgentClient, lease_s: float = LEASE_S) -> None:
        self._client = client
        self._lease_s = lease_s
        self._wanted: int | None = None
        hello = client.hello
        self._description = KnobDescription(
            _KINDS[hello.knob], hello.lower, hello.upper, hello.original
        )

    def describe(self) -> KnobDescription:
        """See Knob."""
        return self._description

    def apply(self, size: int) -> int:
        """See Knob."""
        with _errors_of_agent():
            in_force = self._client.set(size, self._lease_s).size
        self._wanted = size
        return in_force

    def read(self) -> int:
        """See Knob."""
        with _errors_of_agent():
            return self._client.read().size

    def renew(self) -> None:
        """See Knob; renews the lease, if a size was applied."""
        if self._wanted is not None:
            self.apply(self._wanted)

    def restore(self) -> str:
        """See Knob. When the agent cannot be reached, the end of the lease does it."""
        # Of a connection that was lost a moment ago the lease may still run.
        hello = self._client.hello
        changed = self._wanted is not None or hello.size != hello.original
        self._wanted = None
        try:
            self._client.release()
        except AgentClientError as error:
            if changed:
                return (
                    f"{error} It restores the size by itself when its lease ends, at most "
                    f"{self._lease_s:g} s after it was renewed."
                )
        return ""

    def close(self) -> str:
        """See Knob."""
        trouble = self.restore()
        self._client.close()
        return trouble


@contextmanager
def _errors_of_agent() -> Iterator[None]:
    """Turn an agent's troubles into a knob's."""
    try:
        yield
    except AgentRefusedError as error:
        raise KnobRefusedError(f"The agent refused: {error}.") from error
    except AgentClientError as error:
        raise KnobLostError(str(error)) from error
