"""Drives many_threads.c."""

from pathlib import Path

from processes import wait_until
from programs.build import build_c
from programs.running import RunningProgram

FUNCTIONS = ("rest", "await")


class ManyThreads(RunningProgram):
    """A running program."""

    def __init__(self) -> None:
        super().__init__([build_c(Path(__file__).with_name("many_threads.c"), "-O2")])
        assert self.line() == "ready"
        wait_until(lambda: len(self._others()) == 2)

    def asleep(self) -> set[int]:
        """Return IDs of the two threads that sleep all along.

        The kernel lists other threads for a moment longer than a program waits for their end.
        """
        wait_until(lambda: len(self._others()) == 2)
        return self._others()

    def _others(self) -> set[int]:
        tasks = {int(one.name) for one in Path(f"/proc/{self.pid}/task").iterdir()}
        return tasks - {self.pid}

    def run(self, count: int, seconds: float) -> None:
        """Let so many threads live for so long."""
        assert self.ask(f"{count} {seconds}\n") == "done"
