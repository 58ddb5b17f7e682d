"""Child process held before its first instruction until it is released.

A small helper (spawn_held.c) forks the child, so that the child's peak memory excludes Python's.
The child requests tracing (PTRACE_TRACEME) and executes the program. The kernel stops the child
when the new program is in place and has not started (ptrace(2), "execve(2) under ptrace").
Detaching releases the child and leaves no trace. Tracing belongs to the thread that waited for the
child, so all calls must come from one thread.
"""

import ctypes
import errno
import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidscope_backend.cli.command import CommandError
from tidscope_backend.processes import exec_program

PTRACE_TRACEME = 0
PTRACE_DETACH = 17
PTRACE_SETOPTIONS = 0x4200
PTRACE_O_EXITKILL = 0x100000
"""Kills the child if this process exits while it is held; ends with the tracing."""

AGENT_VARIABLE = "TIDSCOPE_AGENT_DIR"
"""Environment variable for the command: folder of its agent's socket (docs/agents.md)."""

NOT_FOUND = 127
NOT_EXECUTABLE = 126
OWN_FAILURE = 125
"""Exit codes of a command that could not run, as used by shells and timeout(1)."""

Outputs = Sequence[tuple[int, ...]]
"""Descriptors 1 and 2 that are replaced by pipes: one pipe per tuple."""


def _helper() -> Path | None:
    """Return the compiled spawn_held.c, or None if this machine cannot run it."""
    path = Path(__file__).with_name("spawn_held")
    return path if platform.machine() == "x86_64" and os.access(path, os.X_OK) else None


HELPER = _helper()


@dataclass(frozen=True)
class Surroundings:
    """Environment, directory and session of a child, where they differ from those of this process.

    Attributes:
        environment: environment variables; None for ours without tidscope's.
        directory: working directory; None for ours.
        apart: whether the child has no input, and a session and process group without us. Ctrl-C
            in the terminal then does not reach the child.
    """

    environment: Mapping[str, str] | None = None
    directory: Path | None = None
    apart: bool = False


OURS = Surroundings()


@dataclass
class HeldChild:
    """A held or released child, and the read ends of its output pipes.

    Attributes:
        pid: process ID.
        pipes: read end of each pipe, to the descriptor that the pipe replaces.
    """

    pid: int
    pipes: dict[int, int]
    _libc: ctypes.CDLL
    _held: bool = True

    def release(self) -> None:
        """Release the child. Raises OSError."""
        self._held = False
        _ptrace(self._libc, PTRACE_DETACH, self.pid, 0)

    def kill_if_held(self) -> None:
        """Kill the child unless it was released."""
        if self._held:
            self._held = False
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def spawn_held(
    command: Sequence[str],
    outputs: Outputs = (),
    helper: Path | None = HELPER,
    surroundings: Surroundings = OURS,
) -> HeldChild:
    """Start a command and hold it at its first instruction.

    The child inherits descriptors, terminal and process group, except for outputs through pipes and
    for its surroundings. Our environment is passed on without tidscope's secrets and settings.

    Args:
        command: program and arguments.
        outputs: outputs that go through pipes.
        helper: program that forks the command, so that its peak memory excludes ours; None forks
            here.
        surroundings: environment, directory and session of the command.

    Raises:
        CommandError: the program does not exist or cannot be executed, or tracing is not allowed.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    environment = surroundings.environment
    environment = _environment() if environment is None else environment
    program = _find(command[0], environment)
    pipes = {descriptors: os.pipe() for descriptors in outputs}
    sinks = {descriptor: pipe[1] for group, pipe in pipes.items() for descriptor in group}
    report = os.pipe()
    try:
        if helper is None:
            _fork(libc, program, command, sinks, report[1], surroundings, environment)
        else:
            subprocess.run(
                [str(helper), str(report[1]), program, *command],
                stdin=subprocess.DEVNULL if surroundings.apart else None,
                stdout=sinks.get(1),
                stderr=sinks.get(2),
                env=environment,
                cwd=surroundings.directory,
                start_new_session=surroundings.apart,
                pass_fds=(report[1],),
                check=True,
            )
    finally:
        for _, writing in (*pipes.values(), report):
            os.close(writing)
    with os.fdopen(report[0]) as lines:
        reported = {what: int(number) for what, number in map(str.split, lines)}
    pid = reported.pop("pid", 0)
    if pid and not reported:
        # The child stops after execve(2); a damaged program may be killed there.
        _, status = os.waitpid(pid, 0)
        if os.WIFSTOPPED(status):
            _ptrace(libc, PTRACE_SETOPTIONS, pid, PTRACE_O_EXITKILL)
            return HeldChild(pid, {pipe[0]: group[0] for group, pipe in pipes.items()}, libc)
        reported["exec"] = errno.ENOEXEC
    elif pid:
        os.waitpid(pid, 0)
    for reading, _ in pipes.values():
        os.close(reading)
    ((failed, number),) = reported.items()
    if failed == "ptrace":
        raise CommandError(
            f"the kernel does not let {command[0]} be held before it runs "
            f"({os.strerror(number)}); start it yourself and record it with --pid",
            OWN_FAILURE,
        )
    raise CommandError(
        f"{command[0]} cannot be started: {os.strerror(number)}",
        NOT_FOUND if number == errno.ENOENT else NOT_EXECUTABLE,
    )


def _environment() -> dict[str, str]:
    """Return the environment without tidscope's variables, in particular tokens."""
    return {
        name: value
        for name, value in os.environ.items()
        if name == AGENT_VARIABLE or not name.startswith("TIDSCOPE_")
    }


def _find(name: str, environment: Mapping[str, str]) -> str:
    """Return the file that a shell would execute, or the name itself if there is none."""
    if "/" in name:
        return name
    path = environment.get("PATH")
    return shutil.which(name, path=path) or shutil.which(name, os.F_OK, path) or name


def _fork(
    libc: ctypes.CDLL,
    program: str,
    command: Sequence[str],
    sinks: Mapping[int, int],
    report: int,
    surroundings: Surroundings,
    environment: Mapping[str, str],
) -> None:
    """Do the work of the helper in a forked child."""
    pid = os.fork()
    if pid:
        os.write(report, f"pid {pid}\n".encode())
        return
    failed = "exec"
    try:
        # Python ignores these two signals; programs expect to be ended by them.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        for descriptor, pipe in sinks.items():
            os.dup2(pipe, descriptor)
        if surroundings.apart:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if surroundings.directory is not None:
            os.chdir(surroundings.directory)
        failed = "ptrace"
        _ptrace(libc, PTRACE_TRACEME, 0, 0)
        failed = "exec"
        exec_program(command, program, environment)
    except OSError as error:
        os.write(report, f"{failed} {error.errno}\n".encode())
    finally:
        os._exit(NOT_FOUND)


def _ptrace(libc: ctypes.CDLL, request: int, pid: int, data: int) -> None:
    if libc.ptrace(request, pid, None, data) == -1:
        raise OSError(ctypes.get_errno(), f"ptrace request {request} of process {pid}")
