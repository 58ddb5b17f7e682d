"""Which sources there are of the pools of a process."""

from tidscope_wire.generated.models import Process

from tidscope_collector.pools.agent_source import AgentPoolSource
from tidscope_collector.pools.reader import PoolReader
from tidscope_collector.procfs.files import ProcFs


def open_pools(procfs: ProcFs, process: Process, attach_ns: int) -> PoolReader:
    """Make what reads the pools of a process.

    Args:
        procfs: where it is.
        process: the process.
        attach_ns: CLOCK_MONOTONIC of the attachment.
    """
    agent = AgentPoolSource(procfs, process.pid, process.start_ticks)
    return PoolReader([agent], process.pid, attach_ns)
