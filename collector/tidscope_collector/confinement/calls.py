"""System calls that each process of the collector may make, and those that none may make.

The lists come from traces of sessions with every feature. They also have the equivalents that other
versions of the C library and the interpreter use.
"""

import errno
import os
import signal
import socket

from tidscope_confinement.seccomp import KILL_PROCESS, Argument, Calls, Rule

_FILES = """
    read write readv writev pread64 pwrite64 preadv preadv2 pwritev pwritev2 lseek close close_range
    open openat openat2 fstat newfstatat statx stat lstat access faccessat faccessat2 readlink
    readlinkat getdents64 getcwd fcntl dup dup2 dup3 pipe pipe2 poll ppoll select pselect6
    epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2 timerfd_create
    timerfd_settime timerfd_gettime statfs fstatfs flock memfd_create mkdir mkdirat unlink unlinkat
    rename renameat renameat2 fsync fdatasync ftruncate fallocate fchmod chmod fchmodat umask
"""
_MEMORY = "mmap munmap mremap mprotect madvise brk mincore membarrier"
_THREADS = """
    futex futex_waitv set_robust_list get_robust_list set_tid_address rseq arch_prctl sched_yield
    sched_getaffinity getcpu sched_getparam sched_getscheduler sched_get_priority_max
    sched_get_priority_min rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack rt_sigtimedwait
    rt_sigpending rt_sigsuspend restart_syscall exit exit_group fork wait4 waitid pidfd_open
"""
_TIME = """
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage alarm
    getitimer setitimer
"""
_OWN = """
    getpid gettid getppid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp
    getpgid getsid setsid getrlimit setrlimit sysinfo uname getrandom capget
"""
_SOCKETS = """
    connect bind getsockname getpeername getsockopt sendto sendmsg sendmmsg recvfrom recvmsg
    recvmmsg shutdown
"""
# A child gives up more than its parent; each of these calls can only take rights away.
_GIVING_UP = """
    capset seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self
"""

FATAL = """
    execve execveat ptrace process_vm_readv process_vm_writev pidfd_getfd open_by_handle_at
    mount umount2 pivot_root chroot move_mount open_tree fsopen fsmount fsconfig mount_setattr
    setns unshare init_module finit_module delete_module kexec_load kexec_file_load reboot
    swapon swapoff userfaultfd io_uring_setup perf_event_open add_key keyctl
"""
"""Calls that no version of this code makes. A process that makes one has been taken over."""

_TYPE_MASK = 0xF  # excludes the flags SOCK_NONBLOCK and SOCK_CLOEXEC
_NETLINK, _NETLINK_GENERIC = 16, 16
_SOL_NETLINK = 270
_IPV6_V6ONLY = 26
_NAMESPACES = 0x7E020080  # CLONE_NEW*, sched.h
_IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX (asm-generic/ioctls.h)."""
_PRCTLS = (1, 4, 15, 16, 22, 24, 38, 41, 47, 0x53564D41)
"""Options that set name, allocator or parent death, or take rights away (linux/prctl.h)."""
_BPF = {"map": (1, 2, 3, 24, 27), "run": (10, 17, 28, 33, 34)}
"""Commands on open maps (lookup, update, delete, batches) and loaded programs (run, attach,
iterate, detach). Creating programs or maps stays forbidden (linux/bpf.h)."""


def collector_calls(*, steering: bool, ebpf: bool, unix: bool) -> Calls:
    """Return the calls that the collector may make after set-up.

    Args:
        steering: True if the collector sets the affinity of threads.
        ebpf: True if the collector has programs in the kernel.
        unix: True if the collector connects to Unix sockets.
    """
    groups = (_FILES, _MEMORY, _THREADS, _TIME, _OWN, _SOCKETS, _GIVING_UP)
    allowed = [name for group in groups for name in group.split()]
    if steering:
        allowed.append("sched_setaffinity")
    conditional = {
        "socket": Rule(
            (
                *(
                    (Argument(0, family), Argument(1, kind, _TYPE_MASK))
                    for family in (socket.AF_INET, socket.AF_INET6)
                    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
                ),
                (Argument(0, _NETLINK), Argument(2, _NETLINK_GENERIC)),
                *(((Argument(0, socket.AF_UNIX),),) if unix else ()),
            ),
            errno.EAFNOSUPPORT,
        ),
        "socketpair": Rule(((Argument(0, socket.AF_UNIX),),)),
        "setsockopt": Rule(
            (
                (Argument(1, socket.SOL_SOCKET),),
                (Argument(1, socket.IPPROTO_TCP),),
                (Argument(1, _SOL_NETLINK),),
                (Argument(1, socket.IPPROTO_IPV6), Argument(2, _IPV6_V6ONLY)),
            )
        ),
        **_of_processes(),
    }
    if ebpf:
        commands = (*_BPF["map"], *_BPF["run"])
        conditional["bpf"] = Rule(tuple((Argument(0, one),) for one in commands))
    return Calls(allowed, conditional, FATAL.split())


def _of_processes() -> dict[str, Rule]:
    """Return rules for calls on processes, shared by collector and fork server."""
    signals = ((Argument(0, os.getpid()),), (Argument(1, 0),), (Argument(1, signal.SIGKILL),))
    return {
        # Namespace flags are forbidden. The filter cannot see the flags of clone3, so clone3 fails
        # with ENOSYS.
        "clone": Rule(((Argument(0, 0, _NAMESPACES),),)),
        "prlimit64": Rule(((Argument(0, 0),),)),
        "ioctl": Rule(tuple((Argument(1, one),) for one in _IOCTLS)),
        "prctl": Rule(tuple((Argument(0, one),) for one in _PRCTLS)),
        # Signal 0 probes whether a process exists; SIGKILL ends helpers.
        "kill": Rule(signals),
        "tgkill": Rule(((Argument(0, os.getpid()),),)),
    }


def fork_server_calls() -> Calls:
    """Return the calls of the fork server, and of its children until they confine themselves.

    They open files and connect to Unix sockets, but not to a network.
    """
    groups = (_FILES, _MEMORY, _THREADS, _TIME, _OWN, _SOCKETS, _GIVING_UP)
    conditional = {
        "socket": Rule(((Argument(0, socket.AF_UNIX),),), errno.EAFNOSUPPORT),
        "socketpair": Rule(((Argument(0, socket.AF_UNIX),),)),
        "setsockopt": Rule(((Argument(1, socket.SOL_SOCKET),),)),
        # SIGQUIT makes a Java virtual machine open its attach socket.
        "pidfd_send_signal": Rule(((Argument(1, signal.SIGQUIT),),)),
        **_of_processes(),
    }
    return Calls([name for group in groups for name in group.split()], conditional, FATAL.split())


def child_calls() -> Calls:
    """Return the calls of a confined child, which computes and answers; any other call kills it."""
    allowed = """
        read write close fstat lseek mmap mprotect munmap brk rt_sigreturn pread64 mremap madvise
        exit futex restart_syscall clock_gettime exit_group getrandom
    """
    return Calls(allowed.split(), otherwise=KILL_PROCESS)


def switch_calls() -> Calls:
    """Return the calls of the helper that sets one sysctl; any other call kills it."""
    allowed = """
        read write pwrite64 recvfrom sendto close lseek mmap munmap brk madvise mremap futex
        rt_sigaction rt_sigprocmask rt_sigreturn restart_syscall exit exit_group getpid
        clock_gettime
    """
    return Calls(allowed.split(), otherwise=KILL_PROCESS)
