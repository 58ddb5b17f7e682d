"""Commands that other threads have for one thread, and their results."""

import os
import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Command:
    """Something to run in that thread, for someone who waits."""

    action: Callable[[], Any]
    future: "Future[Any]" = field(default_factory=Future)

    def run(self) -> None:
        """Run it, unless it was cancelled; the future has what comes of it."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.action())
        except Exception as error:  # goes to whoever asked
            self.future.set_exception(error)


class CommandQueue:
    """Takes commands of any thread; one thread gets them.

    Attributes:
        wake: a descriptor that is readable when a command has come since `is_empty` was asked.
    """

    def __init__(self) -> None:
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._ended = threading.Event()
        self.wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        weakref.finalize(self, os.close, self.wake)

    def submit(self, action: Callable[[], Any]) -> "Future[Any]":
        """Have something run; the future has its result.

        It is cancelled if the thread has ended or ends before it comes to it.
        """
        command = Command(action)
        self._put(command)
        if self._ended.is_set():
            self._cancel()
        return command.future

    def stop(self) -> None:
        """Let the thread end, after the commands that it has already."""
        self._put(None)

    def _put(self, command: Command | None) -> None:
        self._commands.put(command)
        os.eventfd_write(self.wake, 1)

    def is_empty(self) -> bool:
        """True if no command waits. `wake` announces later ones."""
        try:
            os.eventfd_read(self.wake)
        except BlockingIOError:
            pass  # none has come
        return self._commands.empty()

    def take(self) -> Command | None:
        """The next command; None: end.

        Raises:
            queue.Empty: there is none.
        """
        return self._commands.get_nowait()

    def end(self) -> None:
        """The thread has ended: cancel all commands, those that come now too."""
        self._ended.set()
        self._cancel()

    def _cancel(self) -> None:
        while True:
            try:
                command = self._commands.get_nowait()
            except queue.Empty:
                return
            if command is not None:
                command.future.cancel()
