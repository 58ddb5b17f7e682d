"""Signals that an agent in the program gives: operations, and how long jobs wait."""

from typing import Literal

from tidscope_collector.agent.client import AgentClient
from tidscope_collector.agent.errors import AgentClientError
from tidscope_collector.steering.signals.signal import Count, SignalLostError, SignalRefusedError


class AgentSignal:
    """Reads through the connection that the knob has, too.

    Args:
        client: closed by the knob.
        kind: what is steered on; both are in every reading.

    Raises:
        SignalRefusedError: the agent does not tell of waits.
        SignalLostError: it does not answer.
    """

    def __init__(
        self, client: AgentClient, kind: Literal["agent-ops", "queue-wait"] = "agent-ops"
    ) -> None:
        self.kind: Literal["agent-ops", "queue-wait"] = kind
        self._client = client
        if kind == "queue-wait" and self.read().wait_s is None:
            raise SignalRefusedError("The agent does not report how long jobs wait.")

    def read(self) -> Count:
        """See Signal."""
        try:
            now = self._client.read()
        except AgentClientError as error:
            raise SignalLostError(str(error)) from error
        wait_s = None if now.queue_wait_ns is None else now.queue_wait_ns / 1e9
        return Count(now.monotonic_ns / 1e9, now.ops, wait_s, now.queue_waits or 0)

    def close(self) -> None:
        """Nothing of its own is open."""
