"""Limits of what this process may use, set by the kernel: setrlimit(2), setitimer(2)."""

import resource
import signal
from typing import NamedTuple


class Limits(NamedTuple):
    """Limits of a process.

    Attributes:
        memory_bytes: of address space.
        cpu_s: of CPU time; None: as much as there is.
        wall_s: until it is ended whatever it does; None: whoever started it ends it.
        file_bytes: of one file that it writes.
        open_files: at once; None: as many as its user may.
    """

    memory_bytes: int
    cpu_s: int | None
    wall_s: float | None
    file_bytes: int = 0
    open_files: int | None = None


def limit_resources(limits: Limits) -> None:
    """Bound what this process may use, for good.

    At the wall-clock deadline the kernel ends it with SIGALRM, whose default action it has.
    """
    for kind, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ):
        if most is not None:
            resource.setrlimit(kind, (most, most))
    if limits.wall_s is not None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits.wall_s)
