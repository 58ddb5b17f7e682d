"""Drives programs of short threads, in C, Go and Java; see short_threads.c."""

import time
from collections.abc import Callable
from pathlib import Path

from programs.build import build_c, build_go, build_java
from programs.running import RunningProgram

HERE = Path(__file__).parent
LANGUAGES = ("c", "go", "java")


def _command(language: str) -> list[str]:
    if language == "c":
        return [str(build_c(HERE / "short_threads.c"))]
    if language == "go":
        return [str(build_go(HERE / "short_threads.go"))]
    sources = [HERE / "short_threads_java" / "Main.java"]
    return ["java", "-Xmx64m", "-cp", str(build_java("short_threads_java", sources)), "Main"]


class ShortThreads(RunningProgram):
    """A running program.

    Args:
        language: one of LANGUAGES.
    """

    def __init__(self, language: str) -> None:
        super().__init__(_command(language))
        assert self.line() == "ready"

    def cpu_ns(self) -> int:
        """CPU time of all its threads, those that ended included."""
        return time.clock_gettime_ns(~self.pid << 3 | 2)  # CPUCLOCK_SCHED, linux/posix-timers.h

    def run(self, count: int, work_ns: int, meanwhile: Callable[[], None]) -> None:
        """Run a number of threads, and call a function repeatedly until they have ended."""
        self.tell(f"{count} {work_ns}\n")
        while not self.says(0.01):
            meanwhile()
        assert self.line() == "done"
