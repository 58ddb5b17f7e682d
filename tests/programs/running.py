"""A program that runs beside a test, and answers it line by line."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from tidscope_wire.readiness import is_readable

PATIENCE_S = 120.0
"""Maximum silence of a program, in seconds, on a busy machine."""
GRACE_S = 60.0


def with_our_path() -> dict[str, str]:
    """The environment for a program in Python that imports what the test can."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


class RunningProgram:
    """Use it in a ``with`` statement, or close it.

    Args:
        command: command to execute.
        env: environment; None: that of the test.

    Attributes:
        pid: ID.
    """

    def __init__(self, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env
        )
        self._unread = b""
        self.pid = self._process.pid

    def ask(self, words: str) -> str:
        """Write to it, and wait for a line."""
        self.tell(words)
        return self.line()

    def tell(self, words: str) -> None:
        """Write to it."""
        assert self._process.stdin is not None
        self._process.stdin.write(words.encode())
        self._process.stdin.flush()

    def line(self) -> str:
        """Wait for its next line.

        Returns:
            The line without its end.

        Raises:
            TimeoutError: it says nothing for PATIENCE_S.
            EOFError: it has ended, or says no more.
        """
        deadline = time.monotonic() + PATIENCE_S
        while b"\n" not in self._unread:
            if not self.says(max(0.0, deadline - time.monotonic())):
                raise TimeoutError(f"{self._process.args!r} said nothing for {PATIENCE_S} s")
            piece = os.read(self._output, 1 << 16)
            if not piece:
                raise EOFError(f"{self._process.args!r} ended, code {self._process.poll()}")
            self._unread += piece
        line, self._unread = self._unread.split(b"\n", 1)
        return line.decode()

    def says(self, timeout_s: float) -> bool:
        """Wait until it says something, or has ended; whether that is so in time."""
        return bool(self._unread or is_readable(self._output, timeout_s))

    @property
    def _output(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def end_input(self) -> int:
        """Close its input and wait for its end.

        Returns:
            Its exit status.
        """
        self._process.communicate(timeout=PATIENCE_S)
        return self._process.returncode

    def terminate(self) -> None:
        """Ask it to end, and kill it if it does not."""
        self._process.terminate()
        try:
            self._process.communicate(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def close(self) -> None:
        """Kill it, and close its pipes; twice does no harm."""
        self._process.kill()
        with self._process:
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
