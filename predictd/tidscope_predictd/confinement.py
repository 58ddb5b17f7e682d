"""What the daemon may do once it serves: its folder of models, and its socket."""

import sys
import sysconfig
from pathlib import Path

from tidscope_confinement import capabilities, landlock, seccomp
from tidscope_confinement.seccomp import Argument, Calls, Rule

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
    """Give up all other rights, for good; what could not be, each a sentence.

    Args:
        folder: of the models.

    Raises:
        OSError: capabilities could not be given up: better not to go on.
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
