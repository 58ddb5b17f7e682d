"""What a limited child may still do: compute, read what is open, answer, end.

It gives up its capabilities, cannot gain any (no_new_privs), and may not open, connect, fork,
execute or signal (seccomp(2): anything but the calls listed for it ends it at once). It bounds its
memory and time before (`tidscope_confinement.resources`).
"""

import resource

from tidscope_confinement import capabilities, seccomp

from tidscope_collector.confinement.calls import child_calls


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
