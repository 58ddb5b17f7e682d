"""Drives named_locks.c, and tells at which addresses threads of any process wait."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Self

from processes import thread_files, wait_until
from programs.build import build_c

FUTEX = {"x86_64": "202", "aarch64": "98"}[os.uname().machine]
WAITERS = {
    *("global", "static", "data", "member", "library", "heap", "stack", "nested"),
    *("condition", "changed", "semaphore", "join"),
    *("reader", "writer"),
}
_HERE = Path(__file__).parent


def futex_waits(pid: int) -> dict[str, int]:
    """Names of the threads that wait at a futex, and the address that each waits at."""
    return dict(_futex_waits(pid))


def futex_addresses(pid: int) -> set[int]:
    """Addresses at which threads wait at a futex."""
    return {address for _, address in _futex_waits(pid)}


def _futex_waits(pid: int) -> list[tuple[str, int]]:
    calls, names = (thread_files(pid, name) for name in ("syscall", "comm"))
    waits = {tid: int(call.split()[1], 16) for tid, call in calls.items() if is_futex(call)}
    return [(names[tid].strip(), address) for tid, address in waits.items() if tid in names]


def is_futex(call: str) -> bool:
    """True if a thread waits at a futex, by its line in /proc/PID/task/TID/syscall."""
    return call.split(maxsplit=1)[0] == FUTEX


def runs(pid: int) -> bool:
    """True if a thread of a process runs, or waits for a CPU."""
    return any(call.startswith("running") for call in thread_files(pid, "syscall").values())


def build_library() -> Path:
    """The shared library with a lock."""
    return build_c(_HERE / "lock_library.c", "-shared", "-fPIC")


class NamedLocks:
    """A running named_locks program; use it in a ``with`` statement.

    Args:
        flags: for the compiler.
        folder: folder of a stripped copy to run; by default the program runs as built.
        replaced_by: command that it executes at its end.
    """

    def __init__(
        self,
        flags: tuple[str, ...] = (),
        folder: Path | None = None,
        replaced_by: Path | None = None,
    ) -> None:
        self.program, self.library = build_c(_HERE / "named_locks.c", *flags), build_library()
        if folder is not None:
            for one in (self.program, self.library):
                shutil.copy(one, folder / one.name)
                subprocess.run(["strip", folder / one.name], check=True)
            self.program = folder / self.program.name
            self.library = folder / self.library.name
        more = [] if replaced_by is None else [replaced_by]
        self._process = subprocess.Popen(
            [self.program, self.library, *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.pid = self._process.pid
        self._read(b"ready\n")
        wait_until(lambda: futex_waits(self.pid).keys() >= WAITERS)

    def end_joined_thread(self) -> None:
        """End the thread that another one waits for."""
        self._write()
        self._read(b"ended\n")

    def execute(self) -> None:
        """Execute the other program."""
        self._write()
        self._read(b"ready\n")

    def _write(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"x")
        self._process.stdin.flush()

    def _read(self, wanted: bytes) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == wanted

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
