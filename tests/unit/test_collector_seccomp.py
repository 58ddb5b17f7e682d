"""The filter of system calls: its numbers, and its verdicts, found as the kernel finds them."""

import errno
import re
import socket
import struct
from pathlib import Path

import pytest
from tidscope_backend.exchange.confinement import import_calls
from tidscope_collector.confinement.calls import FATAL, collector_calls, switch_calls
from tidscope_confinement.seccomp import (
    NUMBERS,
    Calls,
    UnsupportedProcessorError,
    assemble,
)

X86, ARM = 0xC000003E, 0xC00000B7
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def verdict(code: bytes, number: int, *arguments: int, architecture: int = X86) -> int:
    """Run a filter as linux/filter.h says."""
    data = struct.pack(
        "=IIQ6Q", number, architecture, 0, *(arguments + (0,) * (6 - len(arguments)))
    )
    steps = list(struct.iter_unpack("=HBBI", code))
    at, value = 0, 0
    while True:
        operation, yes, no, operand = steps[at]
        at += 1
        match operation:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, operand)
            case 0x54:
                value &= operand
            case 0x15:
                at += yes if value == operand else no
            case 0x35:
                at += yes if value >= operand else no
            case 0x06:
                return int(operand)
            case _:
                raise AssertionError(f"no such instruction: {operation:#x}")


def collector(**features: bool) -> bytes:
    allowed = {"steering": True, "ebpf": True, "unix": False} | features
    return assemble(collector_calls(**allowed), "x86_64")


def number(name: str) -> int:
    found = NUMBERS[name][0]
    assert found is not None
    return found


@pytest.mark.skipif(not HEADER.exists(), reason="missing capability kernel-headers: not installed")
def test_numbers_are_those_of_the_headers() -> None:
    listed = dict(re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text()))
    wrong = {
        name: found
        for name, (found, _) in NUMBERS.items()
        if name in listed and int(listed[name]) != found
    }
    assert wrong == {}
    assert all(name in listed for name, (found, _) in NUMBERS.items() if found is not None)


def test_what_takes_a_process_over_ends_it() -> None:
    for features in ({}, {"steering": False}, {"ebpf": False}, {"unix": False}):
        code = collector(**features)
        for name in FATAL.split():
            assert verdict(code, number(name)) == KILL, name


def test_what_is_not_listed_does_not_exist() -> None:
    code = collector()
    for unknown in (number("clone3"), 467, 600, 4000):
        assert verdict(code, unknown) == ERRNO | errno.ENOSYS


def test_calls_of_another_architecture_end_the_process() -> None:
    code = collector()
    assert verdict(code, number("read"), architecture=0x40000003) == KILL  # i386
    assert verdict(code, number("read") | 0x40000000) == KILL  # x32


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read", (), ALLOW),
        ("socket", (2, 1 | 0o2004000, 0), ALLOW),  # AF_INET, SOCK_STREAM with flags
        ("socket", (2, 3, 1), ERRNO | errno.EAFNOSUPPORT),  # raw
        ("socket", (16, 3, 16), ALLOW),  # generic netlink
        ("socket", (16, 3, 0), ERRNO | errno.EAFNOSUPPORT),  # routes
        ("socket", (16, 3, 12), ERRNO | errno.EAFNOSUPPORT),  # netfilter
        ("socket", (17, 3, 0), ERRNO | errno.EAFNOSUPPORT),  # packets
        ("socketpair", (1, 1, 0), ALLOW),
        ("setsockopt", (3, 1, 33), ALLOW),
        ("setsockopt", (3, 0, 64), ERRNO | errno.EPERM),  # ip tables
        ("setsockopt", (3, 41, 64), ERRNO | errno.EPERM),
        ("clone", (0x1200011,), ALLOW),  # fork
        ("clone", (0x3D0F00,), ALLOW),  # a thread
        ("clone", (0x10000011,), ERRNO | errno.EPERM),  # with a user namespace
        ("bpf", (28,), ALLOW),
        ("bpf", (5,), ERRNO | errno.EPERM),
        ("bpf", (0,), ERRNO | errno.EPERM),
        ("prlimit64", (0, 7), ALLOW),
        ("prlimit64", (1, 7), ERRNO | errno.EPERM),
        ("ioctl", (1, 0x5412), ERRNO | errno.EPERM),  # TIOCSTI
        ("kill", (1, 0), ALLOW),
        ("kill", (1, 9), ALLOW),
        ("kill", (1, 15), ERRNO | errno.EPERM),
        ("listen", (), ERRNO | errno.ENOSYS),
        ("sched_setaffinity", (1,), ALLOW),
    ],
)
def test_arguments_decide(name: str, arguments: tuple[int, ...], expected: int) -> None:
    numbers = {"listen": 50}
    called = numbers[name] if name in numbers else number(name)
    assert verdict(collector(), called, *arguments) == expected


def test_features_that_are_off_take_their_calls_along() -> None:
    absent = ERRNO | errno.ENOSYS
    assert verdict(collector(ebpf=False), number("bpf"), 28) == absent
    assert verdict(collector(steering=False), number("sched_setaffinity")) == absent
    unix = (number("socket"), socket.AF_UNIX, socket.SOCK_STREAM)
    assert verdict(collector(unix=True), *unix) == ALLOW
    assert verdict(collector(), *unix) == ERRNO | errno.EAFNOSUPPORT


def test_the_helper_of_the_switch_can_open_and_connect_nothing() -> None:
    code = assemble(switch_calls(), "x86_64")
    assert verdict(code, number("pwrite64")) == ALLOW
    for name in ("openat", "socket", "connect", "clone", "execve", "kill", "prctl", "bpf"):
        assert verdict(code, number(name)) == KILL


def test_each_processor_has_its_numbers() -> None:
    code = assemble(collector_calls(steering=True, ebpf=True, unix=True), "aarch64")
    assert verdict(code, 63, architecture=ARM) == ALLOW  # read
    assert verdict(code, 221, architecture=ARM) == KILL  # execve
    assert verdict(code, 63, architecture=X86) == KILL
    with pytest.raises(UnsupportedProcessorError, match="riscv64"):
        assemble(Calls(), "riscv64")


def test_an_import_may_all_but_reach_beyond_its_process() -> None:
    """Calls that are not named are allowed; threads are, other processes are not."""
    code = assemble(import_calls(), "x86_64")
    thread, process = 0x3D0F00, 0x1200011  # glibc's flags of pthread_create and of fork
    assert verdict(code, number("clone"), thread) == ALLOW
    assert verdict(code, number("clone"), process) == ERRNO | errno.EPERM
    assert verdict(code, number("clone3")) == ERRNO | errno.ENOSYS
    for name in ("read", "openat", "mkdir", "renameat2", "futex"):
        assert verdict(code, number(name)) == ALLOW, name
    for name in ("socket", "connect", "execve", "fork", "vfork", "kill", "ptrace", "bpf", "mount"):
        assert verdict(code, number(name)) == ERRNO | errno.EPERM, name
    assert verdict(code, number("read"), architecture=ARM) == KILL
