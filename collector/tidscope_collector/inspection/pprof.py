"""Parser of mutex profiles that Go programs serve: gzip around protobuf.

Strict: data that violates the format is an error. Format: proto/profile.proto of
github.com/google/pprof, and the encoding of Protocol Buffers. The question at the end runs in a
limited child.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.answering import MEMORY_BYTES, PROCESSES_S, Arguments, say
from tidscope_collector.inspection.process_files import read_beginning

MAX_FUNCTIONS = 128

MAX_BYTES = 4 << 20
MAX_INFLATED = 16 << 20
MAX_STACK = 256
LONGEST_NAME = 512

_WANTED = ("delay", "contentions")
_NOT_THE_PROGRAM = ("sync.", "internal/sync.", "runtime.", "internal/runtime/")
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
_MASK = (1 << 64) - 1


class PprofError(Exception):
    """The data is no mutex profile, is damaged, or is too large."""


class Contention(NamedTuple):
    """Waits for mutexes that one function released.

    Attributes:
        function: innermost function of the program itself.
        delay_ns: total time that others waited, in nanoseconds.
        waits: number of waits.
    """

    function: str
    delay_ns: int
    waits: int


class _Profile(NamedTuple):
    """Encoded parts of a profile."""

    types: list[bytes]
    samples: list[bytes]
    locations: list[bytes]
    functions: list[bytes]
    strings: list[bytes]


def read_contentions(packed: bytes) -> list[Contention]:
    """Return contention by function, longest delay first.

    Args:
        packed: body served at /debug/pprof/mutex.

    Raises:
        PprofError: it is no mutex profile.
    """
    profile = _split(_inflate(packed))
    text = [name[:LONGEST_NAME].decode("utf-8", "replace") for name in profile.strings]
    if not text or text[0]:
        raise PprofError("the table of strings does not begin with an empty one")
    places = _places([_text(text, _first(one, 1)) for one in profile.types])
    functions = {_first(one, 1): _text(text, _first(one, 2)) for one in profile.functions}
    stacks = {_first(one, 1): _lines(one, functions) for one in profile.locations}
    found: dict[str, tuple[int, int]] = {}
    for sample in profile.samples:
        delay, waits = _values(sample, places)
        name = _own_function(sample, stacks)
        before = found.get(name, (0, 0))
        found[name] = (before[0] + delay, before[1] + waits)
    longest = sorted(found.items(), key=lambda one: -one[1][0])
    return [Contention(name, delay, waits) for name, (delay, waits) in longest]


def _inflate(packed: bytes) -> bytes:
    if len(packed) > MAX_BYTES:
        raise PprofError(f"more than {MAX_BYTES} bytes")
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        plain = inflater.decompress(packed, MAX_INFLATED)
    except zlib.error as error:
        raise PprofError(f"not gzip: {error}") from error
    if not inflater.eof:
        raise PprofError(f"cut off, or more than {MAX_INFLATED} bytes when uncompressed")
    return plain


def _split(data: bytes) -> _Profile:
    profile = _Profile([], [], [], [], [])
    parts = {1: profile.types, 2: profile.samples, 4: profile.locations, 5: profile.functions}
    parts[6] = profile.strings
    for number, value in _fields(data):
        if number in parts:
            if not isinstance(value, bytes):
                raise PprofError(f"field {number} of the profile is a number")
            parts[number].append(value)
    return profile


def _places(types: list[str]) -> tuple[int, int]:
    try:
        delay, contentions = (types.index(name) for name in _WANTED)
    except ValueError:
        raise PprofError("it has no delays and contentions: not a profile of mutexes") from None
    return delay, contentions


def _values(sample: bytes, places: tuple[int, int]) -> tuple[int, int]:
    values = list(_numbers(sample, 2))
    if len(values) <= max(places):
        raise PprofError("a sample has too few values")
    delay, waits = (values[place] for place in places)
    if delay >= 1 << 63 or waits >= 1 << 63:
        raise PprofError("a sample has a negative value")
    return delay, waits


def _own_function(sample: bytes, stacks: dict[int, list[str]]) -> str:
    """Return the innermost function outside Go's lock library, or else the innermost one."""
    innermost = ""
    for count, place in enumerate(_numbers(sample, 1)):
        if count >= MAX_STACK:
            break
        if place not in stacks:
            raise PprofError("a sample is at a location that does not exist")
        for function in stacks[place]:
            innermost = innermost or function
            if not function.startswith(_NOT_THE_PROGRAM):
                return function
    return innermost


def _lines(location: bytes, functions: dict[int, str]) -> list[str]:
    """Return functions at a location, innermost first; inlined calls give several."""
    found = []
    for number, value in _fields(location):
        if number == 4:
            if not isinstance(value, bytes):
                raise PprofError("a line is a number")
            name = functions.get(_first(value, 1))
            if name is None:
                raise PprofError("a line is in a function that does not exist")
            found.append(name)
    return found[:MAX_STACK]


def _text(strings: list[str], place: int) -> str:
    if place >= len(strings):
        raise PprofError("a name is behind the table of strings")
    return strings[place]


def _first(message: bytes, wanted: int) -> int:
    """Return a number of a message, or 0 if absent, as the encoding defines."""
    for number, value in _fields(message):
        if number == wanted:
            if isinstance(value, bytes):
                raise PprofError(f"field {wanted} is no number")
            return value
    return 0


def _numbers(message: bytes, wanted: int) -> Iterator[int]:
    """Yield a repeated number of a message, packed or not."""
    for number, value in _fields(message):
        if number != wanted:
            continue
        if isinstance(value, int):
            yield value
            continue
        place = 0
        while place < len(value):
            one, place = _varint(value, place)
            yield one


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, place = _varint(message, place)
            yield number, value
            continue
        if kind == _BYTES:
            size, place = _varint(message, place)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise PprofError(f"a field of kind {kind}")
        if place + size > len(message):
            raise PprofError("a field is cut off")
        yield number, message[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for count in range(_LONGEST_VARINT):
        if place + count >= len(data):
            raise PprofError("a number is cut off")
        byte = data[place + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value & _MASK, place + count + 1
    raise PprofError("a number is too long")


def mutex_profile(_: Arguments, answer: int) -> None:
    """Answer the content of a mutex profile, which is sent behind the question.

    Answers: {"damaged": reason}, or {"function", "delay_ns", "waits"} for the MAX_FUNCTIONS with
    the longest delays, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    confine()
    try:
        found = read_contentions(read_beginning(answer, MAX_BYTES + 1))
    except PprofError as error:
        say(answer, {"damaged": str(error)})
        return
    for one in found[:MAX_FUNCTIONS]:
        say(answer, one._asdict())
    say(answer, {})
