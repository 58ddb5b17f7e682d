"""A Java program whose threads have long names, change them, begin and end as a test says."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from programs.build import build_java

_SOURCE = Path(__file__).parent / "NamedThreads.java"


class NamedJava:
    """The running program; use it in a ``with`` statement.

    Args:
        names: names of threads that it begins with.
        options: options of the virtual machine.
        within: command that executes it.

    Attributes:
        pid: process ID of the process that was started.
        output: output other than its answers.
    """

    def __init__(
        self, names: Sequence[str], options: Sequence[str] = (), within: Sequence[str] = ()
    ) -> None:
        java = shutil.which("java")
        if java is None:
            raise RuntimeError("no Java virtual machine: java is not in PATH")
        classes = build_java("named-threads", [_SOURCE])
        self._process = subprocess.Popen(
            [*within, java, *options, "-cp", classes, "NamedThreads", *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid
        self.output: list[str] = []
        self._until("ready")

    def start(self, name: str) -> None:
        """Begin a thread; it runs when this returns."""
        self._order(f"start {name}")

    def rename(self, name: str, to: str) -> None:
        """Make a thread rename itself."""
        self._order(f"rename {name} {to}")

    def end(self, name: str) -> None:
        """Make a thread end, which may take a moment."""
        self._order(f"end {name}")

    def _order(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()
        self._until("done")

    def _until(self, word: str) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() == word:
                return
            self.output.append(line)
        raise RuntimeError("the Java program has ended")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A Java virtual machine removes its socket.
        self._process.terminate()
        try:
            self._process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
