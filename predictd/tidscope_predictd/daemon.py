"""The daemon's process: creates socket and folder, drops privileges, and serves clients."""

import errno
import os
import resource
import signal
import socket
import sys
import sysconfig
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tidscope_confinement import capabilities, landlock, seccomp
from tidscope_confinement.seccomp import Argument, Calls, Rule

from tidscope_predictd.models import Storage
from tidscope_predictd.server import BACKLOG, Server

_DESCRIPTORS = 2048
"""File descriptor limit, sufficient for the maximum of models and connections."""


def run(path: Path, folder: Path, administrators: Collection[int]) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code.

    Args:
        path: path of the socket; its folder is created if missing.
        folder: folder of the models; created if missing.
        administrators: user IDs with an owner's permissions on every model.

    Raises:
        OSError: socket or folder cannot be made, or another daemon serves the socket.
    """
    os.umask(0o022)
    path.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _allow_descriptors()
    listening = listen(path)
    server = Server(listening, Storage(folder), administrators)
    for gap in confine(folder):
        print(f"predictd: not confined in {gap}", file=sys.stderr)
    print(f"predictd: serving {path}, models in {folder}", file=sys.stderr, flush=True)
    signal.set_wakeup_fd(server.stop_end.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server.serve()
    signal.set_wakeup_fd(-1)
    return 0


def listen(path: Path) -> socket.socket:
    """Open the daemon's socket, to which every user may connect.

    Raises:
        OSError: the socket cannot be created, or another daemon serves it.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
                other.connect(str(path))
            raise OSError(errno.EADDRINUSE, f"another daemon serves {path}")
        path.unlink(missing_ok=True)
        listening.bind(str(path))
        path.chmod(0o666)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _allow_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


_CALLS = """
    read write readv writev pread64 pwrite64 lseek close open openat fstat newfstatat statx stat
    lstat getdents64 fcntl poll ppoll select pselect6 epoll_ctl epoll_wait epoll_pwait unlink
    unlinkat rename renameat renameat2 fsync fdatasync ftruncate memfd_create
    mmap munmap mremap mprotect madvise brk futex rt_sigaction rt_sigprocmask rt_sigreturn
    sigaltstack restart_syscall exit exit_group clock_gettime gettimeofday time getpid gettid
    getuid geteuid getrandom accept accept4 getsockopt setsockopt getsockname sendto sendmsg
    recvfrom recvmsg shutdown rseq
"""
_FIONBIO = 0x5421  # asm-generic/ioctls.h; how Python makes a socket non-blocking
FATAL = "execve execveat ptrace process_vm_readv process_vm_writev connect socket bind fork vfork"


def confine(folder: Path) -> list[str]:
    """Permanently drop all other privileges. Return a sentence for each failure.

    Args:
        folder: folder of the models.

    Raises:
        OSError: capabilities could not be dropped, so the daemon must not run.
    """
    gaps = []
    capabilities.harden()
    if landlock.abi():
        code = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib")}
        read = tuple(map(Path, (*code, sys.prefix, str(Path(__file__).parent))))
        try:
            landlock.restrict(landlock.Paths(read=read, write=(folder,), connect_ports=()))
        except OSError as error:
            gaps.append(f"files: it may open all that its user may ({error}).")
    else:
        gaps.append("files: it may open all that its user may (this kernel has no Landlock).")
    capabilities.keep(frozenset())
    try:
        conditional = {"ioctl": Rule(((Argument(1, _FIONBIO),),))}
        seccomp.install(Calls(_CALLS.split(), conditional, FATAL.split()))
    except (OSError, seccomp.UnsupportedProcessorError) as error:
        gaps.append(f"system calls: it may make all ({error}).")
    return gaps
