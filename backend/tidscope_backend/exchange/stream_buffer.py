"""A file that is read while it is written, so that exports are streamed."""

import io

from typing_extensions import Buffer


class StreamBuffer(io.RawIOBase):
    """Holds what was written until it is read."""

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

    def drain(self) -> bytes:
        """What was written since the last call."""
        data = b"".join(self._chunks)
        self._chunks.clear()
        return data
