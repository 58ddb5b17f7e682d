"""A seccomp(2) filter of the system calls that all threads of this process may make.

An unlisted call usually fails with ENOSYS, so that a newer C library falls back as on an older
kernel.
Source: seccomp(2), linux/seccomp.h, linux/filter.h.

Numbers of system calls are those of x86-64 and aarch64, None for a call that the processor lacks.
Source: asm/unistd_64.h and asm-generic/unistd.h of Linux 6.1; a test compares them with the
installed headers.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "accept": (43, 202),
    "accept4": (288, 242),
    "access": (21, None),
    "add_key": (248, 217),
    "alarm": (37, None),
    "arch_prctl": (158, None),
    "bind": (49, 200),
    "bpf": (321, 280),
    "brk": (12, 214),
    "capget": (125, 90),
    "capset": (126, 91),
    "chmod": (90, None),
    "chroot": (161, 51),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close": (3, 57),
    "close_range": (436, 436),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441),
    "epoll_wait": (232, None),
    "eventfd2": (290, 19),
    "execve": (59, 221),
    "execveat": (322, 281),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "fallocate": (285, 47),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fcntl": (72, 25),
    "fdatasync": (75, 83),
    "finit_module": (313, 273),
    "flock": (73, 32),
    "fork": (57, None),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fstat": (5, 80),
    "fstatfs": (138, 44),
    "fsync": (74, 82),
    "ftruncate": (77, 46),
    "futex": (202, 98),
    "futex_waitv": (449, 449),
    "get_robust_list": (274, 100),
    "getcpu": (309, 168),
    "getcwd": (79, 17),
    "getdents64": (217, 61),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getgroups": (115, 158),
    "getitimer": (36, 102),
    "getpeername": (52, 205),
    "getpgid": (121, 155),
    "getpgrp": (111, None),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getresgid": (120, 150),
    "getresuid": (118, 148),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "getsid": (124, 156),
    "getsockname": (51, 204),
    "getsockopt": (55, 209),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "getuid": (102, 174),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lseek": (8, 62),
    "lstat": (6, None),
    "madvise": (28, 233),
    "membarrier": (324, 283),
    "memfd_create": (319, 279),
    "mincore": (27, 232),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "mmap": (9, 222),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "newfstatat": (262, 79),
    "open": (2, None),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat": (257, 56),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "pivot_root": (155, 41),
    "poll": (7, None),
    "ppoll": (271, 73),
    "prctl": (157, 167),
    "pread64": (17, 67),
    "preadv": (295, 69),
    "preadv2": (327, 286),
    "prlimit64": (302, 261),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pselect6": (270, 72),
    "ptrace": (101, 117),
    "pwrite64": (18, 68),
    "pwritev": (296, 70),
    "pwritev2": (328, 287),
    "read": (0, 63),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "readv": (19, 65),
    "reboot": (169, 142),
    "recvfrom": (45, 207),
    "recvmmsg": (299, 243),
    "recvmsg": (47, 212),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "request_key": (249, 218),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigpending": (127, 136),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_setaffinity": (203, 122),
    "sched_yield": (24, 124),
    "seccomp": (317, 277),
    "select": (23, None),
    "sendmmsg": (307, 269),
    "sendmsg": (46, 211),
    "sendto": (44, 206),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "setitimer": (38, 103),
    "setns": (308, 268),
    "setrlimit": (160, 164),
    "setsid": (112, 157),
    "setsockopt": (54, 208),
    "shutdown": (48, 210),
    "sigaltstack": (131, 132),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "stat": (4, None),
    "statfs": (137, 43),
    "statx": (332, 291),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sysinfo": (99, 179),
    "tgkill": (234, 131),
    "time": (201, None),
    "timerfd_create": (283, 85),
    "timerfd_gettime": (287, 87),
    "timerfd_settime": (286, 86),
    "times": (100, 153),
    "tkill": (200, 130),
    "umask": (95, 166),
    "umount2": (166, 39),
    "uname": (63, 160),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vfork": (58, None),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "write": (1, 64),
    "writev": (20, 66),
}


_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of NUMBERS and AUDIT_ARCH, by machine."""
_X32 = 0x40000000
"""Bit of x32 ABI calls, which would otherwise pass for x86-64 calls."""

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_SET_MODE_FILTER = 1
_FLAG_TSYNC, _FLAG_SPEC_ALLOW = 1 << 0, 1 << 2

