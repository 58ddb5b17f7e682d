"""The eBPF programs that follow groups, loaded; the native sampler reads their events."""

from collections.abc import Callable

from tidscope_sampler.native import Sampler, bpf_object

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.groups.cgroups import v1_hierarchy
from tidscope_collector.procfs.files import ProcFs

_PROGRAMS = ("on_fork", "on_exec", "on_last_switch", "on_move")
_LENDERS = {"ledger": 1, "network": 2}

FORKS = KernelFeature(
    "bpf_iter_attach_task", libbpf.BTF_KIND_FUNC, "list of the groups above a control group", "6.1"
)
"""`cgroup.ancestors`: kernels that have it have this function, too."""


class GroupPrograms:
    """The loaded programs, which run while there is a group.

    Args:
        lent: maps of processes that others count for, by the names that they have here: of a
            ledger, of the network, or of both.

    Raises:
        BpfError: they cannot be loaded.
    """

    def __init__(self, lent: dict[str, int]) -> None:
        self._program = libbpf.Program(bpf_object("groups"), lent=lent)
        self._lent = sum(bit for name, bit in _LENDERS.items() if f"{name}_targets" in lent)

    def give(self, sampler: Sampler, procfs: ProcFs) -> None:
        """Let a sampler that has not started read the events.

        Args:
            sampler: the sampler.
            procfs: root of /proc.
        """
        program = self._program
        sampler.use_groups(
            program.map("events"),
            program.map("members"),
            program.map("unfinished"),
            program.map("cgroups"),
            program.map("control"),
            v1_hierarchy(procfs),
            self._lent,
        )

    def attach(self) -> None:
        """Run from now on.

        Raises:
            BpfError: the kernel refused.
        """
        self._program.attach(_PROGRAMS)

    def detach(self) -> None:
        """Run no more. Idempotent."""
        self._program.detach()

    def close(self) -> None:
        """Take the programs out of the kernel. Idempotent."""
        self._program.close()


def load(procfs: ProcFs, make: Callable[[], dict[str, int]] = dict) -> GroupPrograms | Obstacle:
    """Load the programs, or say why not.

    Args:
        procfs: root of /proc.
        make: gives the maps that others lend.
    """
    return attempt(procfs, FORKS, lambda: GroupPrograms(make()))
