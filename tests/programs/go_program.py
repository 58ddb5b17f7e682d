"""Drives gomaxprocs.go, a Go program that says its GOMAXPROCS and changes it at a signal."""

import os
import shutil
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
        exec_at_end: whether it becomes a shell after the last step.
        delete: whether its executable is a copy that is deleted once it runs.
    """

    def __init__(
        self,
        steps: tuple[int, ...] = (),
        flags: tuple[str, ...] = (),
        gomaxprocs: int | None = 3,
        *,
        exec_at_end: bool = False,
        delete: bool = False,
    ) -> None:
        env = {key: value for key, value in os.environ.items() if key != "GOMAXPROCS"}
        if gomaxprocs is not None:
            env["GOMAXPROCS"] = str(gomaxprocs)
        if exec_at_end:
            env["EXEC"] = "/bin/sh"
        executable = build_go(SOURCE, *flags)
        if delete:
            executable = Path(shutil.copy(executable, f"{executable}-{os.getpid()}"))
        self._process = subprocess.Popen(
            [str(executable), *map(str, steps)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )
        self.pid = self._process.pid
        self.said = self._next()
        if delete:
            executable.unlink()

    def step(self) -> int:
        """Let it set the next value; what it says is in effect then."""
        os.kill(self.pid, signal.SIGUSR1)
        self.said = self._next()
        return self.said

    def replaced(self) -> int:
        """The process id that the shell says which it became."""
        return self._next()

    def _next(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """Kill it and wait for it."""
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
