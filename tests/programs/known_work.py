"""Drives known_work.c: a command, and the accounts that its threads give of themselves."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Literal, Self

from programs.build import build_c
from pydantic import BaseModel, ConfigDict
from tidscope_wire.readiness import is_readable

Command = Literal["b", "w", "r", "s", "n", "e", "z", "x", "p", "q"]

EXIT_CODE = 7
PATIENCE_S = 120.0


class Account(BaseModel):
    """Own account of a thread or the process: RUSAGE_THREAD and its CPU clock."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tid: int
    name: str
    cpu_ns: int
    user_us: int
    system_us: int
    voluntary_switches: int
    involuntary_switches: int
    minor_faults: int
    major_faults: int
    blocks_in: int
    blocks_out: int


class Answer(BaseModel):
    """Answer of the program to one command.

    Attributes:
        threads: the threads that worked; after "s" all short ones, after "q" those that were left.
        process: the accounts of the process as a whole (tid = pid), the ended threads included.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: str
    pid: int
    threads: tuple[Account, ...]
    process: Account

    @property
    def thread(self) -> Account:
        """The one thread that worked."""
        (only,) = self.threads
        return only


def build() -> Path:
    """The executable, compiled if it is not there yet."""
    return build_c(Path(__file__).with_name("known_work.c"))


class KnownWork:
    """A running known_work program; use it in a ``with`` statement.

    Args:
        burn_ms: CPU time that "b" uses.
        write_bytes: number of bytes that "w" writes.
        short_threads: number of threads that "s" starts and ends.
        short_us: CPU time that each of them uses.
        file: file that "w" writes to; None for a new file, removed at the end.
        uid: the user, and group, that it runs as, if not this one.
    """

    def __init__(
        self,
        *,
        burn_ms: int = 1000,
        write_bytes: int = 8 << 20,
        short_threads: int = 300,
        short_us: int = 1000,
        file: Path | None = None,
        uid: int | None = None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="known-work-")
        executable = build()
        if uid is not None:
            # The user may have no access to the folder of this repository.
            executable = Path(shutil.copy(executable, self._folder.name))
            os.chown(self._folder.name, uid, uid)
        self.file = file or Path(self._folder.name) / "written"
        self._process = subprocess.Popen(
            [
                str(executable),
                f"--burn-ms={burn_ms}",
                f"--file={self.file}",
                f"--write-bytes={write_bytes}",
                f"--short-threads={short_threads}",
                f"--short-us={short_us}",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
        )
        self._unread = b""
        self.pid = self._process.pid
        self.ready = self.answer()

    @property
    def tids(self) -> dict[str, int]:
        """Ids of the threads of the start by name; the main thread is "known_work"."""
        return {account.name: account.tid for account in self.ready.threads}

    def send(self, command: Command) -> None:
        """Give a command and do not wait for its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(command.encode())
        self._process.stdin.flush()

    def answer(self) -> Answer:
        """Wait for the answer to the oldest command that was not answered yet."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + PATIENCE_S
        output = self._process.stdout.fileno()
        while b"\n" not in self._unread:
            if not is_readable(output, max(0.0, deadline - time.monotonic())):
                raise TimeoutError(f"known_work {self.pid} said nothing for {PATIENCE_S} s")
            piece = os.read(output, 1 << 20)
            if not piece:
                raise EOFError(f"known_work {self.pid} ended, code {self._process.wait()}")
            self._unread += piece
        line, self._unread = self._unread.split(b"\n", 1)
        return Answer.model_validate_json(line)

    def command(self, command: Command) -> Answer:
        """Give a command and wait until it is done."""
        self.send(command)
        return self.answer()

    def wait(self) -> int:
        """Wait until the program has ended; its exit code (negative: the signal)."""
        return self._process.wait(PATIENCE_S)

    def kill(self) -> int:
        """End it at once and wait for it; its exit code, -9 unless it had ended before."""
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def kill_unreaped(self) -> None:
        """End it at once and leave it a zombie: it is waited for, not reaped."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def close(self) -> None:
        """Kill it if it runs; close its pipes; remove its file."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
