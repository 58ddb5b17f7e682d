"""What a limited child may still do: compute, read what is open, answer, end.

It gives up its capabilities, cannot gain any (no_new_privs), may not open, connect, fork, execute
or signal (seccomp(2): anything but the calls listed here ends it at once), and is ended by the
kernel when its memory, CPU time or wall-clock time is used up.
"""

import resource
import signal
from typing import NamedTuple

from tidscope_collector.confinement import capabilities, seccomp
from tidscope_collector.confinement.calls import child_calls


class Limits(NamedTuple):
    """What a child may use.

    Attributes:
        memory_bytes: of address space.
        cpu_s: of CPU time; None: as much as there is.
        wall_s: until it is ended whatever it does; None: whoever started it ends it.
    """

    memory_bytes: int
    cpu_s: int | None
    wall_s: float | None


def limit_resources(limits: Limits) -> None:
    """Bound what this process may use; for a child, before it opens anything.

    At the wall-clock deadline the kernel ends it with SIGALRM, whose default action cannot be
    changed once `confine` was called.
    """
    for kind, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    if limits.cpu_s is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s))
    if limits.wall_s is not None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits.wall_s)


def confine() -> None:
    """Give up everything but reading what is open and answering; for a child, before it reads.

    Raises:
        OSError: the kernel refused; the process must not go on.
        UnsupportedProcessorError: the same.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    capabilities.harden()
    capabilities.keep(frozenset())
    seccomp.install(child_calls())
