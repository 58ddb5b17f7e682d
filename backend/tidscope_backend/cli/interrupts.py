"""Interrupts (Ctrl-C, SIGTERM, SIGHUP) that wait while something must be done as a whole."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt(*_: object) -> None:
    """Raise KeyboardInterrupt: a signal handler."""
    raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[None]:
    """Let each of the signals raise KeyboardInterrupt within this context."""
    with _handlers(interrupt):
        yield


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Delay interrupts until the end of this context, such as between a start and its cleanup.

    Raises:
        KeyboardInterrupt: there was one.
    """
    pending: list[int] = []
    try:
        with _handlers(lambda number, _: pending.append(number)):
            yield
    finally:
        if pending:
            raise KeyboardInterrupt


@contextmanager
def _handlers(handler: "signal._HANDLER") -> Iterator[None]:
    """Install a handler for the signals that are not ignored."""
    before = {
        number: signal.signal(number, handler)
        for number in ENDING
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)
