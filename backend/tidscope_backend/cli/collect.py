"""`tidscope collect`: the collector alone, for a backend on this or another machine."""

import argparse
import asyncio
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NoReturn, Self
from urllib.parse import urlsplit, urlunsplit

from tidscope_wire.generated.limits import MIN_SECRET

from tidscope_backend.cli.collector_command import PACKAGE, PATH, collector_command
from tidscope_backend.cli.command import Command, CommandError
from tidscope_backend.cli.doctor import warn_if_others_may_change_it
from tidscope_backend.cli.server_options import (
    add_ledger_options,
    add_network_option,
    add_source_option,
    source_arguments,
)
from tidscope_backend.collector_launcher import KILL, START, TERMINATE
from tidscope_backend.processes import ISOLATED, exec_program, run_module, terminate_with_parent
from tidscope_backend.settings import COLLECTOR_VARIABLE, DEFAULT_HOST, DEFAULT_PORT

SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backend",
        default=f"ws://{DEFAULT_HOST}:{DEFAULT_PORT}",
        metavar="URL",
        help="address of the backend (%(default)s)",
    )
    add_network_option(parser)
    add_source_option(parser)
    add_ledger_options(parser)


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    options, further = parser.parse_known_args(arguments)
    options.further = further
    return options


def _run(options: argparse.Namespace) -> int:
    """Become the collector."""
    secret = os.environ.get(COLLECTOR_VARIABLE, "")
    if len(secret) < MIN_SECRET:
        what = f"has {len(secret)} characters" if secret else "is not set"
        raise CommandError(
            f"{COLLECTOR_VARIABLE} {what}; set it to the backend's collector secret, of at least "
            f"{MIN_SECRET} characters"
        )
    warn_if_others_may_change_it()
    url = socket_url(options.backend)
    further = (*source_arguments(options), *options.further)
    exec_program(collector_command("run", "--backend", url, *further))


def socket_url(url: str) -> str:
    """Complete the address of a backend to that of its collectors' WebSocket.

    Raises:
        CommandError: it is not an address.
    """
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise CommandError(f"--backend {url}: not an address such as ws://127.0.0.1:8787")
    path = PATH if parts.path in ("", "/") else parts.path
    return urlunsplit((SCHEMES[parts.scheme], parts.netloc, path, "", ""))


COMMAND = Command(
    name="collect",
    help="run the collector alone",
    description="Run the collector alone. It needs CAP_NET_ADMIN for complete data, and the "
    f"backend's collector secret in {COLLECTOR_VARIABLE}. Further arguments go to the "
    "collector.",
    add_arguments=_add_arguments,
    run=_run,
    parse=_parse,
)


END_SECONDS = 15.0


class ForkedCollector:
    """The process.

    Args:
        arguments: of the collector.

    Attributes:
        pid: process id.
        pidfd: readable once it has exited.
    """

    def __init__(self, arguments: list[str]) -> None:
        descriptor, name = tempfile.mkstemp(prefix="tidscope-")
        Path(name).unlink()
        self._output: IO[bytes] = os.fdopen(descriptor, "r+b")
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _run_collector(parent, arguments, self._output.fileno())
        self.pidfd = os.pidfd_open(self.pid)

    def output(self) -> str:
        """What it has written."""
        self._output.seek(0)
        return self._output.read().decode(errors="replace").strip()

    def exited(self) -> bool:
        """Whether it has exited by itself."""
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def stop(self) -> None:
        """End it and wait for that."""
        os.kill(self.pid, signal.SIGTERM)
        if not select.select([self.pidfd], [], [], END_SECONDS)[0]:
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pidfd)
        self._output.close()


def _run_collector(parent: int, arguments: list[str], output: int) -> NoReturn:
    """In the child: become the collector."""
    code = 1
    try:
        terminate_with_parent(parent)
        # Ctrl-C is for the command; we end this ourselves.
        os.setsid()
        with Path(os.devnull).open("rb") as empty:
            os.dup2(empty.fileno(), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        # Not the pipes of a command that is held meanwhile: it has to see when they are closed.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        # Not what is buffered in ours: that is the parent's to write.
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        sys.argv = [PACKAGE, *arguments]
        runpy.run_module(PACKAGE, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as exited:
        code = exited.code if isinstance(exited.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


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
