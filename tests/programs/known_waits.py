"""Drives known_waits.c: each thread waits for one thing, and says how long."""

import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from programs.build import build_c
from pydantic import BaseModel, ConfigDict

BLOCKS_BYTES = 16 << 20
SHORT_THREADS = 300


class Waiter(BaseModel):
    """A thread, the wall time around its calls, and with what prepares them, nanoseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tid: int
    name: str
    in_call_ns: int
    whole_ns: int


class Report(BaseModel):
    """What the program says; process_cpu_ns is that of all its threads, ended ones too."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: str
    process_cpu_ns: int
    threads: tuple[Waiter, ...]


class KnownWaits:
    """A running known_waits program; use it in a ``with`` statement."""

    def __init__(self, folder: Path = Path("/var/tmp")) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="known-waits-", dir=folder)
        blocks = Path(self._folder.name) / "blocks"
        with blocks.open("wb") as file:
            file.write(os.urandom(BLOCKS_BYTES))
            os.fsync(file.fileno())
        self._process = subprocess.Popen(
            [build_c(Path(__file__).with_name("known_waits.c")), blocks],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        self.ready = self._report()

    def wait(self) -> Report:
        """Let all threads wait; returns when all are done."""
        return self._ask("g")

    def run_short_threads(self) -> Report:
        """Let short threads run, one after another."""
        return self._ask("s")

    def _ask(self, command: str) -> Report:
        assert self._process.stdin is not None
        self._process.stdin.write(command)
        self._process.stdin.flush()
        return self._report()

    def _report(self) -> Report:
        assert self._process.stdout is not None
        return Report.model_validate_json(self._process.stdout.readline())

    def close(self) -> None:
        """Kill it, close its pipes, remove its file."""
        self._process.kill()
        self._process.communicate()
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
