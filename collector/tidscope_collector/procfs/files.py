"""Reading files of /proc, under a root that tests replace."""

import os
from dataclasses import dataclass
from pathlib import Path

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class ProcFs:
    """The process file system below ``root``; every path is given relative to it."""

    root: Path = Path("/proc")

    def path(self, relative: str) -> str:
        """Where ``relative`` is, as text: a Path for each file would cost more than reading it."""
        return f"{self.root}/{relative}"

    def read(self, relative: str, limit: int = 1 << 24) -> bytes:
        """The content of one file, at most ``limit`` bytes.

        Raises:
            OSError: as open(2) and read(2) do; ESRCH when the process went away in between.
        """
        file = os.open(self.path(relative), os.O_RDONLY | os.O_CLOEXEC)
        try:
            return read_fd(file, limit)
        finally:
            os.close(file)

    def link(self, relative: str) -> str:
        """What a symbolic link points to.

        Raises:
            OSError: as readlink(2) does.
        """
        return str((self.root / relative).readlink())

    def pids(self) -> list[int]:
        """Ids of all processes (thread groups) that can be seen, ascending."""
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
