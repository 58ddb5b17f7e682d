"""Program of a target: after execve(2) process ID and start stay the same, all else is new."""

import os
from collections.abc import Callable
from dataclasses import dataclass

from tidscope_collector.inspection.conversation import ProgramReader
from tidscope_collector.procfs.process import parse_stat, stack_start

_STAT_BYTES = 4096
_DELETED = " (deleted)"
_ATTEMPTS = 4
"""One that executes a program while it is looked at is looked at again, so often."""


@dataclass(frozen=True, slots=True)
class Program:
    """Program that a process runs.

    Attributes:
        executable: path; None if it may not be seen.
        name: of the main thread.
        stack: address at which its stack begins, another one in each execution; 0 if it may not be
            seen.
    """

    executable: str | None
    name: str
    stack: int


@dataclass(frozen=True, slots=True)
class ProgramChange:
    """Differences between two programs of a process.

    Attributes:
        program: what the process runs now.
        previous: executable before.
        executed: whether it executed a program; else it only has another name.
    """

    program: Program
    previous: str | None
    executed: bool


class ProgramWatch:
    """Notices that a process executes another program.

    Args:
        tasks: descriptor of /proc/PID/task, owned by the caller.
        pid: of the process.
        executable: that the process is known to have.
        name: the same of its main thread.
        open_reader: makes what sees the program where this process, being confined, may not; None
            if nothing does.

    Attributes:
        executing: True if the newest look found an execution in progress, which needs another look.

    Raises:
        OSError: the process has ended.
    """

    def __init__(
        self,
        tasks: int,
        pid: int,
        executable: str | None,
        name: str,
        open_reader: Callable[[], ProgramReader | None] = lambda: None,
    ) -> None:
        self._tasks = tasks
        self._pid = pid
        self._reader: ProgramReader | None = None
        self.executing = False
        stack = self._observe().stack
        if not stack:
            self._reader = open_reader()
            # Another answer may be late, and an execution until then would not be noticed.
            first = None if self._reader is None else self._reader.first
            stack = 0 if first is None else first.stack
        self._program = Program(_without_mark(executable), name, stack)

    def close(self) -> None:
        """Look no more."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    @property
    def program(self) -> Program:
        """The program as seen last."""
        return self._program

    def link(self) -> str | None:
        """Return the destination of /proc/PID/exe, or None if it may not be read."""
        try:
            return os.readlink(f"{self._pid}/exe", dir_fd=self._tasks)
        except OSError:
            return None

    def change(self) -> ProgramChange | None:
        """Look whether it runs another program than before, or has another name."""
        before = self._program
        try:
            found = self._observe()
        except (OSError, ValueError):
            return None
        # An execution sets the start of the stack last: until then name and path may belong to
        # either program. The stack of an ended main thread is absent together with the path.
        self.executing = bool(before.stack and found.executable and not found.stack)
        if self.executing:
            return None
        # If the main thread has ended before the others, only its name remains readable.
        after = Program(
            found.executable or before.executable, found.name, found.stack or before.stack
        )
        if after == before:
            return None
        self._program = after
        if before.stack:
            executed = after.stack != before.stack
        else:
            executed = before.executable is not None and after.executable != before.executable
        return ProgramChange(after, before.executable, executed)

    def _observe(self) -> Program:
        if self._reader is None:
            line = self._stat()
            for _ in range(_ATTEMPTS):
                executable = self._executable()
                before, line = line, self._stat()
                if stack_start(before) == stack_start(line):
                    break
            return Program(executable, _name_in(line), stack_start(line))
        seen = self._reader.observe()
        # Behind that: it may execute a program in between, and would have the name of the last one.
        name = _name_in(self._stat())
        if seen is None:
            return Program(None, name, 0)
        return Program(_without_mark(seen.executable), name, seen.stack)

    def _stat(self) -> bytes:
        file = os.open(f"{self._pid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._tasks)
        try:
            return os.read(file, _STAT_BYTES)
        finally:
            os.close(file)

    def _executable(self) -> str | None:
        return _without_mark(self.link())


def _name_in(line: bytes) -> str:
    return parse_stat(line).name.decode("utf-8", "replace")


def _without_mark(executable: str | None) -> str | None:
    """A path without the mark that the kernel adds once the file is deleted."""
    return executable and executable.removesuffix(_DELETED)
