"""Pools that an agent in the program reports."""

from collections.abc import Sequence

from tidscope_wire.generated.agent import AgentPool

from tidscope_collector.agent.client import AgentClient, AgentClientError, open_agent
from tidscope_collector.pools.registry import PoolOrigin, PoolsUnreadableError
from tidscope_collector.procfs.files import ProcFs


class AgentPoolSource:
    """A `PoolSource` with a connection of its own: it reads beside whoever steers.

    Args:
        procfs: where the process is.
        pid: its id.
        start_ticks: its start.
    """

    origin: PoolOrigin = "agent"

    def __init__(self, procfs: ProcFs, pid: int, start_ticks: int) -> None:
        self._procfs = procfs
        self._pid = pid
        self._start_ticks = start_ticks
        self._client: AgentClient | None = None

    def read(self) -> Sequence[AgentPool]:
        """See PoolSource; connects where there is no connection."""
        try:
            if self._client is None:
                self._client = open_agent(self._procfs, self._pid, self._start_ticks)
            # What the agent sends to whoever steers is not for a reader.
            self._client.restart_requested()
            return self._client.read_pools().pools
        except AgentClientError as error:
            self.close()
            raise PoolsUnreadableError(str(error)) from error

    def close(self) -> None:
        """See PoolSource."""
        if self._client is not None:
            self._client.close()
            self._client = None
