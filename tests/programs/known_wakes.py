"""Drives known_wakes.c: threads that wake each other a known number of times."""

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from programs.build import build_c
from pydantic import BaseModel, ConfigDict

ROUNDS = 400
"""As the program has it."""


class Sleeper(BaseModel):
    """A thread: how often it went to sleep, and the wall time of its calls, nanoseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tid: int
    sleeps: int
    in_call_ns: int


class Experiment(BaseModel):
    """What the program says of one; address is that of the lock, 0 if there is none."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    address: int
    threads: tuple[Sleeper, ...]


class KnownWakes:
    """A running known_wakes program; use it in a ``with`` statement."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [build_c(Path(__file__).with_name("known_wakes.c"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def run(self, name: str) -> Experiment:
        """Run an experiment to its end; its threads live on until the next one."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return Experiment.model_validate_json(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
