"""The knobs `go-agent` and `pool-agent`: an agent in the program does the work.

When the collector dies the agent restores the original size, as soon as the lease is over.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tidscope_collector.agent.client import AgentClient
from tidscope_collector.agent.errors import AgentClientError, AgentRefusedError
from tidscope_collector.steering.knobs.knob import (
    KnobDescription,
    KnobKind,
    KnobLostError,
    KnobRefusedError,
)

LEASE_S = 10.0
_KINDS: dict[str, KnobKind] = {"gomaxprocs": "go-agent", "pool": "pool-agent"}


class AgentKnob:
    """Steers through an agent.

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
