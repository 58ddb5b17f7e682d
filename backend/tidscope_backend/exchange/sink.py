"""A file that others write to and that is read as it grows, so that exports are streamed."""

import io

from typing_extensions import Buffer


class Sink(io.RawIOBase):
    """Keeps what was written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._chunks: list[bytes] = []

    def writable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def write(self, data: Buffer) -> int:
        """See io.RawIOBase."""
        chunk = bytes(memoryview(data))
        self._chunks.append(chunk)
        return len(chunk)

    def take(self) -> bytes:
        """What was written since the last time."""
        taken = b"".join(self._chunks)
        self._chunks.clear()
        return taken
