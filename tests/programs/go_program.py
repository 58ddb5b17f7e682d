"""Drives gomaxprocs.go, a Go program that says its GOMAXPROCS and changes it at a signal."""

import os
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from programs.build import build_go

SOURCE = Path(__file__).with_name("gomaxprocs.go")


class GoProgramRun:
    """A running program; use it in a ``with`` statement.

    Args:
        steps: what each signal sets GOMAXPROCS to.
        flags: for `go build`.
        gomaxprocs: in the environment; as the runtime chooses if None.
    """

    def __init__(
        self, steps: tuple[int, ...] = (), flags: tuple[str, ...] = (), gomaxprocs: int | None = 3
    ) -> None:
        env = {key: value for key, value in os.environ.items() if key != "GOMAXPROCS"}
        if gomaxprocs is not None:
            env["GOMAXPROCS"] = str(gomaxprocs)
        self._process = subprocess.Popen(
            [str(build_go(SOURCE, *flags)), *map(str, steps)],
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )
        self.pid = self._process.pid
        self.said = self._next()

    def step(self) -> int:
        """Let it set the next value; what it says is in force then."""
        os.kill(self.pid, signal.SIGUSR1)
        self.said = self._next()
        return self.said

    def _next(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """Kill it and wait for it."""
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
