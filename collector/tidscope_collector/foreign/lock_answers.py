"""The collector's side of the questions about locks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidscope_collector.confinement.children import ChildError
from tidscope_collector.foreign.answering import PROGRAM_S, Arguments
from tidscope_collector.foreign.lock_kinds import Found, Place
from tidscope_collector.foreign.lock_layouts import Kind
from tidscope_collector.foreign.reader import NoAnswerError, children
from tidscope_collector.procfs.files import ProcFs

_ANSWER_BYTES = 4 << 20
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
    about: Arguments = {
        "root": str(procfs.root),
        "pid": pid,
        "start_ticks": start_ticks,
        "addresses": list(addresses),
        "join_place": join_place,
    }
    try:
        reply = children().ask(
            "lock_addresses", about, deadline_s=PROGRAM_S, most_bytes=_ANSWER_BYTES
        )
    except ChildError as error:
        raise NoAnswerError(str(error)) from error
    head, *lines = reply.data.split(b"\n")
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
