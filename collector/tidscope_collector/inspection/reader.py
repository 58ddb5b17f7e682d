"""The collector's side of the questions: asked with a deadline, answers believed only in form."""

import atexit
import functools
import json
import logging
import os
import socket
import time
from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from tidscope_predictd.client import socket_path
from tidscope_wire.generated.models import Runtime

from tidscope_collector.confinement.children import ENDED, ChildError, LimitedChildren
from tidscope_collector.inspection.agent_sockets import SocketId, Trouble
from tidscope_collector.inspection.answering import PROCESSES_S, PROGRAM_S, Arguments, Places
from tidscope_collector.inspection.opened_process import Key

MAX_AT_ONCE = 64
"""Processes that one child is asked about: each takes up to six descriptors."""

log = logging.getLogger("tidscope.processes")

_MAX_PIDS = 2048  # in one question
_ANSWER_BYTES = 1 << 20


class NoAnswerError(Exception):
    """No child answers; the text is a sentence for people."""


class UnreadableError(Exception):
    """The kernel does not let it be opened.

    Attributes:
        number: its errno.
    """

    def __init__(self, number: int) -> None:
        super().__init__(os.strerror(number))
        self.number = number


class NotConnectedError(Exception):
    """There is no connection to an agent; the text is a sentence for people.

    Attributes:
        trouble: what kind it is.
    """

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble: Trouble = trouble


class DamagedError(Exception):
    """An executable cannot be parsed; the text says why."""


