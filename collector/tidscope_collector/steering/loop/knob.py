"""The contract between the control loop and its knob.

Every call returns soon, and calls never overlap. Whatever happens to the collector, a knob returns
to the original size by itself; each kind documents how.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from tidscope_wire.generated.models import KnobOption

from tidscope_collector.agent.client import AgentClient, AgentClientError, AgentRefusedError

KnobKind = Literal["go-agent", "pool-agent", "go-affinity"]


class KnobError(Exception):
    """A knob did not do what was asked; the text is a sentence for people."""


class KnobRefusedError(KnobError):
    """The knob cannot be set, or not to this size; nothing was changed."""


class KnobLostError(KnobError):
    """The program has ended, does not answer, or does not follow; open a new knob or give up."""


@dataclass(frozen=True, slots=True)
class KnobDescription:
    """Description of a knob.

    Attributes:
        kind: kind of knob.
        lower: smallest size.
        upper: largest size.
        original: original size.
    """

    kind: KnobKind
    lower: int
    upper: int
    original: int

    def option(self, size: int) -> KnobOption:
        """Return the knob as an option for a later request, with its current size."""
        return KnobOption(kind=self.kind, refusal="", lower=self.lower, upper=self.upper, size=size)


class Knob(Protocol):
    """Changes the size of one target."""

    def describe(self) -> KnobDescription:
        """Return the description of the knob, which never changes."""
        ...

    def apply(self, size: int) -> int:
        """Change the size, from `lower` to `upper`.

        Returns:
            The current size, which may still differ for a moment.

        Raises:
            KnobError: the size was not changed.
        """
        ...

    def read(self) -> int:
        """Return the current size.

        Raises:
            KnobLostError: the size is no longer readable.
        """
        ...

    def renew(self) -> None:
        """Keep the size. Call it about every second; otherwise the size is restored.

        Raises:
            KnobError: the size cannot be kept.
        """
        ...

    def restore(self) -> str:
        """Restore the original size, within 3 s.

        Returns:
            Why the size is not restored now and what will restore it, as a sentence; empty if it is
            restored or the program has ended.
        """
        ...

    def close(self) -> str:
        """Restore the size and release resources. Idempotent."""
        ...


LEASE_S = 10.0
_KINDS: dict[str, KnobKind] = {"gomaxprocs": "go-agent", "pool": "pool-agent"}


class AgentKnob:
    """The knobs `go-agent` and `pool-agent`: an agent in the program sets the size.

    If the collector dies, the agent restores the original size when the lease expires.

    Args:
        client: client, closed with the knob; a signal in the same thread may read through it
            meanwhile.
        lease_s: duration in seconds for which a size holds without `apply` or `renew`.
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
        """See Knob; renews the lease if a size was applied."""
        if self._wanted is not None:
            self.apply(self._wanted)

    def restore(self) -> str:
        """See Knob. If the agent is unreachable, the end of the lease restores the size."""
        # The lease of a connection that was just lost may still be running.
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
    """Convert agent errors to knob errors."""
    try:
        yield
    except AgentRefusedError as error:
        raise KnobRefusedError(f"The agent refused: {error}.") from error
    except AgentClientError as error:
        raise KnobLostError(str(error)) from error
