"""Processes of this host: children that end with their parent, identity, and limits of memory.

`python -m tidscope_backend.processes PID COMMAND…` becomes COMMAND, which then ends with its
parent, however the parent ends.
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
"""prctl(2); survives execve(2) unless that changes the credentials."""


class ParentExitedError(Exception):
    """The parent has already ended."""


def terminate_with_parent(parent_pid: int) -> None:
    """Have SIGTERM sent to this process when its parent ends.

    Args:
        parent_pid: the parent, as it knows itself; if it died before this call, that is detected.

    Raises:
        ParentExitedError: the parent has ended.
        OSError: the kernel refuses.
    """
    # A thread that starts processes may block it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        raise ParentExitedError(f"process {parent_pid} has ended")


ISOLATED = "-I"
"""Option of the interpreter: no module comes from the current directory, nor from where the
environment or a user's own packages say."""


def run_module(name: str, *arguments: str, option: str = "-P") -> list[str]:
    """The command that runs a module of ours with this interpreter.

    With -P modules that lie in the current directory are not ours.
    """
    return [sys.executable, option, "-m", name, *arguments]


def bound_to_parent(arguments: Sequence[str]) -> list[str]:
    """Wrap a command so that it ends with the calling process; one that is isolated stays so."""
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
    """Become the command."""
    try:
        terminate_with_parent(int(arguments[0]))
    except ParentExitedError as error:
        raise SystemExit(str(error)) from None
    exec_program(arguments[1:])


def wait_or_kill(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait for its end, and kill it if that takes too long; its output is read no more.

    Args:
        process: has been asked to end.
        seconds: how long it may take.
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
    """Identity of this machine, as its collector gives it."""
    return "h-" + BOOT_ID.read_text().replace("-", "")[:12]


def start_ticks(pid: int) -> int:
    """Start of a process in clock ticks since boot (proc(5): field 22 of stat).

    Raises:
        OSError: there is no such process.
    """
    stat = Path(f"/proc/{pid}/stat").read_text()
    # The comm, in parentheses, may hold blanks and parentheses itself.
    return int(stat.rpartition(")")[2].split()[19])


SPARE = 256
"""Kept for runs, sealing, exports and child processes, whatever the network does."""
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE})


def raise_descriptor_limit() -> int:
    """Raise the soft limit to the hard one (getrlimit(2), RLIMIT_NOFILE); returns the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def connection_descriptors() -> int:
    """How many descriptors connections may hold: half of a low limit stays for files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if limit == resource.RLIM_INFINITY else max(limit - SPARE, limit // 2)


def is_exhausted(error: OSError) -> bool:
    """Whether no descriptor was left, in this process (EMFILE) or on this machine (ENFILE)."""
    return error.errno in EXHAUSTED


MAPPED_BYTES = 1 << 20
"""Buffers of this size and above are mappings of their own, which go back when they are freed."""
_M_MMAP_THRESHOLD = -3


def map_large_buffers() -> None:
    """Fix the size from which on buffers are mappings of their own; see mallopt(3).

    glibc raises it with each of them that is freed. Then large buffers come from the heap, among
    small ones that stay. To be called first: what is imported later is smaller, too.
    """
    # Other C libraries do not have it, and map large buffers anyway.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES)


def keep_what_is_loaded() -> None:
    """Tell the garbage collector that all objects so far stay, so that its searches are short."""
    gc.collect()
    gc.freeze()


def release_freed_memory() -> None:
    """Return what is not needed any more to the system; takes milliseconds."""
    import pyarrow as pa

    # Readers of runs hold one another, and tables: few objects, for which nobody searches.
    gc.collect()
    # With the system's allocator (see the package's __init__) this trims all that is the C
    # library's, arrays of numpy included.
    pa.default_memory_pool().release_unused()


class ProgramEnd(NamedTuple):
    """The end of a supervised program.

    Attributes:
        name: of the program: "backend" or "collector".
        pid: its process id.
        unix_us: wall clock of its end, Unix microseconds.
        how: "by SIGKILL", "with code 1".
    """

    name: str
    pid: int
    unix_us: int
    how: str


class SupervisorLog:
    """Written by the supervisor alone.

    Attributes:
        reading: a read-only descriptor of the log, which children inherit.
    """

    def __init__(self) -> None:
        self._writing = os.memfd_create("tidscope-ends", os.MFD_CLOEXEC)
        self.reading = os.open(f"/proc/self/fd/{self._writing}", os.O_RDONLY | os.O_CLOEXEC)

    def note(self, name: str, pid: int, how: str) -> None:
        """A program has ended just now."""
        end = ProgramEnd(name, pid, time.time_ns() // 1000, how)
        os.write(self._writing, json.dumps(end).encode() + b"\n")

    def close(self) -> None:
        """Close both descriptors."""
        os.close(self._writing)
        os.close(self.reading)


def read_ends(descriptor: int | None) -> list[ProgramEnd]:
    """The programs that have ended so far, in order.

    Args:
        descriptor: of the log; None: nobody supervises this process.
    """
    if descriptor is None:
        return []
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    return [ProgramEnd(*json.loads(line)) for line in data.splitlines()]


if __name__ == "__main__":
    main(sys.argv[1:])
