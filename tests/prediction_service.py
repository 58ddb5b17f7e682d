"""A prediction service for tests: the daemon as a process, and clients in C and Go."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tidscope_predictd.daemon import listen
from tidscope_predictd.models import Storage
from tidscope_predictd.server import Server

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "tests" / "programs"
VECTORS: dict[str, Any] = json.loads(
    (ROOT / "tests" / "contract" / "predictions.json").read_text(encoding="utf-8")
)


class Daemon:
    """`tidscope predictd` in a folder; models survive a restart in it.

    Args:
        folder: folder of socket and models.
        options: further ones.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        self.socket = folder / "socket"
        self._models = folder / "models"
        command = [sys.executable, "-m", "tidscope_backend", "predictd"]
        places = ["--socket", str(self.socket), "--folder", str(self._models)]
        self.process = subprocess.Popen(
            [*command, *places, *options], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        self.said: list[str] = []
        for line in self.process.stderr:
            self.said.append(line)
            if "serving" in line:
                break
        else:
            raise AssertionError("".join(self.said))

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it by a signal; the exit code."""
        self.process.send_signal(number)
        self.said += self.process.communicate()[1].splitlines()
        return self.process.returncode


@contextmanager
def prediction_service(folder: Path, *options: str) -> Iterator[Daemon]:
    """A daemon that runs until the end of the block."""
    daemon = Daemon(folder, *options)
    try:
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.end()


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    """A server in a thread of this process, its socket in a folder."""
    server = Server(listen(folder / "socket"), Storage(folder))
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield
    finally:
        server.stop_end.send(b"x")
        thread.join()


class LineClient:
    """A client in another language: commands are asked by line.

    Args:
        command: program.
        daemon: daemon that it connects to.
        name, sharing, owner: identity of the model; owner "own" creates it.
        user: whom the client runs as; None: us.
    """

    def __init__(
        self,
        command: Sequence[str],
        daemon: Daemon,
        name: str,
        sharing: int = 0,
        owner: str = "own",
        user: int | None = None,
    ) -> None:
        arguments = [str(daemon.socket), name, str(sharing), owner]
        self._process = subprocess.Popen(
            [*command, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            user=user,
            cwd="/",
        )
        self.opened = self._line()

    def ask(self, *words: object) -> str:
        """The answer to a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        return self._line()

    def close(self) -> int:
        """End the client; return its exit code."""
        self._process.communicate()
        return self._process.returncode

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def c_client(folder: Path) -> list[str]:
    """Build the client in C."""
    program = folder / "predict_c"
    compiler = shutil.which("cc") or "cc"
    options = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
    include = f"-I{ROOT / 'predictd' / 'include'}"
    subprocess.run(
        [compiler, *options, include, "-o", str(program), str(PROGRAMS / "predict.c")], check=True
    )
    return [str(program)]


def go_client(folder: Path, go: str) -> list[str]:
    """Build the client in Go."""
    program = folder / "predict_go"
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0"}
    command = [go, "build", "-o", str(program), "."]
    subprocess.run(command, cwd=PROGRAMS / "predict_go", env=environment, check=True)
    return [str(program)]
