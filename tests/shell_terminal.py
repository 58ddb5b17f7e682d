"""A shell in a terminal of its own, as a person has it: what is typed, and what the screen gets."""

import fcntl
import os
import pty
import re
import signal
import struct
import termios
import time
from collections.abc import Mapping
from typing import Self

from tidscope_wire.readiness import is_readable

SECONDS = 120.0
"""Timeout for expected output; only failing tests wait that long."""
SHELL = ("bash", "--norc", "--noprofile", "-i")


class ShellTerminal:
    """The leader of a session with a terminal; a context that ends as a closed window does.

    Args:
        environ: environment of the shell.
        program: instead of a shell.
    """

    def __init__(self, environ: Mapping[str, str], program: tuple[str, ...] = SHELL) -> None:
        self.pid, self._screen = pty.fork()
        if self.pid == 0:
            try:
                # A test runner in the background ignores them, and so would all that it starts.
                for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                    signal.signal(number, signal.SIG_DFL)
                os.execvpe(program[0], program, {**environ, "PS1": "$ ", "TERM": "xterm"})
            finally:
                os._exit(127)
        self.text = ""
        self._seen = 0
        self._status: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> int:
        """Close the window; the status of the program as wait(2) gives it."""
        if self._status is None:
            os.close(self._screen)
            _, self._status = os.waitpid(self.pid, 0)
        return self._status

    def type(self, text: str) -> None:
        """Press keys; "\\x03" is Ctrl-C."""
        os.write(self._screen, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Give the window another size, in characters."""
        fcntl.ioctl(self._screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def foreground(self) -> int:
        """The process group in the foreground."""
        return os.tcgetpgrp(self._screen)

    def modes(self) -> list[object]:
        """The modes of the terminal, as tcgetattr(3) gives them."""
        return list(termios.tcgetattr(self._screen))

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait until a pattern appears behind the place where the last one did.

        Raises:
            AssertionError: it does not appear; the text is what did.
        """
        end = time.monotonic() + SECONDS
        while not (found := re.compile(pattern).search(self.text, self._seen)):
            ready = is_readable(self._screen, max(0.0, end - time.monotonic()))
            assert ready, f"{pattern!r} did not appear in {self.text[self._seen :]!r}"
            self.text += self._read()
        self._seen = found.end()
        return found

    def _read(self) -> str:
        try:
            data = os.read(self._screen, 65536)
        except OSError:
            data = b""  # Nobody has the terminal open any more.
        assert data, f"the terminal has ended: {self.text!r}"
        return data.decode(errors="replace")
