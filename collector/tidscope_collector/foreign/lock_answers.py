"""The collector's side of the questions about locks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidscope_collector.confinement.children import ChildError
from tidscope_collector.foreign.agent_sockets import Trouble
from tidscope_collector.foreign.answering import PROCESSES_S, PROGRAM_S, Arguments
from tidscope_collector.foreign.lock_kinds import Found, Place
from tidscope_collector.foreign.lock_layouts import Kind
from tidscope_collector.foreign.lock_questions import DUMP_S
from tidscope_collector.foreign.reader import NoAnswerError, children
from tidscope_collector.procfs.files import ProcFs

_ANSWER_BYTES = 4 << 20
_CONNECT_S = 1.0
_Address = Annotated[int, Field(ge=0, lt=1 << 64)]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _HeadLine(_Line):
    auxv: str = Field(max_length=8192)
    join_place: _Address


class _FoundLine(_Line):
    address: _Address
    kind: Kind
    name: str = Field(max_length=1024)
    base: _Address
    place: Place
    file: str = Field(max_length=4096)


class GoServing(_Line):
    """See `lock_questions.go_serving`."""

    profile: bool
    metrics: bool


class ContentionLine(_Line):
    """Waits for mutexes that one function of a Go program released."""

    function: str = Field(max_length=1024)
    delay_ns: int = Field(ge=0, lt=1 << 63)
    waits: int = Field(ge=0, lt=1 << 63)


class BlockedLine(_Line):
    """A thread of a Java virtual machine that waits for a lock; its id is 0 if it is not known."""

    tid: int = Field(ge=0, lt=1 << 32)
    lock: str = Field(max_length=1024)
    method: str = Field(max_length=1024)


class _DamagedLine(_Line):
    damaged: str = Field(max_length=1024)


class _TroubleLine(_Line):
    trouble: Trouble
    text: str = Field(max_length=16384)


_Row = TypeVar("_Row", ContentionLine, BlockedLine)


@dataclass(frozen=True, slots=True)
class LockAnswer:
    """What lies at addresses.

    Attributes:
        program: another one after each execution of a program.
        join_place: what the next question is to say.
        found: by address; those that could be examined.
    """

    program: str
    join_place: int
    found: Mapping[int, Found]


def ask_lock_addresses(
    procfs: ProcFs, pid: int, start_ticks: int, addresses: Sequence[int], join_place: int
) -> LockAnswer:
    """See `lock_addresses.lock_addresses`.

    Raises:
        NoAnswerError: the process has ended, may not be looked at, or does not answer.
    """
    about = _about(procfs, pid, start_ticks)
    about |= Arguments(addresses=list(addresses), join_place=join_place)
    head, *lines = _ask("lock_addresses", about, PROGRAM_S).split(b"\n")
    try:
        first = _HeadLine.model_validate_json(head)
    except ValidationError as error:
        raise NoAnswerError(f"The locks of process {pid} cannot be examined.") from error
    found: dict[int, Found] = {}
    for text in lines:
        try:
            line = _FoundLine.model_validate_json(text)
        except ValidationError:
            break  # the end, or where the child was ended
        found[line.address] = Found(line.kind, line.name, line.base, line.place, line.file)
    return LockAnswer(first.auxv, first.join_place, found)


def ask_go_serving(procfs: ProcFs, pid: int, start_ticks: int) -> GoServing:
    """See `lock_questions.go_serving`.

    Raises:
        NoAnswerError: the process has ended, may not be looked at, or does not answer.
    """
    text = _ask("go_serving", _about(procfs, pid, start_ticks), PROGRAM_S)
    try:
        return GoServing.model_validate_json(text)
    except ValidationError as error:
        raise NoAnswerError(f"The executable of process {pid} cannot be read.") from error


def ask_mutex_profile(profile: bytes) -> list[ContentionLine]:
    """See `lock_questions.mutex_profile`.

    Raises:
        NoAnswerError: it is no such profile, or takes too long.
    """
    return _lines(_ask("mutex_profile", {}, PROCESSES_S, profile), ContentionLine)


def ask_java_blocked(procfs: ProcFs, pid: int, start_ticks: int) -> list[BlockedLine]:
    """See `lock_questions.java_blocked`.

    Raises:
        NoAnswerError: its attach socket is not open or does not answer; the text says why.
    """
    about = _about(procfs, pid, start_ticks) | Arguments(timeout_s=_CONNECT_S)
    return _lines(_ask("java_blocked", about, DUMP_S), BlockedLine)


def _about(procfs: ProcFs, pid: int, start_ticks: int) -> Arguments:
    return {"root": str(procfs.root), "pid": pid, "start_ticks": start_ticks}


def _ask(question: str, about: Arguments, deadline_s: float, data: bytes = b"") -> bytes:
    try:
        reply = children().ask(
            question, about, deadline_s=deadline_s, most_bytes=_ANSWER_BYTES, data=data
        )
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    return reply.data


def _lines(text: bytes, kind: type[_Row]) -> list[_Row]:
    """All lines of an answer that has an end.

    Raises:
        NoAnswerError: it has none, or says why there is nothing.
    """
    *lines, end, rest = text.split(b"\n") if text.count(b"\n") else (b"", b"")
    try:
        if (end, rest) == (b"{}", b""):
            return [kind.model_validate_json(line) for line in lines]
        raise NoAnswerError(_reason(end))
    except ValidationError as error:
        raise NoAnswerError("A child answered something else than it was asked.") from error


def _reason(line: bytes) -> str:
    try:
        return _TroubleLine.model_validate_json(line).text
    except ValidationError:
        pass
    try:
        return f"It cannot be read: {_DamagedLine.model_validate_json(line).damaged}."
    except ValidationError:
        return "It does not answer, or takes more time or memory than tidscope gives it."
