"""The process that limited children are forked from: small, started early, with few rights.

A fork of the collector itself would copy the page tables of numpy and pyarrow and everything that
it holds open, and its system call filter lets it execute nothing. It gets questions over a socket
of the collector, each with the descriptor to answer to, and forks a child for each.
"""

import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeGuard

from tidscope_confinement import capabilities, seccomp

from tidscope_collector.confinement.calls import child_calls, fork_server_calls

OPENING = frozenset(
    {capabilities.DAC_READ_SEARCH, capabilities.SYS_PTRACE, capabilities.CHECKPOINT_RESTORE}
)
"""For files of /proc that the kernel guards, mapped files that lie nowhere any more, and the
folders in front of sockets."""
CONNECTING = frozenset({capabilities.DAC_OVERRIDE})
"""For sockets that only another user may write to: steering needs it, and names of threads."""
SIGNALLING = frozenset({capabilities.KILL})
"""For Java virtual machines of other users, which open a socket on a signal."""
LONGEST_QUESTION = 1 << 16
AGAIN_S = 0.1
"""Before another fork server takes the place of one that was killed."""

Question = Callable[[object, int], None]
"""Answers to the descriptor; runs in a child of its own, which has to limit and confine itself.

The arguments are what the asker says: any JSON."""


class _Asked(NamedTuple):
    """A question and where its answer goes."""

    number: int
    question: Question
    arguments: object
    answer: int


def serve(connection: socket.socket, questions: Mapping[str, Question]) -> None:
    """Keep a fork server until the collector closes its end.

    This process does nothing else: if the fork server is killed, by a kernel without memory, say,
    another one takes its place, which the collector could not start any more. Questions wait in the
    socket meanwhile; children go on answering, those that have to be killed excepted.

    Args:
        connection: SOCK_SEQPACKET; each message is a question with a descriptor, {"kill": id}, or
            {"keep": [capability, …]}, which gives up all others. The asker may be taken over: any
            other message is dropped.
        questions: by name.
    """
    capabilities.harden()
    capabilities.keep(OPENING | CONNECTING | SIGNALLING)
    with suppress(OSError, seccomp.UnsupportedProcessorError):  # the children insist on it
        seccomp.install(fork_server_calls())
    while not _served(connection, questions):
        time.sleep(AGAIN_S)


def _served(connection: socket.socket, questions: Mapping[str, Question]) -> bool:
    """Fork a fork server and wait for its end; whether it ended as it should."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = os.fork()
    if server == 0:
        status = 1
        try:
            ours.close()
            _fork_children(connection, questions, theirs)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    with ours:
        # What it gives up the next one must not have either.
        while data := ours.recv(LONGEST_QUESTION):
            capabilities.keep(frozenset(json.loads(data)["keep"]))
    return os.waitpid(server, 0)[1] == 0


def _fork_children(
    connection: socket.socket,
    questions: Mapping[str, Question],
    keeper: socket.socket,
) -> None:
    """Fork a child for each question until the collector closes its end; then end all children.

    Keeps the capabilities that it takes to open what belongs to other users' processes and to
    connect to their sockets.
    """
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    poll.register(woken, select.POLLIN)
    children: dict[int, int] = {}
    while True:
        ready = {file for file, _ in poll.poll()}
        if woken in ready:
            os.read(woken, 4096)
            _reap(children)
        if connection.fileno() not in ready:
            continue
        data, files, _, _ = socket.recv_fds(connection, LONGEST_QUESTION, 1)
        if not data:
            break
        message = _parse(data)
        kept, killed = message.get("keep"), message.get("kill")
        asked = _asked(message, questions, files)
        if _are_numbers(kept):
            left = capabilities.keep(capabilities.held().intersection(kept))
            keeper.send(json.dumps({"keep": sorted(left)}).encode())
        elif type(killed) is int and killed in children:
            os.kill(children[killed], signal.SIGKILL)
        elif asked is not None and asked.number not in children:
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _answer(asked)
            children[asked.number] = process
        for file in files:
            os.close(file)
    for process in children.values():
        os.kill(process, signal.SIGKILL)


def _reap(children: dict[int, int]) -> None:
    for number, process in list(children.items()):
        if os.waitpid(process, os.WNOHANG)[0]:
            del children[number]


def _parse(data: bytes) -> dict[str, object]:
    """A message; empty if it is none."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _asked(
    message: Mapping[str, object], questions: Mapping[str, Question], files: list[int]
) -> _Asked | None:
    """The question in a message; None if there is none that can be answered."""
    number, name = message.get("id"), message.get("question")
    if type(number) is not int or not isinstance(name, str) or name not in questions or not files:
        return None
    return _Asked(number, questions[name], message.get("arguments"), files[0])


def _are_numbers(kept: object) -> TypeGuard[list[int]]:
    return isinstance(kept, list) and all(type(one) is int for one in kept)


def _answer(asked: _Asked) -> None:
    """Answer in the child, with nothing open but where the answer goes; does not return."""
    status = 1
    try:
        os.closerange(0, asked.answer)
        os.closerange(asked.answer + 1, os.sysconf("SC_OPEN_MAX"))
        asked.question(asked.arguments, asked.answer)
        status = 0
    finally:
        os._exit(status)


def serve_argument(questions: Mapping[str, Question], folder: str | int = "/") -> None:
    """Serve the socket whose descriptor is the first argument of the program.

    Args:
        questions: by name.
        folder: the working folder of children, a path or a descriptor. The filter of system calls
            keeps all of them from choosing another one.
    """
    os.chdir(folder)
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        serve(connection, questions)


def confine() -> None:
    """Give up everything but reading what is open and answering; for a child, before it reads.

    Raises:
        OSError: the kernel refused; the process must not go on.
        UnsupportedProcessorError: the same.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    capabilities.harden()
    capabilities.keep(frozenset())
    seccomp.install(child_calls())
