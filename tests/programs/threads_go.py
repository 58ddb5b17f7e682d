"""Drives threads.go, a Go program that makes threads."""

import os
import signal
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from programs.build import build_go, build_go_module

SOURCE = Path(__file__).with_name("threads.go")


class ThreadsRun:
    """A running program; use it in a ``with`` statement.

    Args:
        flags: for `go build`.
        variables: added to its environment.
        go_line: of a go.mod to build it with; None: without a go.mod.
    """

    def __init__(
        self,
        flags: tuple[str, ...] = (),
        variables: dict[str, str] | None = None,
        go_line: str | None = None,
    ) -> None:
        env = {k: v for k, v in os.environ.items() if k not in ("GOMAXPROCS", "GODEBUG")}
        self._process = subprocess.Popen(
            [str(_build(flags, go_line))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env | (variables or {}),
        )
        self.pid = self._process.pid
        self.size = self._answer("ready")

    def ask(self, word: str, number: int = 0) -> int:
        """Let it do something; the number that it answers."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word} {number}\n")
        self._process.stdin.flush()
        return self._answer(word)

    def _answer(self, word: str) -> int:
        assert self._process.stdout is not None
        said, number = self._process.stdout.readline().split()
        assert said == word
        return int(number)

    def masks(self) -> dict[int, set[int]]:
        """The CPUs that each of its threads may use, by its id."""
        found = {}
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                found[int(task.name)] = os.sched_getaffinity(int(task.name))
            except ProcessLookupError:
                continue
        return found

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


def _build(flags: tuple[str, ...], go_line: str | None) -> Path:
    if go_line is None:
        return build_go(SOURCE, *flags)
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder, "threads")
        module.mkdir()
        (module / "go.mod").write_text(f"module threads\n\ngo {go_line}\n")
        (module / "main.go").write_text(SOURCE.read_text())
        return build_go_module(module, flags=flags)
