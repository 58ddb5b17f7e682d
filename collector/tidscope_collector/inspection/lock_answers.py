"""Client of the questions about locks."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, ValidationError

from tidscope_collector.inspection.answering import PROCESSES_S, PROGRAM_S, Arguments
from tidscope_collector.inspection.asking import (
    Line,
    NoAnswerError,
    about_process,
    ask_text,
    read_lines,
)
from tidscope_collector.inspection.demangling import LONGEST_NAME, SEPARATOR, is_mangled
from tidscope_collector.inspection.java_threads import DUMP_S
from tidscope_collector.inspection.lock_kinds import Found, Kind, Place

_Address = Annotated[int, Field(ge=0, lt=1 << 64)]


class _HeadLine(Line):
    program: str = Field(max_length=64)
    join_place: _Address


class _FoundLine(Line):
    address: _Address
    kind: Kind
    name: str = Field(max_length=1024)
    base: _Address
    place: Place
    file: str = Field(max_length=4096)
    shared: str = Field(max_length=128)
    holder: int = Field(ge=0, lt=1 << 32)
    held: bool


class _NameLine(Line):
    name: str = Field(max_length=LONGEST_NAME)


class GoServing(Line):
    """See `go_questions.go_serving`."""

    profile: bool
    metrics: bool


class ContentionLine(Line):
    """Waits for mutexes that one function of a Go program released."""

    function: str = Field(max_length=1024)
    delay_ns: int = Field(ge=0, lt=1 << 63)
    waits: int = Field(ge=0, lt=1 << 63)


class BlockedLine(Line):
    """A thread of a Java virtual machine that waits for a lock; `tid` is 0 if unknown."""

    tid: int = Field(ge=0, lt=1 << 32)
    lock: str = Field(max_length=1024)
    method: str = Field(max_length=1024)


@dataclass(frozen=True, slots=True)
class LockAnswer:
    """Locks at addresses.

    Attributes:
        program: differs for each execution of a program.
        join_place: argument for the next question.
        found: examined addresses and their locks.
    """

    program: str
    join_place: int
    found: Mapping[int, Found]


def ask_lock_addresses(
    pid: int,
    start_ticks: int,
    addresses: Sequence[int],
    join_place: int,
    waiters: Mapping[int, int],
) -> LockAnswer:
    """See `lock_addresses.lock_addresses`.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        addresses: addresses that threads wait at.
        join_place: that of the answer before, or 0.
        waiters: a thread that has waited for a while, by the address at which it waits.

    Raises:
        NoAnswerError: the process has ended, is inaccessible, or does not answer.
    """
    about = about_process(pid, start_ticks)
    about |= Arguments(
        addresses=list(addresses),
        join_place=join_place,
        waiters=[waiters.get(address, 0) for address in addresses],
    )
    head, *lines = ask_text("lock_addresses", about, PROGRAM_S).split(b"\n")
    try:
        first = _HeadLine.model_validate_json(head)
    except ValidationError as error:
        raise NoAnswerError(f"The locks of process {pid} cannot be examined.") from error
    found: dict[int, Found] = {}
    for text in lines:
        try:
            line = _FoundLine.model_validate_json(text)
        except ValidationError:
            break  # the end, or the point at which the child was killed
        found[line.address] = Found(
            *(line.kind, line.name, line.base, line.place, line.file, line.shared),
            *(line.holder, line.held),
        )
    readable = ask_readable_names({_symbol(one.name) for one in found.values()})
    for address, one in found.items():
        symbol = _symbol(one.name)
        if symbol in readable:
            name = readable[symbol] + one.name.removeprefix(symbol)
            found[address] = one._replace(name=name)
    return LockAnswer(first.program, first.join_place, found)


def _symbol(name: str) -> str:
    """Return the name of a variable without an offset in it."""
    return name.partition("+")[0]


def ask_readable_names(names: Collection[str]) -> dict[str, str]:
    """Return mangled names with their demangled form; empty if no child answers.

    Args:
        names: any symbols.
    """
    mangled = sorted(filter(is_mangled, names))
    if not mangled:
        return {}
    try:
        data = SEPARATOR.join(mangled).encode(errors="replace")
        lines = read_lines(ask_text("readable_names", {}, PROCESSES_S, data), _NameLine)
        return dict(zip(mangled, (one.name for one in lines), strict=True))
    except (NoAnswerError, ValueError):
        return {}


def ask_go_serving(pid: int, start_ticks: int) -> GoServing:
    """See `go_questions.go_serving`.

    Raises:
        NoAnswerError: the process has ended, is inaccessible, or does not answer.
    """
    text = ask_text("go_serving", about_process(pid, start_ticks), PROGRAM_S)
    try:
        return GoServing.model_validate_json(text)
    except ValidationError as error:
        raise NoAnswerError(f"The executable of process {pid} cannot be read.") from error


def ask_mutex_profile(profile: bytes) -> list[ContentionLine]:
    """See `go_profiles.mutex_profile`.

    Raises:
        NoAnswerError: the profile is invalid, or parsing takes too long.
    """
    return read_lines(ask_text("mutex_profile", {}, PROCESSES_S, profile), ContentionLine)


def ask_java_blocked(pid: int, start_ticks: int) -> list[BlockedLine]:
    """See `java_threads.java_blocked`.

    Raises:
        NoAnswerError: the attach socket is closed or does not answer; the text says why.
    """
    about = about_process(pid, start_ticks)
    return read_lines(ask_text("java_blocked", about, DUMP_S), BlockedLine)
