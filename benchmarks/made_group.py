"""A made-up group of processes: what its frames have beside those of one process."""

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.models import Group, GroupCounts, Target

NAMES = ("postgres", "nginx", "java", "python3")


class MadeGroup:
    """Threads spread evenly over processes.

    Args:
        tids: of all threads; the first of each process gives its id.
        processes: how many; at most as many as threads.
    """

    def __init__(self, tids: npt.NDArray[np.uint32], processes: int) -> None:
        self._process = np.arange(len(tids)) * processes // len(tids)
        self._first = np.searchsorted(self._process, np.arange(processes))
        self._pids = tids[self._first]
        self.pid: npt.NDArray[np.uint32] = self._pids[self._process]
        self.counts = GroupCounts(live=processes, started=processes, ended=0, unseen=0, missed=0)

    def name(self, names: list[str]) -> None:
        """Call main threads after their processes."""
        for place, slot in enumerate(self._first.tolist()):
            names[slot] = NAMES[place % len(NAMES)]

    def target(self, target: Target) -> Target:
        """The target as a group."""
        group = Group(
            kind="cgroup",
            value="/made-up",
            name="/made-up",
            cgroup="/made-up",
            discovery="ebpf",
            discovery_reason="a made-up program",
        )
        process = target.process.model_copy(update={"pid": int(self._pids[0]), "name": NAMES[0]})
        return target.model_copy(update={"group": group, "process": process})

    def table(self, cpu_ns: npt.NDArray[np.uint64]) -> Table:
        """The table of processes, by the CPU time of all threads."""
        count = len(self._pids)
        table = np.zeros(count, dtype_of("processes"))
        for column in ("title", "container", "unit"):
            table[column] = ""
        table["process"] = np.arange(1, count + 1)
        table["pid"], table["start_ticks"] = self._pids, 1000
        table["count"] = table["live"] = 1
        table["threads"] = np.bincount(self._process)
        table["cpu_ns"] = np.add.reduceat(cpu_ns, self._first)
        table["name"] = [NAMES[place % len(NAMES)] for place in range(count)]
        table["user"] = "root"
        return table
