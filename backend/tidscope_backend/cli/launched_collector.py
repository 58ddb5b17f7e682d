"""The collector of a `tidscope up` that has given up root's rights: a launcher starts it."""

import asyncio
import json
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from tidscope_backend.cli.command import CommandError
from tidscope_backend.collector_launcher import KILL, START, TERMINATE
from tidscope_backend.parent_death import ISOLATED, run_module

PROGRAM = "tidscope_backend.collector_launcher"


class Launcher:
    """The process that starts the collector. To be made by root, before it gives up its rights.

    Args:
        command: what starts the collector.
        environ: its whole environment.

    Raises:
        CommandError: the launcher does not start.
    """

    def __init__(self, command: Sequence[str], environ: dict[str, str]) -> None:
        self._control, other = socket.socketpair()
        with other:
            self.process = subprocess.Popen(
                run_module(PROGRAM, str(other.fileno()), option=ISOLATED),
                # No secret is in it.
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                pass_fds=(other.fileno(),),
                stdin=subprocess.DEVNULL,
            )
        orders = json.dumps({"command": list(command), "environ": environ})
        self._control.sendall(f"{orders}\n".encode())
        if self._control.recv(64) != b"ready\n":
            raise CommandError("the launcher of the collector did not start; see its output above")
        self._control.setblocking(False)
        self._received = b""

    async def start(self) -> "LaunchedCollector":
        """Start the collector. Raises CommandError: the launcher has ended."""
        self.order(START)
        return LaunchedCollector(self, int(await self.line()))

    def order(self, what: bytes) -> None:
        """Have the launcher do something."""
        # It has ended, or it does not read: its next line says so, or nothing does.
        with suppress(OSError):
            self._control.send(what)

    async def line(self) -> str:
        """The launcher's next line. Raises CommandError: it has ended."""
        loop = asyncio.get_running_loop()
        while b"\n" not in self._received:
            received = await loop.sock_recv(self._control, 4096)
            if not received:
                raise CommandError("the launcher of the collector has ended; start tidscope again")
            self._received += received
        line, _, self._received = self._received.partition(b"\n")
        return line.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End it, and the collector if that still runs."""
        self._control.close()
        self.process.wait()


class LaunchedCollector:
    """A collector that runs; has what a Supervisor uses of a process.

    Attributes:
        pid: process id.
        returncode: how it ended, negative for a signal; None while it runs.
    """

    def __init__(self, launcher: Launcher, pid: int) -> None:
        self._launcher = launcher
        self.pid = pid
        self.returncode: int | None = None

    async def wait(self) -> int:
        """Wait for its end; the code."""
        if self.returncode is None:
            line = await self._launcher.line()
            self.returncode = int(line.removeprefix("ended "))
        return self.returncode

    def terminate(self) -> None:
        """Ask it to end."""
        self._launcher.order(TERMINATE)

    def kill(self) -> None:
        """End it at once."""
        self._launcher.order(KILL)
