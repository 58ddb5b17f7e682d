"""Answers of limited children that are lines of JSON with an end: asked for and checked."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidscope_collector.confinement.children import ChildError
from tidscope_collector.inspection.agent_sockets import Trouble
from tidscope_collector.inspection.answering import Arguments
from tidscope_collector.inspection.reader import NoAnswerError, children

_ANSWER_BYTES = 4 << 20


class Line(BaseModel):
    """One line; nothing else than its fields may be in it."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _DamagedLine(Line):
    damaged: str = Field(max_length=1024)


class _TroubleLine(Line):
    trouble: Trouble
    text: str = Field(max_length=16384)


_Row = TypeVar("_Row", bound=Line)


def ask_text(question: str, about: Arguments, deadline_s: float, data: bytes = b"") -> bytes:
    """What a child answers, as far as it comes before the deadline.

    Raises:
        NoAnswerError: no child can be asked.
    """
    try:
        reply = children().ask(
            question, about, deadline_s=deadline_s, most_bytes=_ANSWER_BYTES, data=data
        )
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    return reply.data


def read_lines(text: bytes, kind: type[_Row]) -> list[_Row]:
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
