"""Reading of /proc files, below a root that tests replace."""

import os
from dataclasses import dataclass
from pathlib import Path

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class ProcFs:
    """The process file system below ``root``; all paths are relative to it."""

    root: Path = Path("/proc")

    def path(self, relative: str) -> str:
        """Return the path as text: a Path per file would cost more than reading it."""
        return f"{self.root}/{relative}"

    def read(self, relative: str, limit: int = 1 << 24) -> bytes:
        """Return the content of a file, at most ``limit`` bytes.

        Raises:
            OSError: as open(2) and read(2); ESRCH if the process ended meanwhile.
        """
        file = os.open(self.path(relative), os.O_RDONLY | os.O_CLOEXEC)
        try:
            return read_fd(file, limit)
        finally:
            os.close(file)

    def link(self, relative: str) -> str:
        """Return the target of a symbolic link.

        Raises:
            OSError: as readlink(2).
        """
        return str((self.root / relative).readlink())

    def pids(self) -> list[int]:
        """Return the IDs of all visible processes (thread groups), ascending."""
        with os.scandir(self.root) as entries:
            return sorted(int(entry.name) for entry in entries if entry.name.isdigit())


def read_fd(file: int, limit: int) -> bytes:
    """Read from a descriptor until its end or ``limit`` bytes."""
    pieces: list[bytes] = []
    left = limit
    while left > 0:
        piece = os.read(file, min(CHUNK, left))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
