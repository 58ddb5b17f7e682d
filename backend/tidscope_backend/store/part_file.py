"""Writing the open part of a run: each frame with one call, none by halves."""

import os
from pathlib import Path

from tidscope_backend.store.open_part import packed


class PartFile:
    """Open for appending; nothing is held back, so that a killed process has written all it got.

    Args:
        path: of the file; what is in it stays.

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
        data = packed(frame)
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                # What stopped the first call, such as a full disk, fails this one by name.
                written += os.write(self._descriptor, data[written:])
        except OSError:
            os.ftruncate(self._descriptor, self.bytes)
            raise
        self.bytes += len(data)

    def second(self) -> int:
        """Another descriptor of the file, to sync it in another thread; the caller closes it."""
        return os.dup(self._descriptor)

    def close(self) -> None:
        """Write no more."""
        os.close(self._descriptor)


def sync(descriptor: int) -> None:
    """See a file's data on the disk, and close the descriptor. Raises OSError."""
    try:
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
