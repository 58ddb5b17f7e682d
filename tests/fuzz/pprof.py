"""Any bytes as a profile of a Go program: parsing it ends, within its bounds, or refuses it."""

import gzip
from collections.abc import Sequence

from tidscope_collector.inspection.go_profiles import (
    MAX_FRAMES,
    MAX_STACKS,
    read_contentions,
    read_goroutines,
)
from tidscope_collector.inspection.pprof import LONGEST_NAME, PprofError

_STRINGS = (
    *("", "contentions", "count", "delay", "nanoseconds", "sync.(*Mutex).Unlock"),
    *("main.(*pool).use", "main.main", "runtime.unlock"),
)


def varint(value: int) -> bytes:
    """A number as protobuf encodes it."""
    data = b""
    while value > 0x7F:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def field(number: int, content: bytes | int) -> bytes:
    """A field of a message."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def packed(*values: int) -> bytes:
    """Repeated numbers in one field."""
    return b"".join(map(varint, values))


def _sample(locations: Sequence[int], waits: int, delay: int) -> bytes:
    return field(1, packed(*locations)) + field(2, packed(waits, delay))


def build_goroutines(stacks: Sequence[tuple[int, Sequence[tuple[str, str, int]]]]) -> bytes:
    """A goroutine profile as Go's runtime writes it.

    Args:
        stacks: number of goroutines, and frames, innermost first: function, file and line.
    """
    strings, data = ["", "goroutine", "count"], field(1, field(1, 1) + field(2, 2))
    for number, (count, frames) in enumerate(stacks):
        places = [1000 * number + place for place in range(1, len(frames) + 1)]
        data += field(2, field(1, packed(*places)) + field(2, packed(count)))
        for place, (function, file, line) in zip(places, frames, strict=True):
            strings += [function, file]
            name = field(2, len(strings) - 2) + field(4, len(strings) - 1)
            data += field(5, field(1, place) + name)
            data += field(4, field(1, place) + field(4, field(1, place) + field(2, line)))
    return gzip.compress(data + b"".join(field(6, text.encode()) for text in strings), mtime=0)


def build_profile(
    *,
    types: tuple[str, str] = ("contentions", "delay"),
    samples: Sequence[bytes] | None = None,
    first: str = "",
    function: int = 5,
) -> bytes:
    """A profile as Go's runtime writes it: the use of a mutex is inlined into its caller.

    Args:
        types: types of the values.
        samples: by default four.
        first: string of the table.
        function: place of the name of the innermost function.
    """
    strings = [first, *_STRINGS[1:], *types]
    if samples is None:
        once = field(1, 3) + field(2, 2) + field(2, 20)  # Not packed.
        samples = (_sample((1, 2), 7, 700), _sample((1, 2), 2, 200), once, _sample((4,), 1, 5))
    data = b""
    for name, unit in zip(types, ("count", "nanoseconds"), strict=True):
        data += field(1, field(1, strings.index(name)) + field(2, strings.index(unit)))
    data += b"".join(field(2, sample) for sample in samples)
    lines = {1: (1, 2), 2: (3,), 3: (3,), 4: (4,)}
    for location, functions in lines.items():
        data += field(4, field(1, location) + b"".join(field(4, field(1, f)) for f in functions))
    for number, place in ((1, function), (2, 6), (3, 7), (4, 8)):
        data += field(5, field(1, number) + field(2, place))
    data += b"".join(field(6, text.encode()) for text in strings)
    return gzip.compress(data + field(12, 1), mtime=0)


PROFILE = build_profile()


def check_pprof(data: bytes) -> None:
    """Parse bytes as a mutex and as a goroutine profile, both as they are and packed.

    Raises:
        AssertionError: something is larger than it may be.
    """
    for one in (data, gzip.compress(data, 1)):
        _check_contentions(one)
        _check_goroutines(one)


def _check_contentions(data: bytes) -> None:
    try:
        found = read_contentions(data)
    except PprofError:
        return
    assert len({waits.function for waits in found}) == len(found)
    for waits in found:
        assert len(waits.function) <= LONGEST_NAME
        assert waits.delay_ns >= 0 <= waits.waits


def _check_goroutines(data: bytes) -> None:
    try:
        goroutines, found = read_goroutines(data)
    except PprofError:
        return
    assert sum(stack.goroutines for stack in found) <= goroutines
    assert len(found) <= MAX_STACKS
    for stack in found:
        assert len(stack.frames) <= MAX_FRAMES
        assert all(len(frame.function) <= LONGEST_NAME for frame in stack.frames)
