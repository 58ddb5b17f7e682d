"""Answers about processes, Go programs, ports, agents, thread names and containers.

The collector's side of `questions`; see `asking` for deadlines and checks.
"""

import logging
import re
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field, ValidationError
from tidscope_wire.generated.models import Runtime

from tidscope_collector.confinement.children import ENDED, ChildError
from tidscope_collector.inspection.agent_sockets import SocketId, Trouble
from tidscope_collector.inspection.answering import PROCESSES_S, PROGRAM_S, Arguments
from tidscope_collector.inspection.asking import (
    ANSWER_BYTES,
    DamagedError,
    Line,
    NoAnswerError,
    TroubleLine,
    UnreadableError,
    about_process,
    ask,
    ask_text,
    children,
    parse,
    read_lines,
)
from tidscope_collector.inspection.container_files import MAX_CONTAINERS, ContainerName
from tidscope_collector.inspection.java_threads import LONGEST_NAME, NAMES_S
from tidscope_collector.inspection.opened_process import Key

MAX_AT_ONCE = 64
"""Processes that one child is asked about: each takes up to six descriptors."""

log = logging.getLogger("tidscope.processes")

_MAX_PIDS = 2048  # in one question


class NotConnectedError(Exception):
    """There is no connection to an agent; the text is a sentence for people.

    Attributes:
        trouble: what kind it is.
    """

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble: Trouble = trouble


InnerUser = tuple[int, int, str | None]
"""A user id, what it is in a process' own namespace, and its name there."""


class ProcessLine(Line):
    """What is known of a process; `runtime` is None where its executable was known before."""

    pid: int
    command: str = Field(max_length=4096)
    key: Annotated[Key, Field(strict=False)] | None
    runtime: Runtime | None
    version: str | None = Field(max_length=128)
    executable: str | None = Field(max_length=8192)
    users: Annotated[InnerUser, Field(strict=False)] | None


class GoLine(Line):
    """What is known of an executable with regard to Go; see `go_questions.gomaxprocs`."""

    go: bool
    version: str | None = Field(max_length=128)
    settings: dict[str, str]
    symbols: bool
    size: int | None
    memory: int


class _AtLine(Line):
    at: int


class _ChosenLine(Line):
    chosen: bool | None


class _VariablesLine(Line):
    variables: dict[str, str]


class _PortsLine(Line):
    ports: list[Annotated[tuple[int, list[int]], Field(strict=False)]]


class _PortLine(Line):
    refusal: str = Field(max_length=1024)


class _SocketLine(Line):
    socket: Annotated[tuple[str, int, int, int], Field(strict=False)] | None


class _OpenedLine(Line):
    opened: bool


def reader_trouble() -> str:
    """Why no child answers, a sentence for people; empty if one does.

    Two are asked: a fork server that is killed takes the one that it was starting with it.
    """
    about: Arguments = {"identities": []}
    for _ in range(2):
        try:
            reply = children().ask("ports", about, deadline_s=PROCESSES_S, most_bytes=ANSWER_BYTES)
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
            "processes", arguments, deadline_s=deadline_s, most_bytes=ANSWER_BYTES
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
        return ask("go_chosen", about_process(pid, start_ticks), PROGRAM_S, _ChosenLine).chosen
    except (NoAnswerError, UnreadableError, DamagedError):
        return None


def ask_go_environment(pid: int, start_ticks: int) -> dict[str, str]:
    """GOMAXPROCS and GODEBUG of the environment that a process was started with, if it has them.

    Raises:
        NoAnswerError: its memory does not answer.
        UnreadableError: it may not be read.
    """
    about = about_process(pid, start_ticks)
    return ask("go_environment", about, PROCESSES_S, _VariablesLine).variables


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
        line = parse(_first_line(connection, PROGRAM_S), GoLine, pid)
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
    while not line.endswith(b"\n") and len(line) <= ANSWER_BYTES:
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
            found |= dict(ask("ports", about, PROCESSES_S, _PortsLine).ports)
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
    return ask("port", about, PROCESSES_S, _PortLine).refusal


def ask_agent_socket(pid: int, start_ticks: int) -> SocketId | None:
    """See `questions.agent_socket`.

    Raises:
        NoAnswerError: a file system on the way does not answer.
        UnreadableError: the process has ended, or may not be looked at.
    """
    about = about_process(pid, start_ticks)
    found = ask("agent_socket", about, PROCESSES_S, _SocketLine).socket
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
        text, files, _, _ = socket.recv_fds(answer, ANSWER_BYTES, 1)
    except OSError as error:
        children().give_up(number, answer)
        raise NoAnswerError(f"The way to the {whose} does not answer.") from error
    answer.close()
    if files:
        return socket.socket(fileno=files[0])
    try:
        found = TroubleLine.model_validate_json(text)
    except ValidationError:
        parse(text, _OpenedLine, about.get("pid", 0))
        raise NoAnswerError(f"No connection came from the {whose}.") from None
    raise NotConnectedError(found.trouble, found.text)


class _ThreadLine(Line):
    tid: int = Field(ge=1, lt=1 << 32)
    name: str = Field(min_length=1, max_length=LONGEST_NAME)


def ask_java_names(pid: int, start_ticks: int) -> dict[int, str]:
    """Names of threads by their ids; see `java_threads.java_names`.

    Raises:
        NoAnswerError: the machine does not answer, or must not be asked; the text says why.
    """
    about = about_process(pid, start_ticks)
    found = read_lines(ask_text("java_names", about, NAMES_S), _ThreadLine)
    return {one.tid: one.name for one in found}


def ask_go_threads(pid: int, start_ticks: int) -> dict[int, str]:
    """Threads of the Go runtime by their ids; see `go_questions.go_threads`.

    Raises:
        NoAnswerError: the program does not answer, or has no symbols; the text says which.
    """
    about = about_process(pid, start_ticks)
    found = read_lines(ask_text("go_threads", about, PROGRAM_S), _ThreadLine)
    return {one.tid: one.name for one in found}


_ID = re.compile(r"[0-9a-f]{64}")


class _ContainerLine(Line):
    id: str = Field(pattern="^[0-9a-f]{64}$")
    name: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$")
    pod: str | None = Field(pattern=r"^[a-z0-9-]{1,63}/[a-z0-9.-]{1,253}$")


def ask_container_names(
    containers: Iterable[str], users: Iterable[int]
) -> Mapping[str, ContainerName]:
    """Names of containers by their ids; see `container_files.container_names`.

    Args:
        containers: ids; what is none has no name.
        users: whose own containers are among them.

    Raises:
        NoAnswerError: they cannot be read; the text says why.
    """
    ids = [one for one in containers if _ID.fullmatch(one)]
    found: dict[str, ContainerName] = {}
    for begin in range(0, len(ids), MAX_CONTAINERS):
        about = Arguments(containers=ids[begin : begin + MAX_CONTAINERS], users=list(users))
        lines = read_lines(ask_text("container_names", about, PROCESSES_S), _ContainerLine)
        found |= {one.id: ContainerName(one.name, one.pod) for one in lines}
    return found
