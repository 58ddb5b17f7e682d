"""The eBPF programs that read the counters of all threads of processes in one call."""

from tidscope_sampler.native import Sampler, bpf_object

from tidscope_collector.ebpf.libbpf import BTF_KIND_FUNC, BpfError, Program
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.procfs.files import ProcFs

TASK_WALKS = KernelFeature(
    "bpf_iter_attach_task", BTF_KIND_FUNC, "task iterators for one process", "6.1"
)
_READ = "read_counters"
_MEMBERS = "walk_members"


class WalkPrograms:
    """Loaded programs: one that walks many processes (Linux 6.7), or an iterator for each process.

    Args:
        image: content of the object file, or None for the built-in one.

    Attributes:
        walks_members: True if one call reads many processes.

    Raises:
        BpfError: the kernel refused both.
    """

    def __init__(self, image: bytes | None = None) -> None:
        image = image or bpf_object("task_iterator")
        self.walks_members = True
        try:
            self._program = Program(image)
        except BpfError:
            self.walks_members = False
            self._program = Program(image, leave_out=(_MEMBERS,))

    def give(self, sampler: Sampler) -> None:
        """Let a sampler that has not started use the programs."""
        if self.walks_members:
            program = self._program.runnable(_MEMBERS).descriptor
            sampler.use_walk(self._program.map("blocks"), program, self._program.map("visits"))
        else:
            program = self._program.runnable(_READ).descriptor
            sampler.use_walk(self._program.map("blocks"), program)

    def close(self) -> None:
        """Unload the programs; a sampler that uses them keeps its own descriptors."""
        self._program.close()


def load(procfs: ProcFs) -> WalkPrograms | Obstacle:
    """Load the programs. Return the obstacle if that fails.

    Args:
        procfs: root of /proc.
    """
    return attempt(procfs, TASK_WALKS, WalkPrograms)
