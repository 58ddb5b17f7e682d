"""Drives blocking.c and fuse_server.py: programs whose files and memory do not answer."""

import subprocess
import sys
from pathlib import Path
from typing import Self

from capabilities import missing
from programs.build import build_c

BLOCKING = Path(__file__).with_name("blocking.c")
SERVER = Path(__file__).with_name("fuse_server.py")


class Spoken:
    """A program that answers a line to each line; use it in a ``with`` statement."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self._process.pid

    def hear(self) -> str:
        """Return the next output line."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def say(self, line: str) -> str:
        """Send it a line; its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self.hear()

    def end(self) -> None:
        """Wait for the end of the program."""
        self._process.communicate(timeout=120)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self.end()


class HangingDisk(Spoken):
    """A file system at ``folder``, real, by /dev/fuse; see fuse_server.py."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        super().__init__(sys.executable, str(SERVER), str(folder), str(build_c(BLOCKING)))
        self.folder = str(folder)
        self.program, self.page = str(folder / "program"), str(folder / "page")
        if self.hear() != "mounted":
            raise missing("mount", "fuse")

    def hang(self) -> None:
        """Answer nobody from now on."""
        assert self.say("") == "hangs"

    def answer(self) -> None:
        """Answer again, what was asked meanwhile first."""
        assert self.say("") == "answers"

    def __exit__(self, *_: object) -> None:
        self.end()


class BlockingRun(Spoken):
    """The program; it reports to be a Go program with a GOMAXPROCS of 7."""

    def __init__(self, program: str | None = None) -> None:
        super().__init__(program or str(build_c(BLOCKING)))
        assert self.hear() == "ready 7"
