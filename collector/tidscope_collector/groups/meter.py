"""What a group's frames say about its processes as a whole: CPU time and memory."""

from collections.abc import Sequence

from tidscope_collector.foreign.gomaxprocs import GomaxprocsReader
from tidscope_collector.groups.cgroups import Cgroup, cpu_used_ns
from tidscope_collector.groups.members import Members
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.gauges import rss_bytes
from tidscope_collector.sampling.process_meter import ProcessMeter

MOST_MEASURED = 512
"""Processes whose memory is read; of more it is not said."""


class GroupMeter(ProcessMeter):
    """Reads the gauges of a group; GOMAXPROCS and the CPU limit are those of its lead process.

    Args:
        pid: of the lead process.
        procfs: root of /proc.
        delays: the switch of delay accounting, whose state is reported; None: it is not.
        reader: of GOMAXPROCS, or None; closed with the meter.
        size: GOMAXPROCS as it is known already; None if it is not.
        members: of the group.
        cgroups: that it is defined by; their own clock is the CPU time. None: it is not said.
    """

    def __init__(
        self,
        pid: int,
        procfs: ProcFs,
        delays: DelayAccounting | None,
        reader: GomaxprocsReader | None,
        size: int | None,
        members: Members,
        cgroups: Sequence[Cgroup],
    ) -> None:
        super().__init__(pid, procfs, delays, reader, size)
        self._members = members
        self._cgroups = cgroups

    def _read_cpu(self) -> int | None:
        return cpu_used_ns(self._cgroups)

    def _read_rss(self) -> int | None:
        """Pages that processes share count for each of them."""
        pids = list(self._members.alive)
        if len(pids) > MOST_MEASURED:
            return None
        return sum(rss_bytes(self._procfs, pid) or 0 for pid in pids)
