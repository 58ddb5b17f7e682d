"""Frames with length prefixes: the file of an open part. Loads no library of tables."""

import os
from collections.abc import Iterator
from pathlib import Path

from tidscope_wire.envelope import LENGTH, FrameError, split
from tidscope_wire.generated.limits import MAX_FRAME_BYTES


def pack_frame(frame: bytes) -> bytes:
    """Prefix a frame with its length (4 bytes, little-endian)."""
    return LENGTH.pack(len(frame)) + frame


def whole_frames(data: bytes) -> Iterator[bytes]:
    """Yield the frames of a part; a truncated last frame is omitted."""
    at = 0
    while (end := _end(data, at)) is not None:
        yield data[at + LENGTH.size : end]
        at = end


def whole_bytes(path: Path) -> int:
    """Return the number of bytes in whole frames; the rest is a truncated frame.

    Raises:
        OSError: the part cannot be read.
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


def cut_truncated(path: Path) -> int:
    """Remove a truncated frame from the end of a part. Return the number of bytes removed.

    Raises:
        OSError: the part cannot be read or changed.
    """
    size, whole = path.stat().st_size, whole_bytes(path)
    frames = list(whole_frames(path.read_bytes()[:whole]))
    # After a power failure a frame may have its length but no bytes.
    while frames and not _has_header(frames[-1]):
        whole -= LENGTH.size + len(frames.pop())
    if whole < size:
        os.truncate(path, whole)
    return size - whole


def _has_header(frame: bytes) -> bool:
    try:
        split(frame)
    except FrameError:
        return False
    return True


def _end(data: bytes, at: int) -> int | None:
    if at + LENGTH.size > len(data):
        return None
    (length,) = LENGTH.unpack_from(data, at)
    end = at + LENGTH.size + int(length)
    return end if length <= MAX_FRAME_BYTES and end <= len(data) else None


class PartFile:
    """The file of an open part. Unbuffered, so a killed process loses no received frame.

    Args:
        path: path of the file, created if needed; existing content is kept.

    Attributes:
        bytes: length of the file.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        self.bytes = os.fstat(self._descriptor).st_size

    def append(self, frame: bytes) -> None:
        """Append a frame, or leave the file unchanged on failure.

        Raises:
            OSError: the frame cannot be written.
        """
        data = pack_frame(frame)
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                # After a short write, this one raises the cause, such as a full disk.
                written += os.write(self._descriptor, data[written:])
        except OSError:
            os.ftruncate(self._descriptor, self.bytes)
            raise
        self.bytes += len(data)

    def sync(self) -> None:
        """Flush the data to disk. Raises OSError."""
        os.fdatasync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def sync_file(path: Path) -> None:
    """Flush a file's bytes to disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
