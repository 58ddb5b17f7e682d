"""Capabilities of this thread: listing them, and dropping all but some, irrevocably.

Capabilities belong to threads; those dropped by the only thread are dropped for all later threads.
Source: capabilities(7), capset(2), linux/securebits.h.
"""

import ctypes
import os
import resource
import struct
from contextlib import suppress
from typing import NamedTuple

DAC_OVERRIDE = 1
DAC_READ_SEARCH = 2
KILL = 5
SETGID = 6
SETUID = 7
SETPCAP = 8
NET_ADMIN = 12
SYS_PTRACE = 19
SYS_ADMIN = 21
SYS_NICE = 23
SYSLOG = 34
PERFMON = 38
BPF = 39
CHECKPOINT_RESTORE = 40
NAMES = {
    DAC_OVERRIDE: "CAP_DAC_OVERRIDE",
    DAC_READ_SEARCH: "CAP_DAC_READ_SEARCH",
    KILL: "CAP_KILL",
    NET_ADMIN: "CAP_NET_ADMIN",
    SYS_PTRACE: "CAP_SYS_PTRACE",
    SYS_ADMIN: "CAP_SYS_ADMIN",
    SYS_NICE: "CAP_SYS_NICE",
    SYSLOG: "CAP_SYSLOG",
    PERFMON: "CAP_PERFMON",
    BPF: "CAP_BPF",
    CHECKPOINT_RESTORE: "CAP_CHECKPOINT_RESTORE",
}

_VERSION_3 = 0x20080522
_LAST_POSSIBLE = 63
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_SECUREBITS = 28
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
# NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE with their locks, and the lock of KEEP_CAPS.
_SECUREBITS = 0xEF

_libc = ctypes.CDLL(None, use_errno=True)


class _Sets(NamedTuple):
    effective: int
    permitted: int
    inheritable: int


def held() -> frozenset[int]:
    """Numbers of the effective capabilities of this thread."""
    bits = _get().effective
    return frozenset(number for number in range(_LAST_POSSIBLE + 1) if bits >> number & 1)


def capability_name(number: int) -> str:
    """Name of a capability, such as CAP_NET_ADMIN."""
    return NAMES.get(number, f"capability {number}")


def harden(passed_on: frozenset[int] = frozenset()) -> None:
    """Drop rights that are never needed: groups, core dumps, tracers, gaining rights by execve.

    The descriptor limit and the user ID stay. Rights that this process may not drop stay too:
    without CAP_SETPCAP and CAP_SETGID the process has no more than its user has.

    Args:
        passed_on: capabilities kept by programs that root's process executes.

    Raises:
        OSError: no_new_privs is refused; no kernel since 3.5 does that.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    # The process holds secrets: no process of the same user may trace it or read its memory.
    _prctl(_PR_SET_DUMPABLE, 0)
    with suppress(OSError):
        os.setgroups([])
    if not passed_on:
        with suppress(OSError):
            _prctl(_PR_SET_SECUREBITS, _SECUREBITS)
    for number in set(range(_LAST_POSSIBLE + 1)) - passed_on:
        with suppress(OSError):
            _prctl(_PR_CAPBSET_DROP, number)
    with suppress(OSError):  # before Linux 4.3 there is no ambient set
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)


def keep(wanted: frozenset[int]) -> frozenset[int]:
    """Drop all capabilities but these; return the ones held afterwards.

    Raises:
        OSError: the kernel refused.
    """
    mask = sum(1 << number for number in wanted) & _get().permitted
    low, high = mask & 0xFFFFFFFF, mask >> 32
    data = struct.pack("=6I", low, low, 0, high, high, 0)
    _check(_libc.capset(_header(), data), "capset")
    return held()


def _get() -> _Sets:
    data = ctypes.create_string_buffer(24)
    _check(_libc.capget(_header(), data), "capget")
    words = struct.unpack("=6I", data.raw)
    return _Sets(*(low | high << 32 for low, high in zip(words[:3], words[3:], strict=True)))


def _header() -> "ctypes.Array[ctypes.c_char]":
    return ctypes.create_string_buffer(struct.pack("=Ii", _VERSION_3, 0), 8)


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    _check(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero), "prctl")


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
