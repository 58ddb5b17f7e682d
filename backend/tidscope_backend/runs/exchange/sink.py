"""A file that others write to and that is read as it grows, so that exports are streamed."""

import io


class Sink(io.RawIOBase):
    """Keeps what was written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._chunks: list[bytes] = []

    def writable(self) -> bool:
        """See io.RawIOBase."""
        return True

    # The argument is any buffer: pyarrow and tarfile write bytes.
    def write(self, data: object) -> int:
        """See io.RawIOBase."""
        chunk = bytes(memoryview(data)) if isinstance(data, (bytes, bytearray, memoryview)) else b""
        self._chunks.append(chunk)
        return len(chunk)

    def take(self) -> bytes:
        """What was written since the last time."""
        taken = b"".join(self._chunks)
        self._chunks.clear()
        return taken
