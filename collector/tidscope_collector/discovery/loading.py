"""Loading the task iterator."""

from tidscope_collector.discovery.task_iterator import TaskIterators
from tidscope_collector.ebpf.libbpf import BTF_KIND_FUNC
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.procfs.files import ProcFs

TASK_WALKS = KernelFeature("bpf_iter_task", BTF_KIND_FUNC, "task iterators for one process", "6.1")


def load(procfs: ProcFs) -> TaskIterators | Obstacle:
    """Load the program, or say why not.

    Args:
        procfs: root of /proc.
    """
    return attempt(procfs, TASK_WALKS, TaskIterators)
