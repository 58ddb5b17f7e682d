"""Client of the question about names of native code."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field, ValidationError
from tidscope_wire.escaping import escape_controls

from tidscope_collector.inspection.answering import Arguments
from tidscope_collector.inspection.asking import (
    Line,
    NoAnswerError,
    UnreadableError,
    about_process,
    ask_text,
)
from tidscope_collector.inspection.mapped_files import Missing, number_of_name
from tidscope_collector.inspection.native_names import LONGEST_TEXT, MAX_INLINED, NAMES_S

DEADLINE_S = NAMES_S + 2
"""Deadline of the question, in seconds; the child ends itself before."""


class Place(NamedTuple):
    """A function, or a call inlined into it, and the place in its source.

    Attributes:
        function: demangled name; empty if unknown.
        file: path of the source file; empty if unknown.
        line: line, or 0 if unknown.
    """

    function: str
    file: str
    line: int


class Named(NamedTuple):
    """Names of an address.

    Attributes:
        outer: the function that is called.
        inlined: functions inlined there, the outermost first.
    """

    outer: Place
    inlined: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class NamesAnswer:
    """Names of addresses in a mapped file.

    Attributes:
        missing: why the file was not read.
        symbols: True if a symbol table for debugging was found.
        lines: True if DWARF was found.
        complete: False if the child was ended before it had answered everything.
        cpu_s: CPU time of the child in seconds, by its own account; infinite if it was ended.
        names: names by address; unknown addresses are left out.
    """

    missing: Missing
    symbols: bool
    lines: bool
    complete: bool
    cpu_s: float
    names: dict[int, Named]


class _UnreadableLine(Line):
    unreadable: int


class _HeadLine(Line):
    missing: Missing
    symbols: bool
    lines: bool


class _EndLine(Line):
    cpu_s: float = Field(ge=0, allow_inf_nan=False)


class _NamedLine(Line):
    address: int = Field(ge=0, lt=1 << 64)
    function: str = Field(max_length=LONGEST_TEXT)
    file: str = Field(max_length=LONGEST_TEXT)
    line: int = Field(ge=0, lt=1 << 32)
    inlined: list[tuple[str, str, int]] = Field(max_length=MAX_INLINED)


def ask_native_names(
    pid: int,
    start_ticks: int,
    module: str,
    build_id: str,
    addresses: Sequence[int],
    *,
    lines: bool = True,
) -> NamesAnswer:
    """See `native_names.native_names`.

    Args:
        pid: process that maps the file.
        start_ticks: start time of the process, in clock ticks since boot.
        module: base name of the file.
        build_id: build ID of the file, hexadecimal; empty if it has none.
        addresses: at most MAX_ADDRESSES.
        lines: False to leave DWARF alone.

    Raises:
        NoAnswerError: no child answers in time.
        UnreadableError: the process has ended, or is inaccessible.
    """
    about = about_process(pid, start_ticks)
    about |= Arguments(
        file_name=number_of_name(module.encode(errors="replace")),
        build_id=build_id,
        addresses=list(addresses),
        lines=lines,
    )
    head, *rows = ask_text("native_names", about, DEADLINE_S).split(b"\n")
    return parse_names(head, rows, addresses)


def parse_names(head: bytes, lines: Sequence[bytes], asked: Sequence[int]) -> NamesAnswer:
    """Check the lines of an answer; a hostile file may have taken the child over.

    Args:
        head: first line.
        lines: further lines.
        asked: addresses that were asked for; others are ignored.

    Raises:
        NoAnswerError: there is no valid first line.
        UnreadableError: the first line says that the process is inaccessible.
    """
    try:
        first = _HeadLine.model_validate_json(head)
    except ValidationError as error:
        raise _refusal(head) from error
    names: dict[int, Named] = {}
    expected = set(asked)
    cpu_s = math.inf
    for place, text in enumerate(lines):
        try:
            row = _NamedLine.model_validate_json(text)
        except ValidationError:
            # The end, or the point at which the child was ended.
            if lines[place + 1 :] == [b""]:
                cpu_s = _cpu_s(text)
            break
        if row.address in expected:
            outer, *inlined = [
                Place(_clean(function), _clean(file), line if 0 <= line < 1 << 32 else 0)
                for function, file, line in ((row.function, row.file, row.line), *row.inlined)
            ]
            names[row.address] = Named(outer, tuple(inlined))
    complete = cpu_s < math.inf
    return NamesAnswer(first.missing, first.symbols, first.lines, complete, cpu_s, names)


def _cpu_s(text: bytes) -> float:
    """Return the CPU time in the last line; infinite if it is another line."""
    try:
        return _EndLine.model_validate_json(text).cpu_s
    except ValidationError:
        return math.inf


def _clean(text: str) -> str:
    """Return a text that separates neither columns nor rows of `inlined`."""
    return escape_controls(text[:LONGEST_TEXT])


def _refusal(head: bytes) -> Exception:
    try:
        return UnreadableError(_UnreadableLine.model_validate_json(head).unreadable)
    except ValidationError:
        return NoAnswerError(
            "Its files do not answer, or take more time or memory than tidscope gives them."
        )
