"""Rights of a process that reads foreign files: compute, read libraries, fill one folder.

Limits bound its memory, CPU time and files; Landlock leaves it nothing of the file system but what
it needs; a filter refuses it sockets, other programs and other processes. A kernel or a processor
without one of the last two goes without it.
"""

import errno
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tidscope_confinement import capabilities, landlock, seccomp
from tidscope_confinement.resources import Limits

USUAL_SECONDS = 60
USUAL_LIMITS = Limits(
    memory_bytes=2**30,
    cpu_s=USUAL_SECONDS,
    wall_s=USUAL_SECONDS,
    file_bytes=2**30,
    open_files=64,
)
"""Of a small archive."""

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    # One heap and one thread: address space is limited.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""The whole environment of a limited process."""
_SYSTEM = (
    *("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache"),
    *("/etc/localtime", "/usr/share/zoneinfo", "/dev/null", "/dev/urandom", "/proc", "/sys"),
)
"""Files that libraries read when they are loaded."""
_REFUSED = """
    socket connect bind socketpair vfork fork execve execveat kill tkill ptrace process_vm_readv
    process_vm_writev pidfd_open pidfd_send_signal mount unshare setns bpf keyctl add_key
    request_key perf_event_open userfaultfd io_uring_setup
"""
_CLONE_THREAD = 0x10000  # linux/sched.h


def confine(readable: Iterable[Path], filled: Path | None) -> None:
    """Give up, for good, all but what reading needs; for a process with one thread.

    Args:
        readable: files and folders that it may read, beside libraries.
        filled: the folder that it may read and write; None: it writes no file.

    Raises:
        OSError: the kernel refused; the process must not go on.
    """
    capabilities.harden()
    # Root's backend may keep runs in another user's folder.
    capabilities.keep(frozenset() if filled is None else frozenset({capabilities.DAC_OVERRIDE}))
    if landlock.abi():
        libraries = (*sys.path, sys.base_prefix + "/lib", sys.prefix + "/lib", *_SYSTEM)
        paths = (*readable, *map(Path, filter(None, libraries)))
        own = () if filled is None else (filled,)
        landlock.restrict(landlock.Paths(paths, own=own, connect_ports=()))
    with suppress(seccomp.UnsupportedProcessorError):
        seccomp.install(import_calls())


def import_calls() -> seccomp.Calls:
    """What an import calls: all but what reaches beyond its process. Threads are no processes."""
    return seccomp.Calls(
        conditional={
            "clone": seccomp.Rule(((seccomp.Argument(0, _CLONE_THREAD, _CLONE_THREAD),),)),
        },
        # The C library then uses clone, whose flags a filter can see.
        refused=dict.fromkeys(_REFUSED.split(), errno.EPERM) | {"clone3": errno.ENOSYS},
        otherwise=seccomp.ALLOW,
    )
