"""The open part of a run: frames as received, each preceded by its length."""

import os
from collections.abc import Iterator
from pathlib import Path

from tidscope_wire.frame import LENGTH
from tidscope_wire.generated.limits import MAX_FRAME_BYTES


def pack_frame(frame: bytes) -> bytes:
    """Prefix a frame with its length (4 bytes, little-endian)."""
    return LENGTH.pack(len(frame)) + frame


def whole_frames(data: bytes) -> Iterator[bytes]:
    """The frames of a part; a truncated one at its end is left out."""
    at = 0
    while (end := _end(data, at)) is not None:
        yield data[at + LENGTH.size : end]
        at = end


def whole_bytes(path: Path) -> int:
    """How many bytes of a part are whole frames; the rest is a truncated frame.

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


class PartFile:
    """The file of an open part. Unbuffered, so a killed process has written all it received.

    Args:
        path: of the file, which is created if needed; its content stays.

    Attributes:
        bytes: its length.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        self.bytes = os.fstat(self._descriptor).st_size

    def append(self, frame: bytes) -> None:
        """Write a frame, or leave the file as it was.

        Raises:
            OSError: it cannot be written.
        """
        data = pack_frame(frame)
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                # Whatever cut the first call short, such as a full disk, makes this one fail.
                written += os.write(self._descriptor, data[written:])
        except OSError:
            os.ftruncate(self._descriptor, self.bytes)
            raise
        self.bytes += len(data)

    def sync(self) -> None:
        """See its data on the disk. Raises OSError."""
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
