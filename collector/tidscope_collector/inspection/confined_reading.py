"""Readings that a child has to make before it opens further files, in a process without rights.

The name of a debug file is in the program that it belongs to, which may be hostile. A process of
its own, confined, reads the name; the child then opens the file while it still has rights. What
that process says is as untrusted as the file.
"""

import ctypes
import os
import signal
from collections.abc import Callable

from tidscope_collector.confinement.fork_server import confine

_PR_SET_PDEATHSIG = 1  # linux/prctl.h

_libc = ctypes.CDLL(None, use_errno=True)


def read_confined(
    read: Callable[[Callable[[bytes], None]], None], limit: int, time_s: float
) -> bytes:
    """Return what a confined process writes, at most ``limit`` bytes.

    Args:
        read: runs in the confined process; takes a function that writes a piece of the answer.
        limit: maximum size of the answer, in bytes; the process ends when it writes more.
        time_s: wall-clock time until the kernel ends the process, in seconds.
    """
    readable, writable = os.pipe()
    parent = os.getpid()
    process = os.fork()
    if process == 0:
        try:
            os.close(readable)
            # Else the process would go on if the child that asks is killed.
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:
                signal.setitimer(signal.ITIMER_REAL, time_s)
                confine()
                read(lambda piece: _write(writable, piece))
        finally:
            os._exit(0)
    os.close(writable)
    answer = b""
    while len(answer) < limit and (piece := os.read(readable, limit - len(answer))):
        answer += piece
    os.close(readable)
    os.waitpid(process, 0)
    return answer


def _write(file: int, piece: bytes) -> None:
    while piece:
        piece = piece[os.write(file, piece) :]
