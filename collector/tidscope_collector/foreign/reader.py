"""The collector's side of the questions: asked with a deadline, answers believed only in form."""

import atexit
import functools
import logging
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from tidscope_wire.generated.models import Runtime

from tidscope_collector.confinement.children import ENDED, ChildError, LimitedChildren
from tidscope_collector.foreign.agent_sockets import SocketId, Trouble
from tidscope_collector.foreign.answering import PROCESSES_S, PROGRAM_S, Arguments
from tidscope_collector.foreign.opened_process import Key
from tidscope_collector.procfs.files import ProcFs

MOST_AT_ONCE = 64
"""Processes that one child is asked about: each takes up to six descriptors."""

log = logging.getLogger("tidscope.processes")

_MOST_PIDS = 4096  # in one question
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
    """What is known of an executable with regard to Go; see `questions.go_program`."""

    go: bool
    version: str | None = Field(max_length=128)
    settings: dict[str, str]
    symbols: bool
    size: int | None
    address: int | None
    auxv: str


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


class _OpenedLine(_Line):
    opened: bool


class _PortsLine(_Line):
    ports: list[Annotated[tuple[int, list[int]], Field(strict=False)]]


class _PortLine(_Line):
    refusal: str = Field(max_length=1024)
    files: list[Annotated[tuple[int, str], Field(strict=False)]]


class _SocketLine(_Line):
    socket: Annotated[tuple[str, int, int, int], Field(strict=False)] | None


class _TroubleLine(_Line):
    trouble: Trouble
    text: str = Field(max_length=16384)


_Answer = TypeVar(
    "_Answer", GoLine, _ChosenLine, _VariablesLine, _OpenedLine, _PortLine, _PortsLine, _SocketLine
)


@functools.cache
def children() -> LimitedChildren:
    """The children of this process; the first call starts their fork server."""
    made = LimitedChildren("tidscope_collector.foreign.questions")
    atexit.register(made.close)
    return made


def reader_trouble() -> str:
    """Why no child answers, a sentence for people; empty if one does.

    Two are asked: a fork server that is killed takes the one that it was starting with it.
    """
    about: Arguments = {"root": "/proc", "pids": []}
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
    procfs: ProcFs, asked: Sequence[tuple[int, int, Key | None]], deadline_s: float
) -> tuple[list[ProcessLine], int | None]:
    """Command lines and runtimes of processes.

    Args:
        procfs: where they are.
        asked: id, start and known executable of each, at most MOST_AT_ONCE.
        deadline_s: for all of them.

    Returns:
        Those that were read, and the id of the one that took until the deadline or ended the child;
        None if all were asked for. One that has ended is in neither.

    Raises:
        NoAnswerError: no child can be asked.
    """
    arguments: Arguments = {"root": str(procfs.root), "processes": list(asked)}
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


def ask_go_program(procfs: ProcFs, pid: int, start_ticks: int) -> GoLine:
    """See `questions.go_program`.

    Raises:
        NoAnswerError: it takes too long, or too much memory.
        UnreadableError: the executable may not be read.
        DamagedError: it is no ELF file, or a damaged one.
    """
    return _ask("go_program", _about(procfs, pid, start_ticks), PROGRAM_S, GoLine)


def ask_go_chosen(procfs: ProcFs, pid: int, start_ticks: int) -> bool | None:
    """Whether the environment or the program itself set GOMAXPROCS; None if that cannot be read.

    It cannot when the program has no debug information (built with -ldflags=-w), or when this user
    may not read its memory. Takes a while for a large program.
    """
    try:
        return _ask("go_chosen", _about(procfs, pid, start_ticks), PROGRAM_S, _ChosenLine).chosen
    except (NoAnswerError, UnreadableError, DamagedError):
        return None


def ask_environment(
    procfs: ProcFs, pid: int, start_ticks: int, names: Sequence[str]
) -> dict[str, str]:
    """Variables of the environment that a process was started with, those of them that it has.

    Raises:
        NoAnswerError: its memory does not answer.
        UnreadableError: it may not be read.
    """
    about = _about(procfs, pid, start_ticks) | Arguments(names=list(names))
    return _ask("environment", about, PROCESSES_S, _VariablesLine).variables


def open_memory(
    procfs: ProcFs, pid: int, start_ticks: int, address: int, auxv: str
) -> tuple[int, socket.socket]:
    """Start a child that reads GOMAXPROCS; see `questions.memory`.

    Args:
        procfs: where the process is.
        pid: its id.
        start_ticks: its start.
        address: of the variable, as `ask_go_program` gives it.
        auxv: the same.

    Returns:
        The number of the child and the connection to it; `children().give_up` ends both.

    Raises:
        NoAnswerError: no child can be asked, or it did not answer.
        UnreadableError: the memory may not be read, or the program is another one by now.
    """
    about = _about(procfs, pid, start_ticks) | Arguments(address=address, auxv=auxv)
    try:
        number, connection = children().begin("memory", about)
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    try:
        connection.settimeout(PROGRAM_S)
        # It says no more than this line before it is asked.
        _parse(connection.recv(256), _OpenedLine, pid)
    except (NoAnswerError, UnreadableError, DamagedError, OSError) as error:
        children().give_up(number, connection)
        if isinstance(error, OSError):
            raise NoAnswerError(f"The memory of process {pid} does not answer.") from error
        raise
    return number, connection


