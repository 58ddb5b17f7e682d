"""A process that ends when the one that started it ends, however that happens.

`python -m tidscope_backend.lifeline PARENT_PID COMMAND…` becomes COMMAND and keeps that promise.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

PR_SET_PDEATHSIG = 1
"""prctl(2); survives execve(2) unless that changes the credentials."""


class OrphanError(Exception):
    """The parent had ended already."""


def hold_on_to(parent_pid: int) -> None:
    """Have SIGTERM sent to this process when its parent ends.

    Args:
        parent_pid: the parent as the starter knows it; a death before this call is seen by it.

    Raises:
        OrphanError: the parent has ended.
        OSError: the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        raise OrphanError(f"process {parent_pid} has ended")


def command(arguments: Sequence[str]) -> list[str]:
    """Wrap a command so that it ends with the process that calls this."""
    return [sys.executable, "-m", "tidscope_backend.lifeline", str(os.getpid()), *arguments]


def become(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by a program; its process id stays."""
    os.execvp(arguments[0], list(arguments))  # noqa: S606 - arguments, no shell


def main(arguments: Sequence[str]) -> None:
    """Become the command."""
    try:
        hold_on_to(int(arguments[0]))
    except OrphanError as error:
        raise SystemExit(str(error)) from None
    become(arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
