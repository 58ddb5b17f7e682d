"""Processes of this host: children that end with their parent, identity, and resource limits.

`python -m tidscope_backend.processes PID COMMAND…` becomes COMMAND, which ends when its parent
does.
"""

import ctypes
import errno
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

PR_SET_PDEATHSIG = 1
"""prctl(2) option; kept by execve(2) unless credentials change."""


class ParentExitedError(Exception):
    """The parent has already ended."""


def terminate_with_parent(parent_pid: int) -> None:
    """Request SIGTERM for this process when its parent ends.

    Args:
        parent_pid: PID of the parent; a parent that died before this call is detected.

    Raises:
        ParentExitedError: the parent has ended.
        OSError: the kernel refuses.
    """
    # A thread that starts processes may block the signal.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        raise ParentExitedError(f"process {parent_pid} has ended")


ISOLATED = "-I"
"""Interpreter option: exclude modules from the current directory, environment and user site."""


def run_module(name: str, *arguments: str, option: str = "-P") -> list[str]:
    """Return the command that runs one of our modules with this interpreter.

    -P excludes modules in the current directory.
    """
    return [sys.executable, option, "-m", name, *arguments]


def bound_to_parent(arguments: Sequence[str]) -> list[str]:
    """Wrap a command so that it ends with the calling process; keeps isolation."""
    option = ISOLATED if ISOLATED in arguments[1:2] else "-P"
    return run_module("tidscope_backend.processes", str(os.getpid()), *arguments, option=option)


def exec_program(
    arguments: Sequence[str],
    program: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> NoReturn:
    """Replace this process by a program: the first argument, or another file. Raises OSError."""
    os.execvpe(program or arguments[0], list(arguments), environ)  # noqa: S606 - no shell


def main(arguments: Sequence[str]) -> None:
    """Replace this process by the command."""
    try:
        terminate_with_parent(int(arguments[0]))
    except ParentExitedError as error:
        raise SystemExit(str(error)) from None
    exec_program(arguments[1:])


def wait_or_kill(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait for a process to end, and kill it after a timeout; its output is discarded.

    Args:
        process: process that was asked to end.
        seconds: timeout.
    """
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def local_host_id() -> str:
    """Return this machine's ID, as its collector reports it."""
    return "h-" + BOOT_ID.read_text().replace("-", "")[:12]


def start_ticks(pid: int) -> int:
    """Start of a process in clock ticks since boot (proc(5): field 22 of stat).

    Raises:
        OSError: the process does not exist.
    """
    stat = Path(f"/proc/{pid}/stat").read_text()
    # The comm, in parentheses, may contain blanks and parentheses.
    return int(stat.rpartition(")")[2].split()[19])


SPARE = 256
"""Descriptors reserved for runs, sealing, exports and child processes."""
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE})


def raise_descriptor_limit() -> int:
    """Raise the soft limit to the hard one (getrlimit(2), RLIMIT_NOFILE) and return the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def connection_descriptors() -> int:
    """Return the number of descriptors for connections; half of a low limit is kept for files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if limit == resource.RLIM_INFINITY else max(limit - SPARE, limit // 2)


def is_exhausted(error: OSError) -> bool:
    """Return True if descriptors ran out, in this process (EMFILE) or on this machine (ENFILE)."""
    return error.errno in EXHAUSTED


MAPPED_BYTES = 1 << 20
"""Minimum size of buffers with separate mappings, which are returned to the system when freed."""
_M_MMAP_THRESHOLD = -3


def map_large_buffers() -> None:
    """Fix the minimum size of buffers with separate mappings; see mallopt(3).

    By default, glibc raises the size when a separate mapping is freed. Large buffers then come from
    the heap, between small long-lived ones. Call early, because later imports allocate smaller
    buffers too.
    """
    # Other C libraries lack mallopt, and map large buffers by default.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES)


def keep_what_is_loaded() -> None:
    """Exclude all existing objects from garbage collection, which shortens later collections."""
    gc.collect()
    gc.freeze()


def release_freed_memory() -> None:
    """Return freed memory to the system; takes milliseconds."""
    import pyarrow as pa

    # Readers of runs form reference cycles with tables: too few objects to trigger a collection.
    gc.collect()
    # This trims all memory of the C library, including numpy's arrays, with the system's allocator
    # (see the package's __init__).
    pa.default_memory_pool().release_unused()


class ProgramEnd(NamedTuple):
    """The end of a supervised program.

    Attributes:
        name: name of the program: "backend" or "collector".
        pid: process ID.
        unix_us: time of the end, Unix microseconds.
        how: "by SIGKILL", "with code 1".
    """

    name: str
    pid: int
    unix_us: int
    how: str


class SupervisorLog:
    """Log of ended programs, written by the supervisor only.

    Attributes:
        reading: read-only descriptor of the log, which children inherit.
    """

    def __init__(self) -> None:
        self._writing = os.memfd_create("tidscope-ends", os.MFD_CLOEXEC)
        self.reading = os.open(f"/proc/self/fd/{self._writing}", os.O_RDONLY | os.O_CLOEXEC)

    def note(self, name: str, pid: int, how: str) -> None:
        """Append the end of a program."""
        end = ProgramEnd(name, pid, time.time_ns() // 1000, how)
        os.write(self._writing, json.dumps(end).encode() + b"\n")

    def close(self) -> None:
        """Close both descriptors."""
        os.close(self._writing)
        os.close(self.reading)


def read_ends(descriptor: int | None) -> list[ProgramEnd]:
    """Return the ended programs, in order.

    Args:
        descriptor: descriptor of the log; None without a supervisor.
    """
    if descriptor is None:
        return []
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    return [ProgramEnd(*json.loads(line)) for line in data.splitlines()]


if __name__ == "__main__":
    main(sys.argv[1:])
