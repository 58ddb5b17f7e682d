"""Drives direct_reads.c: threads on one CPU that read a file with O_DIRECT."""

import os
import tempfile
from pathlib import Path

from programs.build import build_c
from programs.running import RunningProgram

THREADS = 8
_FILE_BYTES = 4 << 20


class DirectReads(RunningProgram):
    """A running direct_reads program.

    Args:
        folder: folder of its file; must not be a file system in memory.
    """

    def __init__(self, folder: Path = Path("/var/tmp")) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="direct-reads-", dir=folder)
        blocks = Path(self._folder.name) / "blocks"
        with blocks.open("wb") as file:
            file.write(os.urandom(_FILE_BYTES))
            os.fsync(file.fileno())
        program = build_c(Path(__file__).with_name("direct_reads.c"))
        super().__init__([program, blocks, str(THREADS)])
        assert self.line() == "ready"

    def read(self) -> None:
        """Make all threads read; return when all are done."""
        assert self.ask("g") == "done"

    def close(self) -> None:
        """Kill it, and remove its file."""
        super().close()
        self._folder.cleanup()
