"""Resource limits of this process, enforced by the kernel: setrlimit(2), setitimer(2)."""

import resource
import signal
from typing import NamedTuple


class Limits(NamedTuple):
    """Limits of a process.

    Attributes:
        memory_bytes: address space.
        cpu_s: CPU time; None for no limit.
        wall_s: wall-clock time until the kernel ends the process; None for no limit.
        file_bytes: size of each written file.
        open_files: open descriptors; None for the user's limit.
        private_bytes: private writable memory, without mapped files; None for no limit besides
            `memory_bytes`.
    """

    memory_bytes: int
    cpu_s: int | None
    wall_s: float | None
    file_bytes: int = 0
    open_files: int | None = None
    private_bytes: int | None = None


def limit_resources(limits: Limits) -> None:
    """Limit the resources of this process irrevocably.

    At the wall-clock deadline the kernel ends the process by SIGALRM's default action.
    """
    for kind, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_DATA, limits.private_bytes),
    ):
        if most is not None:
            resource.setrlimit(kind, (most, most))
    if limits.wall_s is not None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits.wall_s)
