"""Drives time_parts.c: its threads work for a while, and say how long and with how much CPU."""

import os
import tempfile
from pathlib import Path

from programs.build import build_c
from programs.running import RunningProgram
from pydantic import BaseModel, ConfigDict


class Hand(BaseModel):
    """Own account of a thread's last work: wall time and CPU time, in nanoseconds."""

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


class TimeParts(RunningProgram):
    """A running time_parts program.

    Args:
        run_ms: working time of the threads after each "g", in milliseconds.
        crowd: number of threads that share one CPU.
        folder: folder that "disk" writes to; must not be a file system in memory.
    """

    def __init__(
        self, *, run_ms: int = 2000, crowd: int = 3, folder: Path = Path("/var/tmp")
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="time-parts-", dir=folder)
        super().__init__(
            [
                str(build_c(Path(__file__).with_name("time_parts.c"))),
                f"--run-ms={run_ms}",
                f"--crowd={crowd}",
                f"--cpu={min(os.sched_getaffinity(0))}",
                f"--file={Path(self._folder.name) / 'blocks'}",
            ]
        )
        self.ready = Answer.model_validate_json(self.line())

    @property
    def tids(self) -> dict[str, int]:
        """Thread ids by name."""
        return {hand.name: hand.tid for hand in self.ready.threads}

    def work(self) -> Answer:
        """Make all threads work; return when all of them sleep again."""
        return Answer.model_validate_json(self.ask("g"))

    def close(self) -> None:
        """Kill it, and remove its file."""
        super().close()
        self._folder.cleanup()