_LOAD, _AND = 0x20, 0x54  # BPF_LD|W|ABS, BPF_ALU|AND|K
_EQUAL, _AT_LEAST = 0x15, 0x35  # BPF_JMP|JEQ|K, BPF_JMP|JGE|K
_RETURN = 0x06  # BPF_RET|K
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # struct seccomp_data
ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000
_ERRNO = 0x00050000

_libc = ctypes.CDLL(None, use_errno=True)


def refusal(number: int) -> int:
    """Verdict that makes a call fail with an errno."""
    return _ERRNO | number


class Argument(NamedTuple):
    """Condition that the masked low 32 bits of an argument equal a value."""

    position: int
    value: int
    mask: int = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule that allows a call if all arguments match one of the alternatives.

    Attributes:
        alternatives: at least one.
        refusal: errno for all other arguments.
    """

    alternatives: tuple[tuple[Argument, ...], ...]
    refusal: int = errno.EPERM


@dataclass(frozen=True, slots=True)
class Calls:
    """System calls that a process may make, by name; names unknown to the processor are ignored.

    Attributes:
        allowed: whatever their arguments.
        conditional: depending on their arguments.
        fatal: ending the process.
        refused: errno by name.
        otherwise: the verdict on all others.
    """

    allowed: Collection[str] = ()
    conditional: Mapping[str, Rule] = field(default_factory=dict)
    fatal: Collection[str] = ()
    refused: Mapping[str, int] = field(default_factory=dict)
    otherwise: int = refusal(errno.ENOSYS)


class UnsupportedProcessorError(Exception):
    """Raised if the system call numbers of this processor are unknown."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(calls: Calls) -> None:
    """Filter the calls of all threads irrevocably; needs no_new_privs.

    Raises:
        UnsupportedProcessorError: neither x86-64 nor aarch64.
        OSError: the kernel has no filters, or refused.
    """
    code = assemble(calls, platform.machine())
    program = _Program(len(code) // 8, code)
    seccomp = NUMBERS["seccomp"][_ARCHITECTURES[platform.machine()][0]]
    # SPEC_ALLOW: this process runs no untrusted code, so speculation needs no mitigation.
    flags = _FLAG_TSYNC | _FLAG_SPEC_ALLOW
    if _libc.syscall(seccomp, _SET_MODE_FILTER, flags, ctypes.byref(program)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def assemble(calls: Calls, machine: str) -> bytes:
    """Return the filter as struct sock_filter[].

    Raises:
        UnsupportedProcessorError: the machine is not known here.
    """
    if machine not in _ARCHITECTURES:
        raise UnsupportedProcessorError(f"there is no system call filter for {machine}")
    column, architecture = _ARCHITECTURES[machine]
    steps = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_EQUAL, architecture, yes=1),
        _step(_RETURN, KILL_PROCESS),
        _step(_LOAD, _NUMBER_AT),
        _step(_AT_LEAST, _X32, no=1),
        _step(_RETURN, KILL_PROCESS),
    ]
    verdicts = dict.fromkeys(calls.allowed, ALLOW) | dict.fromkeys(calls.fatal, KILL_PROCESS)
    verdicts |= {name: refusal(number) for name, number in calls.refused.items()}
    for name, verdict in verdicts.items():
        for number in _numbers([name], column):
            steps += [_step(_EQUAL, number, no=1), _step(_RETURN, verdict)]
    for name, rule in calls.conditional.items():
        for number in _numbers([name], column):
            body = _body(rule)
            steps += [_step(_EQUAL, number, no=len(body)), *body]
    return b"".join([*steps, _step(_RETURN, calls.otherwise)])


def _body(rule: Rule) -> Sequence[bytes]:
    """Return the steps that decide by arguments and end with a verdict."""
    steps: list[bytes] = []
    for conditions in rule.alternatives:
        # Each condition takes three steps; the last jumps over the rest of the alternative.
        left = 3 * len(conditions) + 1
        for condition in conditions:
            left -= 3
            steps += [
                _step(_LOAD, _ARGUMENTS_AT + 8 * condition.position),
                _step(_AND, condition.mask),
                _step(_EQUAL, condition.value, no=left),
            ]
        steps.append(_step(_RETURN, ALLOW))
    steps.append(_step(_RETURN, refusal(rule.refusal)))
    return steps


def _numbers(names: Collection[str], column: int) -> list[int]:
    return [number for name in names if (number := NUMBERS[name][column]) is not None]


def _step(code: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, operand)
