"""What a limited child may still do: compute, read what is open, answer, end.

It gives up its capabilities, cannot gain any (no_new_privs), may not open, connect, fork, execute
or signal (seccomp(2): anything but the calls listed here ends it at once), and is ended by the
kernel when its memory, CPU time or wall-clock time is used up.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
from typing import NamedTuple

_PR_SET_DUMPABLE = 4  # linux/prctl.h
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h
_LAST_POSSIBLE_CAPABILITY = 63

CAP_DAC_READ_SEARCH = 2
CAP_SYS_PTRACE = 19

# read, write, close, fstat, lseek, mmap, mprotect, munmap, brk, rt_sigreturn, pread64, mremap,
# madvise, exit, futex, restart_syscall, clock_gettime, exit_group, getrandom
_CALLS = {
    "x86_64": (
        0xC000003E,
        (0, 1, 3, 5, 8, 9, 10, 11, 12, 15, 17, 25, 28, 60, 202, 219, 228, 231, 318),
    ),
    "aarch64": (
        0xC00000B7,
        (63, 64, 57, 80, 62, 222, 226, 215, 214, 139, 67, 216, 233, 93, 98, 128, 113, 94, 278),
    ),
}
"""By machine: its AUDIT_ARCH and the numbers of the calls above."""

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000

_libc = ctypes.CDLL(None, use_errno=True)


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


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


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


def keep_capabilities(kept: frozenset[int]) -> None:
    """Give up all capabilities but these, for good.

    Raises:
        OSError: the kernel refused.
    """
    _call(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    # Others of the same user may not trace it.
    _call(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    for number in range(_LAST_POSSIBLE_CAPABILITY + 1):
        if number not in kept:
            # Refused without CAP_SETPCAP, and for numbers that this kernel does not have.
            _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0))
    held = ctypes.create_string_buffer(24)
    _call(_libc.capget(header, held))
    _, low, _, _, high, _ = struct.unpack("=6I", held.raw)
    mask = sum(1 << number for number in kept) & (low | high << 32)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    _call(_libc.capset(header, struct.pack("=6I", low, low, 0, high, high, 0)))


def confine() -> None:
    """Give up everything but reading what is open and answering; for a child, before it reads.

    Raises:
        OSError: the kernel refused; the process must not go on.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    keep_capabilities(frozenset())
    if platform.machine() not in _CALLS:
        raise OSError(f"no system call filter for {platform.machine()}")
    architecture, calls = _CALLS[platform.machine()]
    code = _filter(architecture, calls)
    program = _Program(len(code) // 8, code)
    _call(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))


def _filter(architecture: int, calls: tuple[int, ...]) -> bytes:
    """Instructions of struct sock_filter (linux/filter.h): code, jump if true, if false, operand.

    They see struct seccomp_data: the number of the call at 0, the architecture at 4.
    """
    count = len(calls)
    steps = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 0, count + 1, architecture),
        (_LOAD, 0, 0, 0),
        *((_EQUAL, count - at, 0, number) for at, number in enumerate(calls)),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _call(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
