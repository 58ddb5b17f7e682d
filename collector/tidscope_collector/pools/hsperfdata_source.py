"""What a Java virtual machine without an agent counts of its own workers, in a file."""

from collections.abc import Sequence

from tidscope_wire.generated.agent import AgentPool

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.conversation import JavaCountersReader
from tidscope_collector.pools.hsperfdata_pools import pools_of
from tidscope_collector.pools.source import PoolOrigin, PoolsUnreadableError


class HsperfdataPoolSource:
    """A `PoolSource` by a child that keeps the file open: nothing in the machine is asked.

    Args:
        pid: of the process.
        start_ticks: its start.
    """

    origin: PoolOrigin = "hsperfdata"

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._reader: JavaCountersReader | None = None

    def read(self) -> Sequence[AgentPool]:
        """See PoolSource; starts the child where there is none."""
        try:
            if self._reader is None:
                self._reader = JavaCountersReader(self._pid, self._start_ticks)
            pools = pools_of(self._reader.read())
        except NoAnswerError as error:
            self.close()
            raise PoolsUnreadableError(str(error)) from error
        if not pools:
            self.close()
            raise PoolsUnreadableError("The Java virtual machine counts nothing of its workers.")
        return pools

    def close(self) -> None:
        """See PoolSource."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
