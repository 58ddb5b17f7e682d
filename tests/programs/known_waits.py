"""Drives known_waits.c: each thread waits for one thing, and says how long."""

import os
import tempfile
from pathlib import Path

from programs.build import build_c
from programs.running import RunningProgram
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
    """Report of the program; process_cpu_ns covers all its threads, including ended ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    event: str
    process_cpu_ns: int
    threads: tuple[Waiter, ...]


class KnownWaits(RunningProgram):
    """A running known_waits program."""

    def __init__(self, folder: Path = Path("/var/tmp")) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="known-waits-", dir=folder)
        blocks = Path(self._folder.name) / "blocks"
        with blocks.open("wb") as file:
            file.write(os.urandom(BLOCKS_BYTES))
            os.fsync(file.fileno())
        super().__init__([build_c(Path(__file__).with_name("known_waits.c")), blocks])
        self.ready = Report.model_validate_json(self.line())

    def wait(self) -> Report:
        """Make all threads wait; return when all are done."""
        return Report.model_validate_json(self.ask("g"))

    def run_short_threads(self) -> Report:
        """Run short threads one after another."""
        return Report.model_validate_json(self.ask("s"))

    def close(self) -> None:
        """Kill it, and remove its file."""
        super().close()
        self._folder.cleanup()
