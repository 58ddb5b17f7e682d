"""Client of `questions`: processes, Go programs, ports, agents, thread names, containers.

See `asking` for deadlines and checks.
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
"""Maximum processes per child; each takes up to six descriptors."""

log = logging.getLogger("tidscope.processes")

_MAX_PIDS = 2048  # in one question


class NotConnectedError(Exception):
    """No connection to an agent; the text is a sentence for people.

    Attributes:
        trouble: kind of trouble.
    """

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble: Trouble = trouble


InnerUser = tuple[int, int, str | None]
"""User ID outside, user ID inside a process' namespace, and its name there."""


class ProcessLine(Line):
    """Description of a process; `runtime` is None if its executable was known before."""

    pid: int
    command: str = Field(max_length=4096)
    key: Annotated[Key, Field(strict=False)] | None
    runtime: Runtime | None
    version: str | None = Field(max_length=128)
    executable: str | None = Field(max_length=8192)
    users: Annotated[InnerUser, Field(strict=False)] | None


class GoLine(Line):
    """Go properties of an executable; see `go_questions.gomaxprocs`."""

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
    """Return why no child answers, a sentence for people; empty if one does.

    Two attempts: a killed fork server takes the child that it was starting with it.
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
    """Return command lines and runtimes of processes.

    Args:
        asked: ID, start time and known executable of each, at most MAX_AT_ONCE.
        deadline_s: deadline for all of them, in seconds.

    Returns:
        Lines of the processes that were read, and the ID of one that exceeded the deadline or
        killed the child, or None. Processes that have ended are in neither.

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
    """Return True if the environment or the program set GOMAXPROCS; None if unknown.

    It is unknown without debug information (-ldflags=-w), or if the memory is inaccessible. Slow
    for a large program.
    """
    try:
        return ask("go_chosen", about_process(pid, start_ticks), PROGRAM_S, _ChosenLine).chosen
    except (NoAnswerError, UnreadableError, DamagedError):
        return None


def ask_go_environment(pid: int, start_ticks: int) -> dict[str, str]:
    """Return GOMAXPROCS and GODEBUG of the environment that a process was started with.

    Raises:
        NoAnswerError: the memory does not answer.
        UnreadableError: the environment is inaccessible.
    """
    about = about_process(pid, start_ticks)
    return ask("go_environment", about, PROCESSES_S, _VariablesLine).variables


def ask_gomaxprocs(pid: int, start_ticks: int) -> tuple[GoLine, int, socket.socket]:
    """Start a child that reads GOMAXPROCS; see `go_questions.gomaxprocs`.

    Returns:
        The description of the program, the child's number and the connection to it;
        `children().give_up` ends both.

    Raises:
        NoAnswerError: no child can be asked, or it exceeds its time or memory.
        UnreadableError: the executable is inaccessible, or the program has changed.
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
        connection.close()  # the child has ended
        raise
    return line, number, connection


def _first_line(connection: socket.socket, deadline_s: float) -> bytes:
    """Return a line without its line break, or the part that arrived before the deadline."""
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
    """Return TCP ports by process ID, ascending; processes without ports are left out.

    Unknown ports are left out.

    Args:
        identities: ID and start time of each process.
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
        NoAnswerError: a file system does not answer.
        UnreadableError: the process has ended, or is inaccessible.
    """
    about = about_process(pid, start_ticks)
    found = ask("agent_socket", about, PROCESSES_S, _SocketLine).socket
    return found and SocketId(*found)


def connect_agent(pid: int, start_ticks: int, timeout_s: float) -> socket.socket:
    """Connect to an agent; see `questions.agent`.

    Args:
        pid: ID of the agent's process.
        start_ticks: start time of the process, in clock ticks since boot.
        timeout_s: timeout for connecting, in seconds.

    Raises:
        NotConnectedError: no connection could be made; the text says why.
        NoAnswerError: a file system does not answer.
        UnreadableError: the process has ended, or is inaccessible.
    """
    about = about_process(pid, start_ticks) | Arguments(timeout_s=timeout_s)
    return _connect("agent", about, timeout_s, f"agent of process {pid}")


def connect_predictions(timeout_s: float) -> socket.socket:
    """Connect to the prediction service; see `questions.prediction_service`.

    Raises:
        NoAnswerError: no child can be asked.
        UnreadableError: the service does not run.
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
    """Return thread names by thread ID; see `java_threads.java_names`.

    Raises:
        NoAnswerError: the machine does not answer, or must not be asked; the text says why.
    """
    about = about_process(pid, start_ticks)
    found = read_lines(ask_text("java_names", about, NAMES_S), _ThreadLine)
    return {one.tid: one.name for one in found}


def ask_go_threads(pid: int, start_ticks: int) -> dict[int, str]:
    """Return Go runtime threads by thread ID; see `go_questions.go_threads`.

    Raises:
        NoAnswerError: the program does not answer, or has no symbols; the text says which.
    """
    about = about_process(pid, start_ticks)
    found = read_lines(ask_text("go_threads", about, PROGRAM_S), _ThreadLine)
    return {one.tid: one.name for one in found}


def ask_python_threads(pid: int, start_ticks: int) -> dict[int, str]:
    """Return start functions by thread ID; see `python_threads.python_threads`.

    Raises:
        NoAnswerError: the program does not answer, or its interpreter is not known.
    """
    about = about_process(pid, start_ticks)
    found = read_lines(ask_text("python_threads", about, PROGRAM_S), _ThreadLine)
    return {one.tid: one.name for one in found}


_ID = re.compile(r"[0-9a-f]{64}")


class _ContainerLine(Line):
    id: str = Field(pattern="^[0-9a-f]{64}$")
    name: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$")
    pod: str | None = Field(pattern=r"^[a-z0-9-]{1,63}/[a-z0-9.-]{1,253}$")


def ask_container_names(
    containers: Iterable[str], users: Iterable[int]
) -> Mapping[str, ContainerName]:
    """Return container names by container ID; see `container_files.container_names`.

    Args:
        containers: container IDs; invalid ones get no name.
        users: users with own containers among them.

    Raises:
        NoAnswerError: the names are unreadable; the text says why.
    """
    ids = [one for one in containers if _ID.fullmatch(one)]
    found: dict[str, ContainerName] = {}
    for begin in range(0, len(ids), MAX_CONTAINERS):
        about = Arguments(containers=ids[begin : begin + MAX_CONTAINERS], users=list(users))
        lines = read_lines(ask_text("container_names", about, PROCESSES_S), _ContainerLine)
        found |= {one.id: ContainerName(one.name, one.pod) for one in lines}
    return found
