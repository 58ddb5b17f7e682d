"""Response times of a program's jobs, as its agent counts them."""

from tidscope_policies.proving.response_times import add_up

from tidscope_collector.agent.client import AgentClient
from tidscope_collector.agent.errors import AgentClientError


class ResponseTimes:
    """Reads through the connection that the knob or the signal has, too.

    Args:
        client: closed by who opened it.
    """

    def __init__(self, client: AgentClient) -> None:
        self._client = client

    def missing(self) -> str:
        """Why there are none; empty: there are."""
        try:
            pools = self._client.read_pools().pools
        except AgentClientError as error:
            return str(error)[:256]
        reported = any(pool.response is not None for pool in pools)
        return "" if reported else "The agent reports no response times."

    def read(self) -> tuple[int, ...]:
        """Finished jobs of all pools of the program, by response time.

        Raises:
            AgentClientError: the agent does not answer.
        """
        pools = self._client.read_pools().pools
        return add_up([pool.response for pool in pools if pool.response is not None])
