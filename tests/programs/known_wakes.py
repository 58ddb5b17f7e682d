"""Drives known_wakes.c: threads that wake each other a known number of times."""

from pathlib import Path

from programs.build import build_c
from programs.running import RunningProgram
from pydantic import BaseModel, ConfigDict

ROUNDS = 400
"""Same value as in the program."""


class Sleeper(BaseModel):
    """A thread: how often it went to sleep, and the wall time of its calls, nanoseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tid: int
    sleeps: int
    in_call_ns: int


class Experiment(BaseModel):
    """Report of the program on one thread.

    Attributes:
        address: address of the lock; 0: there is none.
        threads: all.
        ended_by: number of sleeps of the first thread, a server, that each other thread ended.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    address: int
    threads: tuple[Sleeper, ...]
    ended_by: tuple[int, ...]


class KnownWakes(RunningProgram):
    """A running known_wakes program."""

    def __init__(self) -> None:
        super().__init__([build_c(Path(__file__).with_name("known_wakes.c"))])
        self.line()

    def run(self, name: str) -> Experiment:
        """Run an experiment to its end; its threads live on until the next one."""
        return Experiment.model_validate_json(self.ask(f"{name}\n"))
