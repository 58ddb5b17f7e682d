"""Surroundings of programs with a known fault: limits, and a disturbing program.

Each place starts a program with or without its fault and yields the process ID to attach to. All of
it has ended when the context ends.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

Place = AbstractContextManager[int]
GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
QUOTA = 0.5
"""CPUs that throttled programs may use."""
DISK_BYTES = 4 << 20
"""Bytes a second that a limited disk takes or gives."""
MEMORY_BYTES = 24 << 20
START_S = 60


def _started(
    words: Sequence[str], folder: Path, *, lead: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """Start a program in a session of its own and wait until it says that it is ready."""
    process = subprocess.Popen(
        [*lead, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        _end(process)
        raise SystemExit(f"{words[0]} did not start")
    return process


@contextmanager
def ended(
    process: subprocess.Popen[str], with_signal: int = signal.SIGKILL
) -> Iterator[subprocess.Popen[str]]:
    """A started program that is ended with the context."""
    try:
        yield process
    finally:
        _end(process, with_signal)


def _end(process: subprocess.Popen[str], with_signal: int = signal.SIGKILL) -> None:
    """End a program and what it started."""
    os.killpg(process.pid, with_signal)
    process.communicate()


def wait_until(ready: Callable[[], bool], what: str) -> None:
    """Wait until a server is ready. Raises SystemExit after START_S."""
    end = time.monotonic() + START_S
    while not ready():
        if time.monotonic() > end:
            raise SystemExit(f"{what} did not start")
        time.sleep(0.1)


def quiet(
    words: Sequence[str], folder: Path, environment: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a program in a session of its own, without its output."""
    return subprocess.Popen(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def listens(port: int) -> bool:
    """Whether somebody listens at a port of the loopback interface."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def _words(program: Sequence[str], fault: bool) -> list[str]:
    return [*program, "fault" if fault else "healthy"]


@contextmanager
def bare(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Nothing but the program."""
    process = _started(_words(program, fault), folder)
    try:
        yield process.pid
    finally:
        _end(process)


@contextmanager
def hog(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Another program, nightly-backup, computes on every CPU; beside the twin it does not."""
    with bare(program, False, folder) as pid:
        if not fault:
            yield pid
            return
        busy = folder / "nightly-backup"
        shutil.copy(program[0], busy)
        process = _started([str(busy), "busy", "fault"], folder)
        try:
            yield pid
        finally:
            _end(process)


@contextmanager
def limited(
    program: Sequence[str], folder: Path, controller: str, limits: dict[str, str]
) -> Iterator[int]:
    """Run a program in a control group of its own (version 1) with limits, by file."""
    group = GROUPS / controller / f"incident-{folder.name}"
    group.mkdir()
    try:
        for file, limit in limits.items():
            (group / file).write_text(limit)
        lead = ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")
        process = _started(program, folder, lead=lead)
        try:
            yield process.pid
        finally:
            _end(process)
    finally:
        while (group / "cgroup.procs").read_text():
            time.sleep(0.05)
        group.rmdir()


@contextmanager
def cpu_limit(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Half a CPU; the twin may use four."""
    quota = QUOTA if fault else 4
    limits = {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(int(quota * PERIOD_US))}
    with limited(_words(program, fault), folder, "cpu", limits) as pid:
        yield pid


@contextmanager
def disk_limit(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """A disk that takes little; the twin's is as it is."""
    limits = {"blkio.throttle.write_bps_device": _disk_bytes()} if fault else {}
    with limited(_words(program, fault), folder, "blkio", limits) as pid:
        yield pid


def read_limits() -> dict[str, str]:
    """Limit of a group whose disk hardly gives anything."""
    return {"blkio.throttle.read_bps_device": _disk_bytes()}


def _disk_bytes() -> str:
    device = Path("/var/tmp").stat().st_dev
    return f"{os.major(device)}:{os.minor(device)} {DISK_BYTES}"


@contextmanager
def memory_limit(program: Sequence[str], fault: bool, folder: Path) -> Iterator[int]:
    """Less memory than the program touches, in a file that is mapped."""
    limits = {"memory.limit_in_bytes": str(MEMORY_BYTES)} if fault else {}
    with limited(_words(program, fault), folder, "memory", limits) as pid:
        yield pid