InnerUser = tuple[int, int, str | None]
"""A user id, what it is in a process' own namespace, and its name there."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ProcessLine(_Line):
    """What is known of a process; `runtime` is None where its executable was known before."""

    pid: int
    command: str = Field(max_length=4096)
    key: Annotated[Key, Field(strict=False)] | None
    runtime: Runtime | None
    version: str | None = Field(max_length=128)
    executable: str | None = Field(max_length=8192)
    users: Annotated[InnerUser, Field(strict=False)] | None


class GoLine(_Line):
    """What is known of an executable with regard to Go; see `go_questions.gomaxprocs`."""

    go: bool
    version: str | None = Field(max_length=128)
    settings: dict[str, str]
    symbols: bool
    size: int | None
    memory: int


class _AtLine(_Line):
    at: int


class _UnreadableLine(_Line):
    unreadable: int


class _DamagedLine(_Line):
    damaged: str = Field(max_length=1024)


class _ChosenLine(_Line):
    chosen: bool | None


class _VariablesLine(_Line):
    variables: dict[str, str]


class _PortsLine(_Line):
    ports: list[Annotated[tuple[int, list[int]], Field(strict=False)]]


class _PortLine(_Line):
    refusal: str = Field(max_length=1024)


class _SocketLine(_Line):
    socket: Annotated[tuple[str, int, int, int], Field(strict=False)] | None


class _TroubleLine(_Line):
    trouble: Trouble
    text: str = Field(max_length=16384)


class _OpenedLine(_Line):
    opened: bool


_Answer = TypeVar(
    "_Answer", GoLine, _ChosenLine, _VariablesLine, _OpenedLine, _PortLine, _PortsLine, _SocketLine
)


def make_children(places: Places) -> LimitedChildren:
    """Start a fork server whose children look at some places and no others."""
    settings = json.dumps(list(places))
    return LimitedChildren("tidscope_collector.inspection.questions", settings=settings)


@functools.cache
def children() -> LimitedChildren:
    """The children of this process; the first call starts their fork server.

    Where they look is decided here, before the collector gives up its rights.
    """
    made = make_children(Places(predictions=str(socket_path())))
    atexit.register(made.close)
    return made


def reader_trouble() -> str:
    """Why no child answers, a sentence for people; empty if one does.

    Two are asked: a fork server that is killed takes the one that it was starting with it.
    """
    about: Arguments = {"identities": []}
    for _ in range(2):
        try:
            reply = children().ask("ports", about, deadline_s=PROCESSES_S, most_bytes=_ANSWER_BYTES)
        except ChildError as error:
            return str(error)
        if reply.data:
            return ""
        if not reply.ended:
            return f"The process that reads files of others gave no answer in {PROCESSES_S:g} s."
    return ENDED


def describe(
    asked: Sequence[tuple[int, int, Key | None]], deadline_s: float
) -> tuple[list[ProcessLine], int | None]:
    """Command lines and runtimes of processes.

    Args:
        asked: id, start and known executable of each, at most MAX_AT_ONCE.
        deadline_s: for all of them.

    Returns:
        Those that were read, and the id of the one that took until the deadline or ended the child;
        None if all were asked for. One that has ended is in neither.

    Raises:
        NoAnswerError: no child can be asked.
    """
    arguments: Arguments = {"processes": list(asked)}
    try:
        reply = children().ask(
            "processes", arguments, deadline_s=deadline_s, most_bytes=_ANSWER_BYTES
        )
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    lines: list[ProcessLine] = []
    at: int | None = None
    for text in reply.data.split(b"\n"):
        if text == b"{}":
            return lines, None
        try:
            at = _AtLine.model_validate_json(text).at
        except ValidationError:
            try:
                lines.append(ProcessLine.model_validate_json(text))
            except ValidationError:
                break
    if at is None:
        raise NoAnswerError("A child ended before it answered.")
    return lines, at


def ask_go_chosen(pid: int, start_ticks: int) -> bool | None:
    """Whether the environment or the program itself set GOMAXPROCS; None if that cannot be read.

    It cannot when the program has no debug information (built with -ldflags=-w), or when this user
    may not read its memory. Takes a while for a large program.
    """
    try:
        return _ask("go_chosen", about_process(pid, start_ticks), PROGRAM_S, _ChosenLine).chosen
    except (NoAnswerError, UnreadableError, DamagedError):
        return None


def ask_go_environment(pid: int, start_ticks: int) -> dict[str, str]:
    """GOMAXPROCS and GODEBUG of the environment that a process was started with, if it has them.

    Raises:
        NoAnswerError: its memory does not answer.
        UnreadableError: it may not be read.
    """
    about = about_process(pid, start_ticks)
    return _ask("go_environment", about, PROCESSES_S, _VariablesLine).variables


def ask_gomaxprocs(pid: int, start_ticks: int) -> tuple[GoLine, int, socket.socket]:
    """Start a child that reads GOMAXPROCS; see `go_questions.gomaxprocs`.

    Returns:
        What it says of the program, its number and the connection to it; `children().give_up` ends
        both.

    Raises:
        NoAnswerError: no child can be asked, or it takes too long, or too much memory.
        UnreadableError: the executable may not be read, or the program is another one by now.
        DamagedError: it is no ELF file, or a damaged one.
    """
    try:
        number, connection = children().begin("gomaxprocs", about_process(pid, start_ticks))
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    try:
        line = _parse(_first_line(connection, PROGRAM_S), GoLine, pid)
    except NoAnswerError:
        children().give_up(number, connection)
        raise
    except (UnreadableError, DamagedError):
        connection.close()  # Its child has ended.
        raise
    return line, number, connection


def _first_line(connection: socket.socket, deadline_s: float) -> bytes:
    """A line without its end, or as much of it as came before the deadline."""
    deadline = time.monotonic() + deadline_s
    line = b""
    while not line.endswith(b"\n") and len(line) <= _ANSWER_BYTES:
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            piece = connection.recv(1 << 16)
        except OSError:
            break
        if not piece:
            break
        line += piece
    return line


def ask_ports(identities: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    """TCP ports on which processes listen, by id, ascending; none of those that listen on none.

    What cannot be found out is left out.

    Args:
        identities: id and start of each.
    """
    found: dict[int, list[int]] = {}
    for begin in range(0, len(identities), _MAX_PIDS):
        about: Arguments = {"identities": list(identities[begin : begin + _MAX_PIDS])}
        try:
            found |= dict(_ask("ports", about, PROCESSES_S, _PortsLine).ports)
        except (NoAnswerError, UnreadableError, DamagedError) as error:
            log.warning("the ports of processes cannot be found: %s", error)
            break
    return found


def ask_port(pid: int, start_ticks: int, port: int) -> str:
    """See `ports.check_port`.

    Raises:
        NoAnswerError: no child can be asked.
    """
    about = about_process(pid, start_ticks) | Arguments(port=port)
    return _ask("port", about, PROCESSES_S, _PortLine).refusal


def ask_agent_socket(pid: int, start_ticks: int) -> SocketId | None:
    """See `questions.agent_socket`.

    Raises:
        NoAnswerError: a file system on the way does not answer.
        UnreadableError: the process has ended, or may not be looked at.
    """
    about = about_process(pid, start_ticks)
    found = _ask("agent_socket", about, PROCESSES_S, _SocketLine).socket
    return found and SocketId(*found)


def connect_agent(pid: int, start_ticks: int, timeout_s: float) -> socket.socket:
    """A connection to an agent; see `questions.agent`.

    Args:
        pid: of its process.
        start_ticks: the start of the process.
        timeout_s: for connecting.

    Raises:
        NotConnectedError: there is none; why.
        NoAnswerError: a file system on the way does not answer.
        UnreadableError: the process has ended, or may not be looked at.
    """
    about = about_process(pid, start_ticks) | Arguments(timeout_s=timeout_s)
    return _connect("agent", about, timeout_s, f"agent of process {pid}")


def connect_predictions(timeout_s: float) -> socket.socket:
    """A connection to the prediction service; see `questions.prediction_service`.

    Raises:
        NoAnswerError: no child can be asked.
        UnreadableError: nobody serves there.
    """
    return _connect("prediction_service", {}, timeout_s, "prediction service")


def _connect(question: str, about: Arguments, timeout_s: float, whose: str) -> socket.socket:
    try:
        number, answer = children().begin(question, about)
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    try:
        answer.settimeout(PROCESSES_S + timeout_s)
        text, files, _, _ = socket.recv_fds(answer, _ANSWER_BYTES, 1)
    except OSError as error:
        children().give_up(number, answer)
        raise NoAnswerError(f"The way to the {whose} does not answer.") from error
    answer.close()
    if files:
        return socket.socket(fileno=files[0])
    try:
        found = _TroubleLine.model_validate_json(text)
    except ValidationError:
        _parse(text, _OpenedLine, about.get("pid", 0))
        raise NoAnswerError(f"No connection came from the {whose}.") from None
    raise NotConnectedError(found.trouble, found.text)


def about_process(pid: int, start_ticks: int) -> Arguments:
    """What a question about a process says of it."""
    return {"pid": pid, "start_ticks": start_ticks}


def _ask(question: str, about: Arguments, deadline_s: float, kind: type[_Answer]) -> _Answer:
    try:
        reply = children().ask(question, about, deadline_s=deadline_s, most_bytes=_ANSWER_BYTES)
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    return _parse(reply.data, kind, about.get("pid", 0))


def _parse(text: bytes, kind: type[_Answer], pid: int) -> _Answer:
    try:
        return kind.model_validate_json(text)
    except ValidationError:
        pass
    try:
        raise UnreadableError(_UnreadableLine.model_validate_json(text).unreadable)
    except ValidationError:
        pass
    try:
        raise DamagedError(_DamagedLine.model_validate_json(text).damaged)
    except ValidationError:
        raise NoAnswerError(
            f"Process {pid} cannot be examined: its files or its memory do not answer, or take "
            "more time or memory than tidscope gives them."
        ) from None
