"""The open part of a run: frames as they came, each with its length before it."""

from collections.abc import Iterator
from pathlib import Path

from tidscope_wire.frame import LENGTH

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""A length above this is not one: what follows was not written by us."""


def packed(frame: bytes) -> bytes:
    """A frame as it is appended; a whole one is written with one call, or the rest is cut off."""
    return LENGTH.pack(len(frame)) + frame


def whole_frames(data: bytes) -> Iterator[bytes]:
    """The frames of a part, up to the last that was written to its end."""
    at = 0
    while (end := _end(data, at)) is not None:
        yield data[at + LENGTH.size : end]
        at = end


def whole_bytes(path: Path) -> int:
    """How many bytes of a part are whole frames; what comes behind them is to be cut off.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        at = 0
        while at + LENGTH.size <= size:
            file.seek(at)
            (length,) = LENGTH.unpack(file.read(LENGTH.size))
            if length > MAX_FRAME_BYTES or at + LENGTH.size + length > size:
                break
            at += LENGTH.size + length
        return at


def _end(data: bytes, at: int) -> int | None:
    if at + LENGTH.size > len(data):
        return None
    (length,) = LENGTH.unpack_from(data, at)
    end = at + LENGTH.size + int(length)
    return end if length <= MAX_FRAME_BYTES and end <= len(data) else None
