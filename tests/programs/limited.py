"""Questions whose children try to do what a limited child may not.

Each writes "did it" if it could.
"""

import os
import signal
import socket
import time
from collections.abc import Callable

from tidscope_collector.confinement.fork_server import confine, serve_argument
from tidscope_confinement.resources import Limits, limit_resources

MIB = 1 << 20
LIMITS = Limits(memory_bytes=128 * MIB, cpu_s=1, wall_s=120)


def _open() -> None:
    os.open("/etc/hostname", os.O_RDONLY)


def _connect() -> None:
    socket.socket()


def _fork() -> None:
    os.fork()


def _execute() -> None:
    os.execv("/bin/true", ["true"])


def _signal() -> None:
    os.kill(os.getppid(), signal.SIGTERM)


def _grow() -> None:
    bytearray(1024 * MIB)


def _spin() -> None:
    while True:
        pass


def _raise_limits() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)


ATTEMPTS: dict[str, Callable[[], None]] = {
    "open": _open,
    "connect": _connect,
    "fork": _fork,
    "execute": _execute,
    "signal": _signal,
    "grow": _grow,
    "spin": _spin,
    "raise limits": _raise_limits,
}


def _try(attempt: Callable[[], None]) -> Callable[[object, int], None]:
    def question(_: object, answer: int) -> None:
        limit_resources(LIMITS)
        confine()
        attempt()
        os.write(answer, b"did it")

    return question


def _status(_: object, answer: int) -> None:
    """Print the status file and descriptors of this process after it gave up its rights."""
    limit_resources(LIMITS)
    file = os.open("/proc/self/status", os.O_RDONLY)
    opened = os.listdir("/proc/self/fd")
    confine()
    os.write(answer, f"descriptors: {len(opened) - 1}\n".encode() + os.pread(file, 8192, 0))


def _flood(_: object, answer: int) -> None:
    limit_resources(LIMITS)
    confine()
    while True:
        os.write(answer, b"x" * 65536)


def _sleep(_: object, __: int) -> None:
    limit_resources(LIMITS)
    time.sleep(60)


def _echo(_: object, answer: int) -> None:
    limit_resources(LIMITS)
    confine()
    while data := os.read(answer, 64):
        os.write(answer, data)


def main() -> None:
    """Become the fork server of these questions."""
    questions = {name: _try(attempt) for name, attempt in ATTEMPTS.items()}
    others: dict[str, Callable[[object, int], None]] = {
        "status": _status,
        "flood": _flood,
        "sleep": _sleep,
        "echo": _echo,
    }
    serve_argument(questions | others)
