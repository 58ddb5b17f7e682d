"""Drives a program with an agent: the same one in each language, reported what to do by lines.

Its pool has 3 workers (or GOMAXPROCS) at the start, and bounds of 1 and 8.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from programs.build import build_c, build_go_module, build_java, build_rust

HERE = Path(__file__).parent
AGENTS = HERE.parents[1] / "agents"
ORIGINAL, LOWER, UPPER = 3, 1, 8
JAVA_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
LANGUAGES = ("go", "python", "java", "rust", "c")
C_FLAGS = ("-std=c11", "-pedantic", f"-I{AGENTS / 'c'}")
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""Every broken input that tests send to the C agent is checked for errors of memory as well."""


def command(language: str, reachable: Path | None = None) -> list[str]:
    """Return the command of the program, built if needed.

    Args:
        language: one of LANGUAGES.
        reachable: a folder to copy it to, for a user who cannot look into this repository.
    """
    if language == "python":
        return [sys.executable, str(HERE / "agent_python" / "main.py")]
    if language == "java":
        sources = [*(AGENTS / "java" / "src").rglob("*.java"), HERE / "agent_java" / "Main.java"]
        classes = build_java("agent_java", sources)
        if reachable is not None:
            classes = Path(shutil.copytree(classes, reachable / classes.name))
        return ["java", *JAVA_OPTIONS, "-cp", str(classes), "Main"]
    if language == "rust":
        built = build_rust(HERE / "agent_rust" / "main.rs", AGENTS / "rust" / "tidscope_agent")
    elif language == "c":
        built = build_c(HERE / "agent_c" / "main.c", *C_FLAGS, *SANITIZED)
    else:
        built = build_go_module(HERE / "agent_go", AGENTS / "go")
    return [str(built if reachable is None else shutil.copy(built, reachable))]


def service(language: str) -> list[str]:
    """Return the command of an agent's example service, built if needed."""
    example = AGENTS / language / "example"
    if language == "python":
        return [sys.executable, str(example / "service.py")]
    if language == "java":
        sources = [*(AGENTS / "java" / "src").rglob("*.java"), example / "Service.java"]
        return ["java", *JAVA_OPTIONS, "-cp", str(build_java("service_java", sources)), "Service"]
    if language == "rust":
        crate = AGENTS / "rust" / "tidscope_agent"
        return [str(build_rust(example / "src" / "main.rs", crate))]
    if language == "c":
        return [str(build_c(example / "service.c", *C_FLAGS))]
    return [str(build_go_module(example, AGENTS / "go"))]


class AgentFolder:
    """A folder for sockets with a short path, since the path of a socket has 107 bytes at most."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="tidscope-", dir="/tmp"))

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, onerror=_unless_gone)


def _unless_gone(_function: object, _path: str, error: tuple[Any, BaseException, Any]) -> None:
    """Programs that are ending remove their sockets meanwhile."""
    if not isinstance(error[1], FileNotFoundError):
        raise error[1]


class AgentProgram:
    """A running program; use it in a ``with`` statement.

    Args:
        language: one of LANGUAGES.
        folder: for its socket.
        user: user that it runs as, from a folder above its socket's; None for the tests' user.
        before: a command that becomes the program at last, itself with the same process id.
        instead: command of another program with an agent that reads lines.
    """

    def __init__(
        self,
        language: str,
        folder: Path,
        user: int | None = None,
        before: tuple[str, ...] = (),
        instead: list[str] | None = None,
    ) -> None:
        self.language = language
        # The interpreter may be where that user cannot go: then the program changes users itself.
        start_as = None if language == "python" else user
        self._process = subprocess.Popen(
            [*before, *(instead or command(language, None if user is None else folder.parent))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "TIDSCOPE_AGENT_DIR": str(folder),
                "PYTHONPATH": str(AGENTS / "python"),
                "AGENT_USER": "" if user is None else str(user),
            },
            user=start_as,
            group=start_as,
            extra_groups=None if start_as is None else [],
        )
        self.pid = self._process.pid
        self.said = self._next()

    @property
    def socket(self) -> Path:
        """Path of the socket, as printed by the program."""
        word, _, path = self.said.partition(" ")
        assert word == "ready", self.said
        return Path(path)

    def ask(self, line: str) -> str:
        """Send a line and return the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._next()

    def _next(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")

    def end(self) -> int:
        """Close its input, wait for its end, and return its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(120)

    def wait(self) -> None:
        """Until it has ended."""
        self._process.wait(120)

    def kill(self) -> None:
        """Kill it and wait for it."""
        if self._process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
