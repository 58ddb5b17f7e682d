"""Drives time_parts.c: its threads work for a while, and say how long and with how much CPU."""

import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from programs.build import build_c
from pydantic import BaseModel, ConfigDict

PATIENCE_S = 60.0


class Hand(BaseModel):
    """What a thread says of its last work: wall time and CPU time, nanoseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tid: int
    name: str
    worked_ns: int
    cpu_ns: int


class Answer(BaseModel):
    """All threads but the main one, which sleeps."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: str
    pid: int
    threads: tuple[Hand, ...]


class TimeParts:
    """A running time_parts program; use it in a ``with`` statement.

    Args:
        run_ms: how long the threads work after each "g".
        crowd: how many threads share one CPU.
        folder: where "disk" writes; must not be a file system in memory.
    """

    def __init__(
        self, *, run_ms: int = 2000, crowd: int = 3, folder: Path = Path("/var/tmp")
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="time-parts-", dir=folder)
        self._process = subprocess.Popen(
            [
                str(build_c(Path(__file__).with_name("time_parts.c"))),
                f"--run-ms={run_ms}",
                f"--crowd={crowd}",
                f"--cpu={min(os.sched_getaffinity(0))}",
                f"--file={Path(self._folder.name) / 'blocks'}",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._unread = b""
        self.pid = self._process.pid
        self.ready = self._answer()

    @property
    def tids(self) -> dict[str, int]:
        """Thread ids by name."""
        return {hand.name: hand.tid for hand in self.ready.threads}

    def work(self) -> Answer:
        """Let all threads work; returns when all of them sleep again."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"g")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Answer:
        assert self._process.stdout is not None
        deadline = time.monotonic() + PATIENCE_S
        output = self._process.stdout.fileno()
        while b"\n" not in self._unread:
            ready, _, _ = select.select([output], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"time_parts {self.pid} said nothing for {PATIENCE_S} s")
            piece = os.read(output, 1 << 16)
            if not piece:
                raise EOFError(f"time_parts {self.pid} ended, code {self._process.wait()}")
            self._unread += piece
        line, self._unread = self._unread.split(b"\n", 1)
        return Answer.model_validate_json(line)

    def close(self) -> None:
        """Kill it, close its pipes, remove its file."""
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        self._process.wait(PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
