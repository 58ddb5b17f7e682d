"""Fork server of limited children: small, started early, with few rights.

A fork of the collector itself would copy the page tables of its libraries and every open file.
Its system call filter also forbids execve. The fork server receives questions over a socket, each
with a descriptor for the answer, and forks a child for each.

A confined child computes, reads open files, answers and exits. It has no capabilities and cannot
gain any (no_new_privs). It may not open, connect, fork, execute or signal: any unlisted call kills
it. Before that it bounds its memory and time (`tidscope_confinement.resources`).
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
"""Capabilities to open guarded files of /proc, deleted mapped files, and the folders of sockets."""
CONNECTING = frozenset({capabilities.DAC_OVERRIDE})
"""Capability to connect to sockets that only another user may write to, for steering and thread
names."""
SIGNALLING = frozenset({capabilities.KILL})
"""Capability to signal other users' Java virtual machines, which then open a socket."""
LONGEST_QUESTION = 1 << 16
AGAIN_S = 0.1
"""Delay before a killed fork server is replaced, in seconds."""

Question = Callable[[object, int], None]
"""Writes its answer to a descriptor. It runs in a new child, which it has to limit and confine.

The arguments come from the asker and may be any JSON."""


class _Asked(NamedTuple):
    """A question and the descriptor for its answer."""

    number: int
    question: Question
    arguments: object
    answer: int


def serve(connection: socket.socket, questions: Mapping[str, Question]) -> None:
    """Keep a fork server running until the collector closes its end.

    This process does nothing else: if the fork server is killed, for example by the OOM killer, it
    forks another one. A confined collector could not. Questions then wait in the socket. Children
    go on answering, except those that have to be killed.

    Args:
        connection: SOCK_SEQPACKET socket. Each message is a question with a descriptor, {"kill":
            id}, or {"keep": [capability, …]}, which gives up all others. Any other message is
            dropped, since the asker may have been taken over.
        questions: questions by name.
    """
    capabilities.harden()
    capabilities.keep(OPENING | CONNECTING | SIGNALLING)
    # Children fail without their own filter.
    with suppress(OSError, seccomp.UnsupportedProcessorError):
        seccomp.install(fork_server_calls())
    while not _served(connection, questions):
        time.sleep(AGAIN_S)


def _served(connection: socket.socket, questions: Mapping[str, Question]) -> bool:
    """Fork a fork server and wait for its end. Return True if it ended regularly."""
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
        # A replacement must not regain capabilities that were given up.
        while data := ours.recv(LONGEST_QUESTION):
            capabilities.keep(frozenset(json.loads(data)["keep"]))
    return os.waitpid(server, 0)[1] == 0


def _fork_children(
    connection: socket.socket,
    questions: Mapping[str, Question],
    keeper: socket.socket,
) -> None:
    """Fork a child for each question until the collector closes its end; then kill all children.

    Keeps the capabilities needed to open other users' files and to connect to their sockets.
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
    """Return a message, or an empty one if the data is invalid."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _asked(
    message: Mapping[str, object], questions: Mapping[str, Question], files: list[int]
) -> _Asked | None:
    """Return the question in a message, or None if it cannot be answered."""
    number, name = message.get("id"), message.get("question")
    if type(number) is not int or not isinstance(name, str) or name not in questions or not files:
        return None
    return _Asked(number, questions[name], message.get("arguments"), files[0])


def _are_numbers(kept: object) -> TypeGuard[list[int]]:
    return isinstance(kept, list) and all(type(one) is int for one in kept)


def _answer(asked: _Asked) -> None:
    """Answer in the child, with only the answer's descriptor open. Does not return."""
    status = 1
    try:
        os.closerange(0, asked.answer)
        os.closerange(asked.answer + 1, os.sysconf("SC_OPEN_MAX"))
        asked.question(asked.arguments, asked.answer)
        status = 0
    finally:
        os._exit(status)


def serve_argument(questions: Mapping[str, Question], folder: str | int = "/") -> None:
    """Serve the socket whose descriptor is the program's first argument.

    Args:
        questions: questions by name.
        folder: working folder of children, a path or a descriptor. The system call filter forbids
            changing it.
    """
    os.chdir(folder)
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        serve(connection, questions)


def confine() -> None:
    """Give up everything except reading open files and answering. A child calls it before it reads.

    Raises:
        OSError: the kernel refused, so the process must not continue.
        UnsupportedProcessorError: no filter exists for this processor, so the process must not
            continue.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    capabilities.harden()
    capabilities.keep(frozenset())
    seccomp.install(child_calls())
