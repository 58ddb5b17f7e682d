"""Supervised children of `tidscope up`: programs, and the launcher of the collector."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol, Self

from tidscope_backend.cli.command import CommandError, print_lines
from tidscope_backend.collector_launcher import KILL, START, TERMINATE
from tidscope_backend.processes import ISOLATED, SupervisorLog, bound_to_parent, run_module

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0
SHORT_RUN_SECONDS = 5.0
MAX_SHORT_RUNS = 6
END_SECONDS = 15.0
KILLED_SECONDS = 5.0
"""Time for a killed program to end, in seconds. On a disk that hangs it does not, and is left."""


class Process(Protocol):
    """Interface of a process, as in asyncio."""

    @property
    def pid(self) -> int:
        """Process id."""

    @property
    def returncode(self) -> int | None:
        """Exit code, negative for a signal; None while the process runs."""

    async def wait(self) -> int:
        """Wait for the exit and return the code."""

    def terminate(self) -> None:
        """Request termination."""

    def kill(self) -> None:
        """Kill the process."""


@dataclass(frozen=True)
class Program:
    """A program to run.

    Attributes:
        name: display name.
        command: program and arguments, without secrets.
        environ: complete environment.
        descriptors: descriptors that the child inherits.
    """

    name: str
    command: Sequence[str]
    environ: dict[str, str] = field(repr=False)
    descriptors: tuple[int, ...] = ()

    async def start(self) -> Process:
        """Start the program. Raises OSError."""
        return await asyncio.create_subprocess_exec(
            *bound_to_parent(self.command),
            env=self.environ,
            pass_fds=self.descriptors,
            stdin=asyncio.subprocess.DEVNULL,
            # Ctrl-C is handled here: children are ended in order, not by the terminal.
            start_new_session=True,
        )


class Supervisor:
    """Runs a program, and restarts it with growing pauses when it ends.

    Args:
        name: display name of the program.
        start: starts the program; raises OSError.
        say: prints one line for the user.
        log: log of ended programs, or None.
        first_pause_seconds: pause before the first restart; doubles with each short run.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], Awaitable[Process]],
        say: Callable[[str], None],
        log: SupervisorLog | None = None,
        first_pause_seconds: float = FIRST_PAUSE_SECONDS,
    ) -> None:
        self._name = name
        self._start = start
        self._say = say
        self._log = log
        self._first_pause_seconds = first_pause_seconds
        self._process: Process | None = None
        self._short_runs = 0

    @property
    def pid(self) -> int | None:
        """Current process ID, or None while stopped."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if running and self._process else None

    async def run(self) -> None:
        """Keep the program running until cancelled, then end it.

        Raises:
            CommandError: the program repeatedly ends immediately after its start.
        """
        try:
            while True:
                await self._run_once()
        finally:
            await self._end()

    async def _run_once(self) -> None:
        started = time.monotonic()
        try:
            self._process = await self._start()
        except PermissionError as error:
            raise CommandError(
                f"this user may not run {error.filename}, so the {self._name} cannot start; "
                "install tidscope where that user can read it, or choose another: --user NAME"
            ) from None
        code = await self._process.wait()
        short = time.monotonic() - started < SHORT_RUN_SECONDS
        self._short_runs = self._short_runs + 1 if short else 0
        how = f"with code {code}" if code >= 0 else f"by {signal.Signals(-code).name}"
        if self._log is not None:
            self._log.note(self._name, self._process.pid, how)
        if self._short_runs >= MAX_SHORT_RUNS:
            raise CommandError(
                f"the {self._name} ended {how}, {MAX_SHORT_RUNS} times in a row; "
                "see its output above"
            )
        pause = min(self._first_pause_seconds * 2**self._short_runs, LONGEST_PAUSE_SECONDS)
        self._say(f"the {self._name} ended {how}; it starts again in {pause:g} s")
        await asyncio.sleep(pause)

    async def _end(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(END_SECONDS):
                await process.wait()
        except TimeoutError:
            self._say(f"the {self._name} does not end by itself; it is killed")
            with suppress(ProcessLookupError):
                process.kill()
            try:
                async with asyncio.timeout(KILLED_SECONDS):
                    await process.wait()
            except TimeoutError:
                self._say(f"the {self._name} waits for a disk that hangs, and ends when it answers")


async def run_until_signal(
    stop: asyncio.Event,
    senders: Iterable[Coroutine[None, None, None]],
    receivers: Iterable[Coroutine[None, None, None]],
) -> None:
    """Run until SIGINT, SIGTERM or SIGHUP arrives, or one fails, whose error is raised.

    Args:
        stop: set by the signal.
        senders: what ends first; a collector then flushes its data.
        receivers: what ends after that.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    first = [asyncio.create_task(one) for one in (*senders, _wait(stop))]
    then = [asyncio.create_task(one) for one in receivers]
    pending = {*first, *then}
    try:
        while not stop.is_set():
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    finally:
        for ending in (first, then):
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()


def say(text: str) -> None:
    """Print a line to standard error, ignoring failures.

    A full disk or a closed pipe must not end supervised programs.
    """
    with suppress(OSError):
        print_lines(f"tidscope: {text}", file=sys.stderr, flush=True)


PROGRAM = "tidscope_backend.collector_launcher"


class Launcher:
    """Process that starts the collector. Root must create it before dropping privileges.

    Args:
        command: command that starts the collector.
        environ: complete environment.

    Raises:
        CommandError: the launcher does not start.
    """

    def __init__(self, command: Sequence[str], environ: dict[str, str]) -> None:
        self._control, other = socket.socketpair()
        with other:
            self.process = subprocess.Popen(
                run_module(PROGRAM, str(other.fileno()), option=ISOLATED),
                # Contains no secret.
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
        """Start the collector. Raises CommandError if the launcher has ended."""
        self.order(START)
        return LaunchedCollector(self, int(await self.line()))

    def order(self, what: bytes) -> None:
        """Send an order to the launcher."""
        # The launcher has ended or does not read; its next line, if any, reports the reason.
        with suppress(OSError):
            self._control.send(what)

    async def line(self) -> str:
        """Read the launcher's next line. Raises CommandError if the launcher has ended."""
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
        """End the launcher, and the collector if it is running."""
        self._control.close()
        self.process.wait()


class LaunchedCollector:
    """A running collector, with a Supervisor's process interface.

    Attributes:
        pid: process id.
        returncode: exit code, negative for a signal; None while the process runs.
    """

    def __init__(self, launcher: Launcher, pid: int) -> None:
        self._launcher = launcher
        self.pid = pid
        self.returncode: int | None = None

    async def wait(self) -> int:
        """Wait for the exit and return the code."""
        if self.returncode is None:
            line = await self._launcher.line()
            self.returncode = int(line.removeprefix("ended "))
        return self.returncode

    def terminate(self) -> None:
        """Request termination."""
        self._launcher.order(TERMINATE)

    def kill(self) -> None:
        """Kill the process."""
        self._launcher.order(KILL)
