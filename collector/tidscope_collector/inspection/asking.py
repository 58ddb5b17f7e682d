"""Asking of limited children: deadlines, and validation of answers."""

import atexit
import json
import os
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from tidscope_predictd.client import socket_path

from tidscope_collector.confinement.children import ChildError, LimitedChildren
from tidscope_collector.inspection.agent_sockets import Trouble
from tidscope_collector.inspection.answering import Arguments, Places

ANSWER_BYTES = 1 << 20
"""Maximum size of an answer; a longer one is invalid."""
_TEXT_BYTES = 4 << 20


class NoAnswerError(Exception):
    """No child answers; the text is a sentence for people."""


class UnreadableError(Exception):
    """The kernel refuses access.

    Attributes:
        number: errno of the refusal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(os.strerror(number))
        self.number = number


class DamagedError(Exception):
    """An executable cannot be parsed; the text says why."""


class Line(BaseModel):
    """A JSON object in an answer; unknown fields make it invalid."""

    model_config = ConfigDict(extra="forbid", strict=True)


class TroubleLine(Line):
    """A connection that could not be made: its kind and a sentence for people."""

    trouble: Trouble
    text: str = Field(max_length=16384)


class _UnreadableLine(Line):
    unreadable: int


class DamagedLine(Line):
    """The reason why a program or its data cannot be parsed."""

    damaged: str = Field(max_length=1024)


_Answer = TypeVar("_Answer", bound=Line)


def make_children(places: Places) -> LimitedChildren:
    """Start a fork server whose children look only at these places."""
    settings = json.dumps(list(places))
    return LimitedChildren("tidscope_collector.inspection.questions", settings=settings)


_STARTED: list[LimitedChildren] = []


def start_children(fetched: str = "") -> LimitedChildren:
    """Start the fork server of this process, before the collector gives up its rights.

    Args:
        fetched: folder of debug files that the backend fetches; empty: none.
    """
    made = make_children(Places(predictions=str(socket_path()), fetched=fetched))
    atexit.register(made.close)
    _STARTED.append(made)
    return made


def children() -> LimitedChildren:
    """Return the children of this process; the first call starts their fork server if need be."""
    return _STARTED[0] if _STARTED else start_children()


def about_process(pid: int, start_ticks: int) -> Arguments:
    """Return the arguments that identify a process."""
    return {"pid": pid, "start_ticks": start_ticks}


def ask(question: str, about: Arguments, deadline_s: float, kind: type[_Answer]) -> _Answer:
    """Ask for a single line.

    Raises:
        NoAnswerError: no child answers within the deadline.
        UnreadableError: the kernel refuses access.
        DamagedError: the executable cannot be parsed.
    """
    try:
        reply = children().ask(question, about, deadline_s=deadline_s, most_bytes=ANSWER_BYTES)
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    return parse(reply.data, kind, about.get("pid", 0))


def parse(text: bytes, kind: type[_Answer], pid: int) -> _Answer:
    """Check a single line of an answer; raises as `ask`."""
    try:
        return kind.model_validate_json(text)
    except ValidationError:
        pass
    try:
        raise UnreadableError(_UnreadableLine.model_validate_json(text).unreadable)
    except ValidationError:
        pass
    try:
        raise DamagedError(DamagedLine.model_validate_json(text).damaged)
    except ValidationError:
        raise NoAnswerError(
            f"Process {pid} cannot be examined: its files or its memory do not answer, or take "
            "more time or memory than tidscope gives them."
        ) from None


def ask_text(question: str, about: Arguments, deadline_s: float, data: bytes = b"") -> bytes:
    """Return a child's answer, as far as it arrives before the deadline.

    Raises:
        NoAnswerError: no child can be asked.
    """
    try:
        reply = children().ask(
            question, about, deadline_s=deadline_s, most_bytes=_TEXT_BYTES, data=data
        )
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    return reply.data


def read_lines(text: bytes, kind: type[_Answer]) -> list[_Answer]:
    """Return all lines of a complete answer.

    Raises:
        NoAnswerError: the answer is incomplete, or reports an error.
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
        return TroubleLine.model_validate_json(line).text
    except ValidationError:
        pass
    try:
        return f"It cannot be read: {DamagedLine.model_validate_json(line).damaged}."
    except ValidationError:
        return "It does not answer, or takes more time or memory than tidscope gives it."
