"""Which sources there are of the pools of a process."""

from tidscope_wire.generated.models import Process

from tidscope_collector.pools.agent_source import AgentPoolSource
from tidscope_collector.pools.prometheus_source import PrometheusPoolSource
from tidscope_collector.pools.reader import PoolReader
from tidscope_collector.pools.source import PoolSource
from tidscope_collector.procfs.files import ProcFs


def open_pools(
    procfs: ProcFs, process: Process, attach_ns: int, *, ask_program: bool
) -> PoolReader:
    """Make what reads the pools of a process.

    Args:
        procfs: where it is.
        process: the process.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        ask_program: whether the program may be asked at a port of its own, if it has no agent.
    """
    found: list[PoolSource] = [AgentPoolSource(procfs, process.pid, process.start_ticks)]
    if ask_program:
        found.append(PrometheusPoolSource(procfs, process.pid, process.start_ticks))
    return PoolReader(found, process.pid, attach_ns)
