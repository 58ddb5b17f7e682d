"""Requirements of tests, and the reason for a skip where one is missing.

Under CI=true a missing capability is a failure, unless tests/allowed_skips.toml lists it with a
reason. Tests ask by ``@needs("root")`` or, where only trying it tells, by ``raise missing(...)``.

`delay_switch_kept` holds kernel.task_delayacct for one test at a time, and restores it.
"""

import fcntl
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from programs.build import GO
from tidscope_collector.stacks.program import CAN_START, PROGRAM, outlook

DELAY_SWITCH = Path("/proc/sys/kernel/task_delayacct")

_DELAY_SWITCH_LOCK = Path(tempfile.gettempdir()) / "tidscope-tests-task-delayacct.lock"

PREFIX = "missing capability"

ALLOWED = Path(__file__).with_name("allowed_skips.toml")

DETECTED: dict[str, tuple[Callable[[], bool], str]] = {
    "root": (lambda: os.geteuid() == 0, "only root may do this"),
    "two-cpus": (lambda: len(os.sched_getaffinity(0)) >= 2, "this process may use one CPU only"),
    "x86_64": (lambda: os.uname().machine == "x86_64", "this is another processor"),
    "go": (lambda: GO is not None, "there is no Go compiler"),
    "stacks": (PROGRAM.exists, "the program that takes stacks is not built"),
    "stack-trigger": (lambda: outlook() == CAN_START, "no tracepoint that eBPF fires (Linux 6.10)"),
    "btf": (Path("/sys/kernel/btf/vmlinux").exists, "this kernel has no BTF"),
    "delay-accounting": (DELAY_SWITCH.exists, "this kernel has no switch for delay accounting"),
}
"""Capabilities that can be reported before a test begins."""

TRIED = {
    "mount": "no file system can be mounted",
    "mount-namespace": "no mount namespace can be made",
    "network-namespace": "no network namespace can be made",
    "postgresql": "there is no PostgreSQL server",
    "nginx": "there is no nginx",
    "pgbouncer": "there is no PgBouncer",
    "cpu-quota": "no cgroup with a limit of CPU time can be made",
    "thread-throttling": "the kernel does not tell which threads a CPU limit holds (Linux 6.18)",
    "two-cpus": "there is one CPU",
    "cgroup-limits": "no cgroup with a limit of memory or disk can be made",
    "kernel-build": "the extended kernel cannot be built",
    "kernel-boot": "the extended kernel cannot run on this processor",
    "direct-walk": "the kernel has no task iterator that programs call (Linux 6.7)",
    "32-bit": "no 32-bit program can be built or run",
    "io_uring": "io_uring is not there",
    "java-21": "there is no Java 21 or newer",
    "java-24": "there is no Java 24 or newer",
    "crates": "crates of the Rust registry cannot be fetched and built",
    "go-modules": "modules of the Go proxy cannot be fetched and built",
    "shells": "a shell is missing",
    "pypi": "packages of PyPI cannot be fetched",
    "podman": "podman cannot run containers",
    "systemd": "systemd cannot be the first process of a container",
    "dwz": "there is no dwz",
    "debuginfod": "there is no debuginfod",
    "versitygw": "there is no versitygw (tools/build-versitygw)",
    "jaeger": "TIDSCOPE_BUILD_JAEGER is not set",
    "perf": "perf cannot record what the scheduler does",
    "python-for-others": "no interpreter of this version that another user may run",
}
"""Capabilities that only the test itself finds out about."""


def needs(name: str) -> pytest.MarkDecorator:
    """A mark for tests that need a capability of DETECTED."""
    detect, reason = DETECTED[name]
    return pytest.mark.skipif(not detect(), reason=f"{PREFIX} {name}: {reason}")


def missing(name: str, detail: str = "") -> BaseException:
    """To be raised by a test or fixture that finds a capability of TRIED missing: it is skipped."""
    return pytest.skip.Exception(f"{PREFIX} {name}: {TRIED[name]}: {detail}")


def allowed() -> dict[str, str]:
    """Capabilities that may be missing under CI, with the reason for each."""
    listed: dict[str, str] = tomllib.loads(ALLOWED.read_text()).get("allowed", {})
    return listed


def failure_of_skip(reason: str) -> str | None:
    """Why a skip is a failure under CI, or None if it may be.

    Args:
        reason: reason of the skip, as pytest reports it.
    """
    name = next((name for name in allowed() if f"{PREFIX} {name}:" in reason), None)
    if name is not None:
        return None
    return f"skipped under CI, and not listed in tests/{ALLOWED.name}: {reason}"


def delays_are_on() -> bool:
    """True if delay accounting is on."""
    return DELAY_SWITCH.read_text().strip() == "1"


@contextmanager
def delay_switch_kept() -> Iterator[None]:
    """Leave the switch as it was found, whatever happens within; waits for other tests."""
    with _DELAY_SWITCH_LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = DELAY_SWITCH.read_text()
        try:
            yield
        finally:
            if DELAY_SWITCH.read_text() != before:
                DELAY_SWITCH.write_text(before)


@contextmanager
def delays_switched(on: bool) -> Iterator[None]:
    """Have it on (or off) within."""
    with delay_switch_kept():
        DELAY_SWITCH.write_text("1" if on else "0")
        yield
