"""What the process that imports an archive may still do: compute, read libraries, fill one folder.

Limits of the kernel (setrlimit(2)) bound its memory, CPU time and files; Landlock (landlock(7))
leaves it nothing of the file system but what it needs; a filter (seccomp(2)) refuses it sockets,
other programs and other processes. A kernel that lacks one of the last two goes without it.
"""

import ctypes
import os
import platform
import resource
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_PR_SET_NO_NEW_PRIVS = 38  # linux/prctl.h
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all architectures
_RULESET_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8  # linux/landlock.h
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REGULAR = 16, 32, 128, 256
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_ACCESS_BY_VERSION = (0, 0x1FFF, 0x3FFF, 0x7FFF, 0x7FFF, 0xFFFF)
"""All rights to files that a version of Landlock handles."""
_NET_VERSION, _NET = 4, 3
_SCOPE_VERSION, _SCOPES = 6, 3
_READ = _READ_FILE | _READ_DIR
_FILL = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REGULAR

_LOAD, _EQUAL, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/filter.h
_ALLOW, _REFUSE, _NO_SUCH_CALL = 0x7FFF0000, 0x00050001, 0x00050026  # EPERM, ENOSYS
_CLONE3, _CLONE_THREAD = 435, 0x10000
_FIRST_X32_CALL = 0x40000000
_REFUSED = {
    "x86_64": (
        *(0xC000003E, 56),
        # socket, connect, bind, socketpair, vfork, fork, execve, execveat, kill, tkill, ptrace
        *(41, 42, 49, 53, 58, 57, 59, 322, 62, 200, 101),
        # process_vm_readv, process_vm_writev, pidfd_open, pidfd_send_signal, mount, unshare, setns
        *(310, 311, 434, 424, 165, 272, 308),
        # bpf, keyctl, add_key, request_key, perf_event_open, userfaultfd, io_uring_setup
        *(321, 250, 248, 249, 298, 323, 425),
    ),
    "aarch64": (
        *(0xC00000B7, 220),
        *(198, 203, 200, 199, 221, 281, 129, 130, 117),
        *(270, 271, 434, 424, 40, 97, 268),
        *(280, 219, 217, 218, 241, 282, 425),
    ),
}
"""By machine: its AUDIT_ARCH, the number of clone, and those of the calls above that it has."""

_libc = ctypes.CDLL(None, use_errno=True)


class Limits(NamedTuple):
    """What the process may use.

    Attributes:
        memory_bytes: of address space.
        cpu_s: of CPU time.
        file_bytes: of one file.
        wall_s: until whoever started it ends it.
    """

    memory_bytes: int = 2**30
    cpu_s: int = 60
    file_bytes: int = 2**30
    wall_s: float = 60.0


def limit_resources(limits: Limits) -> None:
    """Bound what this process may use."""
    for kind, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(kind, (most, most))


def confine(readable: Iterable[Path], filled: Path) -> None:
    """Give up, for good, all but what an import needs; for a process with one thread.

    Args:
        readable: files and folders that it may read.
        filled: the folder that it may read and write.

    Raises:
        OSError: the kernel refused; the process must not go on.
    """
    _call(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    # Others of the same user may not trace it.
    _call(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    _restrict_files(readable, filled)
    _filter_calls()


def landlock_version() -> int:
    """Version of the kernel's Landlock; 0: it has none, or it is switched off."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, 0, _RULESET_VERSION)))


def _restrict_files(readable: Iterable[Path], filled: Path) -> None:
    version = landlock_version()
    if not version:
        return
    handled = _ACCESS_BY_VERSION[min(version, len(_ACCESS_BY_VERSION) - 1)]
    # struct landlock_ruleset_attr; older kernels know a shorter one.
    fields = [
        handled,
        *([_NET] if version >= _NET_VERSION else []),
        *([_SCOPES] if version >= _SCOPE_VERSION else []),
    ]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = _call(_libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        for path in readable:
            _allow(ruleset, path, (_READ if path.is_dir() else _READ_FILE) & handled)
        _allow(ruleset, filled, (_FILL | _REFER | _TRUNCATE) & handled)
        _call(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # What is not there need not be readable.
    try:
        rule = struct.pack("=Qi", rights, descriptor)  # struct landlock_path_beneath_attr
        _call(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _filter_calls() -> None:
    if platform.machine() not in _REFUSED:
        return
    architecture, clone, *calls = _REFUSED[platform.machine()]
    allow = 8 + len(calls)
    refuse, unknown = allow + 1, allow + 2
    # struct sock_filter: code, where to go if true, if false, operand. They see struct
    # seccomp_data: the number of the call at 0, the architecture at 4, the first argument at 16.
    labelled = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 2, refuse, architecture),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, refuse, 4, _FIRST_X32_CALL),
        *((_EQUAL, refuse, at, number) for at, number in enumerate(calls, 5)),
        # The C library then uses clone, whose flags can be seen here.
        (_EQUAL, unknown, allow - 3, _CLONE3),
        (_EQUAL, allow - 2, allow, clone),
        (_LOAD, 0, 0, 16),
        (_HAS, allow, refuse, _CLONE_THREAD),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
    ]
    steps = [
        (code, yes and yes - at, no and no - at, operand)
        for at, (code, yes, no, operand) in enumerate(labelled, 1)
    ]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    program = _Program(len(steps), code)
    _call(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))


def _call(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
