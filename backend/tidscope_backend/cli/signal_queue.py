"""Signals that wait in a queue instead of interrupting, each with who sent it (signalfd(2))."""

import ctypes
import os
import signal
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple, Self

_RECORD = struct.Struct("=IiiI112x")
"""signalfd_siginfo: number, errno, code, sender's process id, and what is not read."""
_SET = struct.Struct("@Q120x")
"""sigset_t of the C library: a bit a signal, from signal 1 on."""


class ReceivedSignal(NamedTuple):
    """A signal.

    Attributes:
        number: of the signal.
        code: SI_USER and the like, 0 or below, if a process sent it; above 0: the kernel.
        sender: process id of the sender; 0 if the kernel sent it, or another pid namespace.
    """

    number: signal.Signals
    code: int
    sender: int

    @property
    def from_kernel(self) -> bool:
        """Whether the kernel sent it: to the foreground process group of a terminal, say."""
        return self.code > 0


class SignalQueue:
    """While it is entered, these signals wait in it. A selector can wait for it.

    Signals for a process go to any of its threads that does not block them, so all of them have to:
    those of libraries are started within `blocked_signals`.

    Args:
        numbers: those that are ignored stay ignored and do not come.
    """

    def __init__(self, numbers: Iterable[signal.Signals]) -> None:
        self._numbers = [one for one in numbers if signal.getsignal(one) != signal.SIG_IGN]
        self._descriptor = -1
        self._before: set[int | signal.Signals] = set()

    def __enter__(self) -> Self:
        bits = sum(1 << (number - 1) for number in self._numbers)
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.signalfd(-1, _SET.pack(bits), os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise OSError(ctypes.get_errno(), "signalfd")
        self._before = set(signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def fileno(self) -> int:
        """Readable while a signal waits."""
        return self._descriptor

    def read(self) -> list[ReceivedSignal]:
        """Take out those that wait. Does not block."""
        try:
            data = os.read(self._descriptor, _RECORD.size * len(self._numbers))
        except BlockingIOError:
            return []
        return [
            ReceivedSignal(signal.Signals(number), code, sender)
            for number, _, code, sender in _RECORD.iter_unpack(data)
        ]


@contextmanager
def blocked_signals() -> Iterator[None]:
    """Threads that are started within get no signals."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupted_twice(first: str) -> Iterator[None]:
    """An interrupt prints a line; a second one is a KeyboardInterrupt. Ctrl-C and SIGTERM do so.

    The end of the terminal, which its shell reports after the kernel, ends nothing.

    Args:
        first: the line.
    """
    seen: list[int] = []

    def interrupt(number: int, _: object) -> None:
        seen.append(number)
        if len(seen) > 1:
            raise KeyboardInterrupt
        # Printing may be what was interrupted.
        os.write(2, f"{first}\n".encode())

    handlers = ((signal.SIGINT, interrupt), (signal.SIGTERM, interrupt), (signal.SIGHUP, _go_on))
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _go_on(*_: object) -> None:
    """Nothing ends because of it."""
