"""The number of the family TASKSTATS, kept for later collectors: resolving it takes 0.1 s of CPU.

The family is never in a module, so its number lasts as long as the boot.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from tidscope_collector.procfs.files import ProcFs, read_fd

FILE = Path("/run/tidscope/taskstats-family")
LARGEST_FILE = 256


class FamilyCache:
    """A file with the boot's id and the number. What others could have written is not read.

    Args:
        procfs: names the boot.
        file: where it is kept.
    """

    def __init__(self, procfs: ProcFs, file: Path = FILE) -> None:
        self._procfs = procfs
        self._file = file

    def read(self) -> int | None:
        """The number that was written since the machine booted, by this user."""
        try:
            file = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                about = os.fstat(file)
                if about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o022:
                    return None
                boot, number = read_fd(file, LARGEST_FILE).decode().split()
            finally:
                os.close(file)
            return int(number) if boot == self._boot() else None
        except (OSError, ValueError):
            return None

    def write(self, family: int) -> None:
        """Keep the number, where this user may: it saves time, and nothing else needs it."""
        with suppress(OSError):
            self._file.parent.mkdir(0o755, exist_ok=True)
            written = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            try:
                file = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
                try:
                    os.write(file, f"{self._boot()} {family}\n".encode())
                finally:
                    os.close(file)
                written.replace(self._file)
            finally:
                written.unlink(missing_ok=True)

    def _boot(self) -> str:
        return self._procfs.read("sys/kernel/random/boot_id", 64).decode().strip()
