"""Which sources there are of the pools of a process."""

from tidscope_collector.pools.agent_source import AgentPoolSource
from tidscope_collector.pools.hsperfdata_source import HsperfdataPoolSource
from tidscope_collector.pools.prometheus_source import PrometheusPoolSource
from tidscope_collector.pools.reader import PoolReader
from tidscope_collector.pools.registry import PoolRegistry
from tidscope_collector.pools.source import PoolSource
from tidscope_collector.procfs.files import ProcFs


class PoolReaders:
    """Makes what reads the pools of processes of one target.

    Args:
        procfs: where they are.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        ask_program: whether programs may be asked at a port of their own, if they have no agent.
    """

    def __init__(self, procfs: ProcFs, attach_ns: int, *, ask_program: bool) -> None:
        self._procfs = procfs
        self._attach_ns = attach_ns
        self._ask_program = ask_program

    def open(
        self,
        pid: int,
        start_ticks: int,
        registry: PoolRegistry | None = None,
        *,
        java: bool = True,
    ) -> PoolReader:
        """Begin to read the pools of a process.

        Args:
            pid: its id.
            start_ticks: its start.
            registry: keeps what is read; None: one of its own.
            java: whether it is, or may become, a Java virtual machine.
        """
        found: list[PoolSource] = [AgentPoolSource(self._procfs, pid, start_ticks)]
        if self._ask_program:
            found.append(PrometheusPoolSource(pid, start_ticks))
        if java:
            found.append(HsperfdataPoolSource(pid, start_ticks))
        return PoolReader(found, pid, self._attach_ns, registry=registry)