def ask_ports(procfs: ProcFs, pids: Sequence[int]) -> dict[int, list[int]]:
    """TCP ports on which processes listen, ascending; none of those that listen on none.

    What cannot be found out is left out.
    """
    found: dict[int, list[int]] = {}
    for begin in range(0, len(pids), _MOST_PIDS):
        about: Arguments = {
            "root": str(procfs.root),
            "pids": list(pids[begin : begin + _MOST_PIDS]),
        }
        try:
            found |= dict(_ask("ports", about, PROCESSES_S, _PortsLine).ports)
        except (NoAnswerError, UnreadableError, DamagedError) as error:
            log.warning("the ports of processes cannot be found: %s", error)
            break
    return found


def ask_port(
    procfs: ProcFs, pid: int, start_ticks: int, port: int, known: Mapping[int, str]
) -> tuple[str, dict[int, str]]:
    """See `ports.check_port`.

    Raises:
        NoAnswerError: no child can be asked.
    """
    about = _about(procfs, pid, start_ticks) | Arguments(port=port, files=list(known.items()))
    found = _ask("port", about, PROCESSES_S, _PortLine)
    return found.refusal, dict(found.files)


def ask_agent_socket(
    procfs: ProcFs, pid: int, start_ticks: int, paths: Sequence[str]
) -> SocketId | None:
    """See `questions.agent_socket`.

    Raises:
        NoAnswerError: a file system on the way does not answer.
        UnreadableError: the process has ended, or may not be looked at.
    """
    about = _about(procfs, pid, start_ticks) | Arguments(paths=list(paths))
    found = _ask("agent_socket", about, PROCESSES_S, _SocketLine).socket
    return found and SocketId(*found)


def connect_agent(
    procfs: ProcFs,
    pid: int,
    start_ticks: int,
    paths: Sequence[str],
    uids: Sequence[int],
    timeout_s: float,
) -> socket.socket:
    """A connection to an agent; see `questions.agent`.

    Args:
        procfs: where the process is.
        pid: its id.
        start_ticks: its start.
        paths: where its socket may be, as the process sees it.
        uids: users that it may be of.
        timeout_s: for connecting.

    Raises:
        NotConnectedError: there is none; why.
        NoAnswerError: a file system on the way does not answer.
        UnreadableError: the process has ended, or may not be looked at.
    """
    about = _about(procfs, pid, start_ticks) | Arguments(
        paths=list(paths), uids=list(uids), timeout_s=timeout_s
    )
    try:
        number, answer = children().begin("agent", about)
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    try:
        answer.settimeout(PROCESSES_S + timeout_s)
        text, files, _, _ = socket.recv_fds(answer, _ANSWER_BYTES, 1)
    except OSError as error:
        children().give_up(number, answer)
        raise NoAnswerError(f"The way to the agent of process {pid} does not answer.") from error
    answer.close()
    if files:
        return socket.socket(fileno=files[0])
    try:
        found = _TroubleLine.model_validate_json(text)
    except ValidationError:
        _parse(text, _OpenedLine, pid)
        raise NoAnswerError(f"No connection came from the agent of process {pid}.") from None
    raise NotConnectedError(found.trouble, found.text)


def connect_predictions(path: str, timeout_s: float) -> socket.socket:
    """A connection to the prediction service; see `questions.prediction_service`.

    Raises:
        NoAnswerError: no child can be asked.
        UnreadableError: nobody serves there.
    """
    about = Arguments(paths=[path], timeout_s=timeout_s)
    try:
        number, answer = children().begin("prediction_service", about)
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    try:
        answer.settimeout(PROCESSES_S + timeout_s)
        text, files, _, _ = socket.recv_fds(answer, _ANSWER_BYTES, 1)
    except OSError as error:
        children().give_up(number, answer)
        raise NoAnswerError("The way to the prediction service does not answer.") from error
    answer.close()
    if files:
        return socket.socket(fileno=files[0])
    _parse(text, _OpenedLine, 0)
    raise NoAnswerError("No connection came from the prediction service.")


def _about(procfs: ProcFs, pid: int, start_ticks: int) -> Arguments:
    return {"root": str(procfs.root), "pid": pid, "start_ticks": start_ticks}


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
