"""Pools that an agent reports."""

from collections.abc import Sequence

from tidscope_wire.generated.agent import AgentPool

from tidscope_collector.agent.client import AgentClient, AgentClientError, open_agent
from tidscope_collector.pools.registry import PoolOrigin, PoolsUnreadableError
from tidscope_collector.procfs.files import ProcFs


class AgentPoolSource:
    """A `PoolSource` with its own connection, so it can read while another client steers.

    Args:
        procfs: root of /proc.
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
    """

    origin: PoolOrigin = "agent"

    def __init__(self, procfs: ProcFs, pid: int, start_ticks: int) -> None:
        self._procfs = procfs
        self._pid = pid
        self._start_ticks = start_ticks
        self._client: AgentClient | None = None

    def read(self) -> Sequence[AgentPool]:
        """See `PoolSource`; connects if necessary."""
        try:
            if self._client is None:
                self._client = open_agent(self._procfs, self._pid, self._start_ticks)
            # Discard notices, which are meant for the steering client.
            self._client.restart_requested()
            return self._client.read_pools().pools
        except AgentClientError as error:
            self.close()
            raise PoolsUnreadableError(str(error)) from error

    def close(self) -> None:
        """See `PoolSource`."""
        if self._client is not None:
            self._client.close()
            self._client = None
