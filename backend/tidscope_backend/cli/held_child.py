"""A command that stands still before its first instruction, until it is let go.

The child asks to be traced (PTRACE_TRACEME) and executes the program; the kernel stops it when the
new program is in place and nothing of it has run (ptrace(2), "execve(2) under ptrace"). Detaching
lets it run as if nothing had been. Tracing belongs to the thread that started it, so all of this is
to be called from one thread.
"""

import ctypes
import errno
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from tidscope_backend.cli.command import CommandError
from tidscope_backend.parent_death import exec_program

PTRACE_TRACEME = 0
PTRACE_DETACH = 17
PTRACE_SETOPTIONS = 0x4200
PTRACE_O_EXITKILL = 0x100000
"""The child dies with us: it never runs unseen. Ends with the tracing."""

NOT_FOUND = 127
NOT_EXECUTABLE = 126
OWN_FAILURE = 125
"""Exit codes where the command did not run, as of a shell and of timeout(1)."""


@dataclass
class HeldChild:
    """The child, and the reading ends of its output.

    Attributes:
        pid: its process id.
        output: descriptor of its standard output.
        errors: of its standard error.
    """

    pid: int
    output: int
    errors: int
    _libc: ctypes.CDLL
    _held: bool = True

    def release(self) -> None:
        """Let it run. Raises OSError."""
        self._held = False
        _ptrace(self._libc, PTRACE_DETACH, self.pid, 0)

    def kill_if_held(self) -> None:
        """End it if it has not run."""
        if self._held:
            self._held = False
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def spawn_held(command: Sequence[str]) -> HeldChild:
    """Start a command up to its first instruction.

    Its standard input is ours; what it writes is ours to read.

    Raises:
        CommandError: there is no such program, it cannot be executed, or tracing is not allowed.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    output, errors, failure = os.pipe(), os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(libc, command, output[1], errors[1], failure[1])
    for _, writing in (output, errors, failure):
        os.close(writing)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(failure[0], "rb") as told:
        reason = told.read().decode()
    if os.WIFSTOPPED(status):
        _ptrace(libc, PTRACE_SETOPTIONS, pid, PTRACE_O_EXITKILL)
        return HeldChild(pid, output[0], errors[0], libc)
    os.close(output[0])
    os.close(errors[0])
    what, _, number = reason.partition(" ")
    if what == "ptrace":
        raise CommandError(
            f"the kernel does not let {command[0]} be held before it runs "
            f"({os.strerror(int(number))}); start it yourself and record it with --pid",
            OWN_FAILURE,
        )
    code = int(number or errno.ENOEXEC)
    raise CommandError(
        f"{command[0]} cannot be started: {os.strerror(code)}",
        NOT_FOUND if code == errno.ENOENT else NOT_EXECUTABLE,
    )


def _become(
    libc: ctypes.CDLL, command: Sequence[str], output: int, errors: int, failure: int
) -> None:
    """In the child: turn into the command, or say why not, and end."""
    try:
        # Python ignores these two; programs expect to die of them.
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(output, 1)
        os.dup2(errors, 2)
        try:
            _ptrace(libc, PTRACE_TRACEME, 0, 0)
        except OSError as error:
            os.write(failure, f"ptrace {error.errno}".encode())
            return
        exec_program(command)
    except OSError as error:
        os.write(failure, f"exec {error.errno}".encode())
    finally:
        os._exit(NOT_FOUND)


def _ptrace(libc: ctypes.CDLL, request: int, pid: int, data: int) -> None:
    if libc.ptrace(request, pid, None, data) == -1:
        raise OSError(ctypes.get_errno(), f"ptrace request {request} of process {pid}")
