"""Drives programs of short threads, in C, Go and Java; see short_threads.c."""

import selectors
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from programs.build import build_c, build_go, build_java

HERE = Path(__file__).parent
LANGUAGES = ("c", "go", "java")


def _command(language: str) -> list[str]:
    if language == "c":
        return [str(build_c(HERE / "short_threads.c"))]
    if language == "go":
        return [str(build_go(HERE / "short_threads.go"))]
    sources = [HERE / "short_threads_java" / "Main.java"]
    return ["java", "-Xmx64m", "-cp", str(build_java("short_threads_java", sources)), "Main"]


class ShortThreads:
    """A running program; use it in a ``with`` statement.

    Args:
        language: one of LANGUAGES.
    """

    def __init__(self, language: str) -> None:
        self._process = subprocess.Popen(
            _command(language), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self._process.pid
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def cpu_ns(self) -> int:
        """CPU time of all its threads, those that ended included."""
        return time.clock_gettime_ns(~self.pid << 3 | 2)  # CPUCLOCK_SCHED, linux/posix-timers.h

    def run(self, count: int, work_ns: int, meanwhile: Callable[[], None]) -> None:
        """Let so many threads live, and call a function again and again until they have ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{count} {work_ns}\n")
        self._process.stdin.flush()
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while not selector.select(0.01):
                meanwhile()
        assert self._process.stdout.readline() == "done\n"

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
