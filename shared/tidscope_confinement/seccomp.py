"""A seccomp(2) filter of the system calls that all threads of this process may make.

An unlisted call usually fails with ENOSYS, so that a newer C library falls back as on an older
kernel.
Source: seccomp(2), linux/seccomp.h, linux/filter.h.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tidscope_confinement.syscalls import NUMBERS

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
    """This processor's system call numbers are unknown here."""


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
