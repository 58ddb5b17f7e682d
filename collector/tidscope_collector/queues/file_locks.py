"""Locks of files: who holds them, and who waits. Not thread-safe.

Source: /proc/locks (fs/locks.c, lock_get_status): fcntl(2), flock(2) and open file description
locks, with the process ID of who holds each, or waits behind it.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.inspection.asking import DamagedError, NoAnswerError, UnreadableError
from tidscope_collector.inspection.queue_answers import ask_locked_file
from tidscope_collector.procfs.files import ProcFs

MAX_BYTES = 1 << 18
"""Maximum size of /proc/locks that is read: about 4,000 locks; further ones are left out."""
MAX_FILES = 64
"""Maximum files with rows; locks of further ones are left out."""
MAX_ROWS = 1024
log = logging.getLogger("tidscope.queues")
_KINDS = frozenset({b"POSIX", b"FLOCK", b"OFDLCK"})


class FileLock(NamedTuple):
    """A lock of a file, or of a part of it.

    Attributes:
        file: device and inode, such as `08:01:131`.
        pid: process that holds it or waits; -1 if unknown, as of open file description locks.
        waits: True if the process waits.
        exclusive: True if nobody else may hold a lock of the same part.
    """

    file: str
    pid: int
    waits: bool
    exclusive: bool


def parse_locks(text: bytes) -> list[FileLock]:
    """Return the advisory locks of /proc/locks; lines of another form are left out."""
    found: list[FileLock] = []
    for line in text.splitlines():
        words = line.split()
        waits = len(words) > 1 and words[1] == b"->"
        words = words[2 if waits else 1 :]
        if len(words) < 5 or words[0] not in _KINDS:
            continue
        try:
            pid = int(words[3])
        except ValueError:
            continue
        found.append(FileLock(words[4].decode(errors="replace"), pid, waits, words[2] == b"WRITE"))
    return found


@dataclass(slots=True)
class _Times:
    """Time in which a process held a lock of a file, and waited for one."""

    held_ns: int = 0
    waiting_ns: int = 0
    covered_ns: int = 0


class FileLocks:
    """Reads locks of files that processes of the target hold or wait for.

    Args:
        procfs: root of /proc.
        path_of: returns the path of a file that a process has open, by its ID, its start time and
            the file.
    """

    def __init__(
        self, procfs: ProcFs, path_of: Callable[[int, int, str], str] = ask_locked_file
    ) -> None:
        self._procfs, self._path_of = procfs, path_of
        self._files: dict[str, tuple[int, str]] = {}
        """Number and path of files, by device and inode."""
        self._times: dict[tuple[str, int], _Times] = {}

    def read(self, members: Mapping[int, int], since_ns: int) -> None:
        """Read the locks; those found count for the time since the reading before.

        Args:
            members: start times of the living processes of the target, by ID.
            since_ns: time since the reading before, in nanoseconds; 0 without one.
        """
        try:
            text = self._procfs.read("locks", MAX_BYTES)
        except OSError:
            return
        # A process may hold several parts of a file, and counts once.
        holds = set[tuple[str, int]]()
        waits = set[tuple[str, int]]()
        for lock in parse_locks(text):
            if lock.pid in members and (lock.waits or lock.exclusive):
                (waits if lock.waits else holds).add((lock.file, lock.pid))
        for key in sorted(holds | waits):
            if (
                key not in self._times
                and len(self._times) < MAX_ROWS
                and self._number(*key, members)
            ):
                self._times[key] = _Times()
        for key, times in self._times.items():
            times.covered_ns += since_ns
            times.held_ns += since_ns if key in holds else 0
            times.waiting_ns += since_ns if key in waits - holds else 0

    def _number(self, file: str, pid: int, members: Mapping[int, int]) -> int:
        """Return the number of a file, or 0 if there are too many."""
        known = self._files.get(file)
        if known is None:
            if len(self._files) >= MAX_FILES:
                return 0
            try:
                path = self._path_of(pid, members[pid], file)
            except (NoAnswerError, UnreadableError, DamagedError) as error:
                log.info("the path of a locked file is unknown: %s", error)
                path = ""
            known = self._files[file] = len(self._files) + 1, path
        return known[0]

    def table(self) -> Table:
        """Return all rows of `file_locks`."""
        rows = [
            (self._files[file][0], pid, *(times.held_ns, times.waiting_ns, times.covered_ns), path)
            for (file, pid), times in self._times.items()
            for path in (self._files[file][1],)
        ]
        return np.array(rows, dtype_of("file_locks"))
