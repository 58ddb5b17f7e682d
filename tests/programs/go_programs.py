"""Drivers of the Go programs gomaxprocs.go and threads.go."""

import os
import shutil
import signal
import tempfile
from contextlib import suppress
from pathlib import Path

from programs.build import build_go, build_go_module
from programs.running import RunningProgram

SOURCE = Path(__file__).with_name("gomaxprocs.go")
THREADS_SOURCE = Path(__file__).with_name("threads.go")


class GoProgramRun(RunningProgram):
    """gomaxprocs.go, which prints its GOMAXPROCS and changes it at a signal.

    Args:
        steps: value of GOMAXPROCS after each signal.
        flags: for `go build`.
        gomaxprocs: in the environment; as the runtime chooses if None.
        exec_at_end: become a shell after the last step.
        delete: run a copy of the executable that is deleted after the start.
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
        super().__init__([executable, *map(str, steps)], env)
        self.said = int(self.line())
        if delete:
            executable.unlink()

    def step(self) -> int:
        """Make the program set the next value; return the value that it prints."""
        os.kill(self.pid, signal.SIGUSR1)
        self.said = int(self.line())
        return self.said

    def replaced(self) -> int:
        """Process ID that the shell prints which the program became."""
        return int(self.line())


class ThreadsRun(RunningProgram):
    """threads.go, which makes threads.

    Args:
        flags: for `go build`.
        variables: added to its environment.
        go_line: Go version in a go.mod to build with; None to build without a go.mod.
    """

    def __init__(
        self,
        flags: tuple[str, ...] = (),
        variables: dict[str, str] | None = None,
        go_line: str | None = None,
    ) -> None:
        env = {k: v for k, v in os.environ.items() if k not in ("GOMAXPROCS", "GODEBUG")}
        super().__init__([_build(flags, go_line)], env | (variables or {}))
        self.size = self._answer("ready")

    def order(self, word: str, number: int = 0) -> int:
        """Give a command; return the number in the answer."""
        self.tell(f"{word} {number}\n")
        return self._answer(word)

    def _answer(self, word: str) -> int:
        said, number = self.line().split()
        assert said == word
        return int(number)

    def masks(self) -> dict[int, set[int]]:
        """CPUs that each of the program's threads may use, by thread ID."""
        return masks_of(self.pid)


def masks_of(pid: int) -> dict[int, set[int]]:
    """CPUs that each thread of a process may use, by thread ID."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(ProcessLookupError):
            found[int(task.name)] = os.sched_getaffinity(int(task.name))
    return found


def confine(pid: int, cpus: set[int]) -> None:
    """Set the CPUs of all threads of a process, those that begin meanwhile included."""
    while others := [tid for tid, mask in masks_of(pid).items() if mask != cpus]:
        for tid in others:
            with suppress(ProcessLookupError):
                os.sched_setaffinity(tid, cpus)


def _build(flags: tuple[str, ...], go_line: str | None) -> Path:
    if go_line is None:
        return build_go(THREADS_SOURCE, *flags)
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder, "threads")
        module.mkdir()
        (module / "go.mod").write_text(f"module threads\n\ngo {go_line}\n")
        (module / "main.go").write_text(THREADS_SOURCE.read_text())
        return build_go_module(module, flags=flags)
