"""A process that ends when the one that started it ends, however that happens.

`python -m tidscope_backend.parent_death PID COMMAND…` becomes COMMAND with
that property.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

PR_SET_PDEATHSIG = 1
"""prctl(2); survives execve(2) unless that changes the credentials."""


class ParentExitedError(Exception):
    """The parent has already ended."""


def terminate_with_parent(parent_pid: int) -> None:
    """Have SIGTERM sent to this process when its parent ends.

    Args:
        parent_pid: the parent, as it knows itself; if it died before this call, that is detected.

    Raises:
        ParentExitedError: the parent has ended.
        OSError: the kernel refuses.
    """
    # A thread that starts processes may block it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        raise ParentExitedError(f"process {parent_pid} has ended")


ISOLATED = "-I"
"""Option of the interpreter: no module comes from the current directory, nor from where the
environment or a user's own packages say."""


def run_module(name: str, *arguments: str, option: str = "-P") -> list[str]:
    """The command that runs a module of ours with this interpreter.

    With -P modules that lie in the current directory are not ours.
    """
    return [sys.executable, option, "-m", name, *arguments]


def bound_to_parent(arguments: Sequence[str]) -> list[str]:
    """Wrap a command so that it ends with the calling process; one that is isolated stays so."""
    option = ISOLATED if ISOLATED in arguments[1:2] else "-P"
    return run_module("tidscope_backend.parent_death", str(os.getpid()), *arguments, option=option)


def exec_program(
    arguments: Sequence[str],
    program: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> NoReturn:
    """Replace this process by a program: the first argument, or another file. Raises OSError."""
    os.execvpe(program or arguments[0], list(arguments), environ)  # noqa: S606 - no shell


def main(arguments: Sequence[str]) -> None:
    """Become the command."""
    try:
        terminate_with_parent(int(arguments[0]))
    except ParentExitedError as error:
        raise SystemExit(str(error)) from None
    exec_program(arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
