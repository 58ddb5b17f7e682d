"""Parser of profiles that Go programs serve: gzip around protobuf.

Strict: data that violates the format is an error. Format: proto/profile.proto of
github.com/google/pprof, and the encoding of Protocol Buffers.
"""

import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_BYTES = 4 << 20
MAX_INFLATED = 16 << 20
MAX_STACK = 256
LONGEST_NAME = 512

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
_MASK = (1 << 64) - 1
_MAX_LINE = (1 << 31) - 1


class PprofError(Exception):
    """The data is not the expected profile, is damaged, or is too large."""


class Frame(NamedTuple):
    """A function on a stack.

    Attributes:
        function: name with its package path.
        file: path of the source file; empty if unknown.
        line: line in it; 0 if unknown.
    """

    function: str
    file: str
    line: int


class Sample(NamedTuple):
    """A stack and its values.

    Attributes:
        stack: at most MAX_STACK frames, innermost first; inlined functions have their own.
        values: values of the wanted types, in their order.
    """

    stack: Sequence[Frame]
    values: tuple[int, ...]


class _Profile(NamedTuple):
    """Encoded parts of a profile."""

    types: list[bytes]
    samples: list[bytes]
    locations: list[bytes]
    functions: list[bytes]
    strings: list[bytes]


def read_samples(packed: bytes, wanted: Sequence[str]) -> Iterator[Sample]:
    """Yield the samples of a profile.

    Args:
        packed: body served below /debug/pprof.
        wanted: types of values.

    Raises:
        PprofError: it is no profile with these types.
    """
    profile = _split(_inflate(packed))
    text = [name[:LONGEST_NAME].decode("utf-8", "replace") for name in profile.strings]
    if not text or text[0]:
        raise PprofError("the table of strings does not begin with an empty one")
    places = _places([_text(text, _first(one, 1)) for one in profile.types], wanted)
    functions = {
        _first(one, 1): (_text(text, _first(one, 2)), _text(text, _first(one, 4)))
        for one in profile.functions
    }
    stacks = {_first(one, 1): _frames(one, functions) for one in profile.locations}
    for sample in profile.samples:
        yield Sample(_stack(sample, stacks), _values(sample, places))


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


def _places(types: list[str], wanted: Sequence[str]) -> list[int]:
    missing = [name for name in wanted if name not in types]
    if missing:
        raise PprofError(f"it has no values of the type {missing[0]}: it is another profile")
    return [types.index(name) for name in wanted]


def _values(sample: bytes, places: Sequence[int]) -> tuple[int, ...]:
    values = list(_numbers(sample, 2))
    if len(values) <= max(places):
        raise PprofError("a sample has too few values")
    found = tuple(values[place] for place in places)
    if max(found) >= 1 << 63:
        raise PprofError("a sample has a negative value")
    return found


def _stack(sample: bytes, stacks: dict[int, list[Frame]]) -> list[Frame]:
    found: list[Frame] = []
    for place in _numbers(sample, 1):
        if len(found) >= MAX_STACK:
            break
        if place not in stacks:
            raise PprofError("a sample is at a location that does not exist")
        found += stacks[place]
    return found[:MAX_STACK]


def _frames(location: bytes, functions: dict[int, tuple[str, str]]) -> list[Frame]:
    """Return functions at a location, innermost first; inlined calls give several."""
    found = []
    for number, value in _fields(location):
        if number == 4:
            if not isinstance(value, bytes):
                raise PprofError("a line is a number")
            function = functions.get(_first(value, 1))
            if function is None:
                raise PprofError("a line is in a function that does not exist")
            line = _first(value, 2)
            found.append(Frame(*function, line if line <= _MAX_LINE else 0))
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
