"""Client of the fork server: one question per child, with a deadline and a bounded answer."""

import itertools
import json
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

OURS = tuple(
    dict.fromkeys(
        Path(str(spec.origin)).resolve().parents[1]
        for name in (
            *("tidscope_collector", "tidscope_confinement", "tidscope_sampler"),
            "multi_demangle",
        )
        if (spec := find_spec(name)) is not None
    )
)
"""Folders of the packages that a fork server and its children import; a single one once installed.
"""

MAX_STUCK = 64
"""Maximum children given up and not yet ended; further questions fail. The kernel cannot end a
child that waits for a page of an unresponsive file system."""

ENDED = "The process that reads files of others has ended: restart the collector."

_PIECE = 1 << 16
_SEND_S = 5.0


class ChildError(Exception):
    """No child could be started; the text is a sentence for people."""


class Reply(NamedTuple):
    """Answer of a child.

    Attributes:
        data: the answer, cut off at the deadline or the size limit.
        ended: True if the child ended by itself.
    """

    data: bytes
    ended: bool


class LimitedChildren:
    """Asks children of a fork server. Create it while the process may still execute programs.

    Thread-safe.

    Args:
        module: module whose function `main` serves the questions; see `fork_server.serve_argument`.
        folders: folders on the import path, besides Python's own.
        settings: second argument of the program that runs `main`; fixed for its lifetime.

    Attributes:
        pid: ID of the process that keeps the fork server.
        given_up: number of children that exceeded their deadline or size limit.
    """

    def __init__(self, module: str, folders: Sequence[Path] = OURS, settings: str = "") -> None:
        # Without site-packages the process starts sooner; it needs none of them.
        places = [str(folder) for folder in folders]
        self._program = f"import sys; sys.path[:0] = {places!r}; from {module} import main; main()"
        self._settings = settings
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._stuck: dict[int, socket.socket] = {}
        self.given_up = 0
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.settimeout(_SEND_S)
        with theirs:
            self.pid = self._launch(theirs)

    def ask(
        self,
        question: str,
        arguments: object,
        *,
        deadline_s: float,
        most_bytes: int,
        data: bytes = b"",
    ) -> Reply:
        """Ask a new child and wait for its answer until the deadline.

        Args:
            question: name of the question.
            arguments: arguments of the question, as JSON.
            deadline_s: deadline for the whole exchange, in seconds.
            most_bytes: maximum size of the answer, in bytes.
            data: input that the child reads to its end before it answers.

        Raises:
            ChildError: no child can be started.
        """
        deadline = time.monotonic() + deadline_s
        number, answer = self.begin(question, arguments)
        answer.settimeout(deadline_s)
        with suppress(OSError):  # the child then answers nothing
            answer.sendall(data)
        answer.shutdown(socket.SHUT_WR)
        found = bytearray()
        while (left_s := deadline - time.monotonic()) > 0 and len(found) <= most_bytes:
            answer.settimeout(left_s)
            try:
                piece = answer.recv(_PIECE)
            except TimeoutError:
                break
            except ConnectionResetError:
                piece = b""
            if not piece:
                answer.close()
                return Reply(bytes(found), ended=True)
            found += piece
        self.give_up(number, answer)
        return Reply(bytes(found[:most_bytes]), ended=False)

    def begin(self, question: str, arguments: object) -> tuple[int, socket.socket]:
        """Start a child for a conversation.

        Returns:
            The child's number, for `give_up`, and a stream socket to it, owned by the caller.

        Raises:
            ChildError: no child can be started.
        """
        ours, theirs = socket.socketpair()
        with self._lock:
            self._forget_ended()
            if len(self._stuck) >= MAX_STUCK:
                ours.close()
                theirs.close()
                raise ChildError(
                    f"{MAX_STUCK} children wait for memory or files that do not answer: end the "
                    "processes or file systems behind them."
                )
            number = next(self._numbers)
            message = {"id": number, "question": question, "arguments": arguments}
            try:
                self._send(json.dumps(message).encode(), theirs)
            except ChildError:
                ours.close()
                raise
            finally:
                theirs.close()
        return number, ours

    def keep(self, capabilities: Iterable[int]) -> None:
        """Make the fork server give up all other capabilities."""
        with self._lock, suppress(ChildError):
            self._send(json.dumps({"keep": sorted(capabilities)}).encode(), None)

    def give_up(self, number: int, answer: socket.socket) -> None:
        """Kill a child that did not answer, without waiting for its end."""
        with self._lock:
            self.given_up += 1
            self._stuck[number] = answer
            try:
                self._send(json.dumps({"kill": number}).encode(), None)
            except ChildError:
                pass  # the child ends when its connection closes

    def close(self) -> None:
        """End the fork server and all children."""
        with self._lock:
            # Closing the connection ends them; a confined process may not signal them.
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()
            with suppress(ChildProcessError):
                os.waitpid(self.pid, 0)
            for answer in self._stuck.values():
                answer.close()
            self._stuck.clear()

    def _forget_ended(self) -> None:
        for number, answer in list(self._stuck.items()):
            poll = select.poll()
            poll.register(answer, 0)
            if poll.poll(0):
                answer.close()
                del self._stuck[number]

    def _send(self, message: bytes, file: socket.socket | None) -> None:
        try:
            socket.send_fds(self._connection, [message], [] if file is None else [file.fileno()])
        except OSError as error:
            # A confined process cannot execute a replacement.
            raise ChildError(ENDED) from error

    def _launch(self, connection: socket.socket) -> int:
        """Start the fork server and return its process ID."""
        connection.set_inheritable(True)
        nothing = [(os.POSIX_SPAWN_OPEN, file, os.devnull, os.O_RDWR, 0) for file in (0, 1)]
        command = [sys.executable, "-I", "-S", "-c", self._program]
        # The environment is empty, because this process' environment may hold a secret.
        return os.posix_spawn(
            sys.executable,
            [*command, str(connection.fileno()), self._settings],
            {},
            file_actions=nothing,
            setsid=True,
        )
