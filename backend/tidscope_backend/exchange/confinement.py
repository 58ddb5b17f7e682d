"""Restrictions of a process that reads untrusted files: compute, read libraries, fill one folder.

Limits bound memory, CPU time and files. Landlock allows only the required files, and a filter
refuses sockets, other programs and other processes. Without support by the kernel or the processor,
the latter two are skipped.
"""

import errno
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tidscope_confinement import capabilities, landlock, seccomp
from tidscope_confinement.resources import Limits

DEFAULT_SECONDS = 60
DEFAULT_LIMITS = Limits(
    memory_bytes=2**30,
    cpu_s=DEFAULT_SECONDS,
    wall_s=DEFAULT_SECONDS,
    file_bytes=2**30,
    open_files=64,
)
"""Limits for a small archive."""

ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    # Address space is limited, so use one heap and one thread.
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
"""Files that libraries read while loading."""
_REFUSED = """
    socket connect bind socketpair vfork fork execve execveat kill tkill ptrace process_vm_readv
    process_vm_writev pidfd_open pidfd_send_signal mount unshare setns bpf keyctl add_key
    request_key perf_event_open userfaultfd io_uring_setup
"""
_CLONE_THREAD = 0x10000  # linux/sched.h


def confine(readable: Iterable[Path], filled: Path | None) -> None:
    """Permanently drop everything that reading does not need; for a single-threaded process.

    Args:
        readable: files and folders to read, besides libraries.
        filled: folder to read and write; None: no file can be written.

    Raises:
        OSError: the kernel refused; the process must not go on.
    """
    capabilities.harden()
    # A backend run by root may keep runs in another user's folder.
    capabilities.keep(frozenset() if filled is None else frozenset({capabilities.DAC_OVERRIDE}))
    if landlock.abi():
        libraries = (*sys.path, sys.base_prefix + "/lib", sys.prefix + "/lib", *_SYSTEM)
        paths = (*readable, *map(Path, filter(None, libraries)))
        own = () if filled is None else (filled,)
        landlock.restrict(landlock.Paths(paths, own=own, connect_ports=()))
    with suppress(seccomp.UnsupportedProcessorError):
        seccomp.install(import_calls())


def import_calls() -> seccomp.Calls:
    """Return the system calls of an import: none affects other processes. Threads are allowed."""
    return seccomp.Calls(
        conditional={
            "clone": seccomp.Rule(((seccomp.Argument(0, _CLONE_THREAD, _CLONE_THREAD),),)),
        },
        # The C library falls back to clone, whose flags a filter can inspect.
        refused=dict.fromkeys(_REFUSED.split(), errno.EPERM) | {"clone3": errno.ENOSYS},
        otherwise=seccomp.ALLOW,
    )
