"""Programs whose threads and CPU time are known by their own account: counted.c."""

import ctypes
import os
import select
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fault_judge import Reading

SLOT = struct.Struct("=4Q")
"""Account record of one process: ID, threads born, threads ended, CPU time of its forks."""
STANDING = 5
"""Threads that each process has from its start."""
PATIENCE_S = 60.0
READING_S = 0.05
"""Longest time that a reading may take, in seconds: its numbers have to be of its time."""
LAST_PID = Path("/proc/sys/kernel/ns_last_pid")


class Counted:
    """A running program.

    Args:
        program: counted.c, compiled.
        account: file of its account.
        children: processes that it starts, which do what it does.
        burst: threads that it has at once while it works.
        forks: processes that it starts and ends while it works.
        file: file that it writes to; None: none.
        pid: id that it is to have; 0: any.
    """

    def __init__(
        self,
        program: Path,
        account: Path,
        children: int = 0,
        burst: int = 0,
        forks: int = 0,
        file: Path | None = None,
        pid: int = 0,
    ) -> None:
        self._account = account
        self._processes = children + 1
        self._dead_cpu: dict[int, float] = {}
        self._cpu: dict[int, float] = {}
        command = [str(program), str(account), str(children), "100", str(burst), str(forks)]
        command.append("-" if file is None else str(file))
        self._process = _start(command, pid)
        self.pid = self._process.pid
        self._answer()
        self._pids = [slot[0] for slot in self._slots()]

    def work(self) -> None:
        """Start working."""
        self._command(b"g")

    def halt(self) -> None:
        """Stop working; its short threads have ended."""
        if self.alive:
            self._command(b"h")

    def use_memory(self) -> None:
        """Use more memory without end."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"m")

    @property
    def alive(self) -> bool:
        """True while the program runs."""
        self.reap()
        return self.pid not in self._dead_cpu

    def reap(self) -> None:
        """Return the CPU time of its ended processes."""
        for pid in self._pids:
            if pid not in self._dead_cpu:
                self._reap(pid)

    def reading(self) -> Reading:
        """Return the account of the program up to now."""
        while True:
            found = self._reading()
            if time.time() - found.unix_s < READING_S:
                return found

    def _reading(self) -> Reading:
        self.reap()
        at, born, ended, cpu_s = time.time(), 0, 0, 0.0
        for pid, (_, its_born, its_ended, forks_ns) in zip(self._pids, self._slots(), strict=True):
            born += its_born
            dead = pid in self._dead_cpu
            ended += its_born + STANDING if dead else its_ended
            # A process that has just ended has no clock any more.
            self._cpu[pid] = max(self._cpu.get(pid, 0.0), _cpu_s(pid) + forks_ns / 1e9)
            cpu_s += self._dead_cpu[pid] if dead else self._cpu[pid]
        return Reading(at, born, ended, cpu_s)

    def close(self) -> None:
        """Kill the program and its children, by their IDs."""
        for pid in self._pids:
            if pid not in self._dead_cpu:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE_S
        while len(self._dead_cpu) < len(self._pids) and time.monotonic() < deadline:
            self.reap()
            time.sleep(0.01)

    def _reap(self, pid: int) -> None:
        """Check whether one of its processes has ended; this process has adopted them."""
        try:
            found, _, used = os.wait4(pid, os.WNOHANG)
        except ChildProcessError:
            if not Path(f"/proc/{pid}").exists():
                self._dead_cpu[pid] = 0.0
            return
        if found:
            self._dead_cpu[pid] = used.ru_utime + used.ru_stime
            if pid == self.pid:
                self._process.returncode = -1

    def _slots(self) -> list[tuple[int, ...]]:
        data = self._account.read_bytes()
        return [SLOT.unpack_from(data, one * SLOT.size) for one in range(self._processes)]

    def _command(self, byte: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(byte)
            self._answer()

    def _answer(self) -> None:
        output = self._process.stdout
        assert output is not None
        ready, _, _ = select.select([output], [], [], PATIENCE_S)
        if not ready:
            raise TimeoutError(f"program {self.pid} did not answer for {PATIENCE_S:g} s")
        output.read(1)


class Account:
    """The account of several programs, read twenty times a second.

    Args:
        programs: programs to read.
    """

    def __init__(self, programs: Sequence[Counted]) -> None:
        self._programs = programs
        self.readings: list[list[Reading]] = [[one.reading()] for one in programs]
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def read(self) -> None:
        """Read the accounts of all programs."""
        with self._lock:
            for program, readings in zip(self._programs, self.readings, strict=True):
                readings.append(program.reading())

    def close(self) -> None:
        """Read the accounts a last time."""
        self._end.set()
        self._thread.join()
        self.read()

    def _read(self) -> None:
        while not self._end.wait(0.05):
            self.read()


def become_reaper() -> None:
    """Adopt orphaned descendants, so that this process waits for them (PR_SET_CHILD_SUBREAPER)."""
    set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def _start(command: list[str], pid: int) -> subprocess.Popen[bytes]:
    """Start a program, with an id if one is given. Raises TimeoutError: others always took it."""
    for _ in range(500 if pid else 1):
        if pid:
            LAST_PID.write_text(str(pid - 1))
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        if pid in (0, process.pid):
            return process
        process.kill()
        process.wait()
    raise TimeoutError(f"process id {pid} was not free")


def _cpu_s(pid: int) -> float:
    """CPU seconds of a process by its clock, including ended threads."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # clock_getcpuclockid(3)
    except OSError:
        return 0.0
