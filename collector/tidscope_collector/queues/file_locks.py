"""Locks of files: who holds them, and who waits. Not thread-safe.

Source: /proc/locks (fs/locks.c, lock_get_status): fcntl(2), flock(2) and open file description
locks, with the process ID of who holds each, or waits behind it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.queues.accept_queues import MAX_DESCRIPTORS

MAX_BYTES = 1 << 18
"""Maximum size of /proc/locks that is read: about 4,000 locks; further ones are left out."""
MAX_FILES = 64
"""Maximum files with rows; locks of further ones are left out."""
MAX_ROWS = 1024
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
    """

    def __init__(self, procfs: ProcFs) -> None:
        self._procfs = procfs
        self._files: dict[str, tuple[int, str]] = {}
        """Number and path of files, by device and inode."""
        self._times: dict[tuple[str, int], _Times] = {}

    def read(self, pids: Sequence[int], since_ns: int) -> None:
        """Read the locks; those found count for the time since the reading before.

        Args:
            pids: living processes of the target.
            since_ns: time since the reading before, in nanoseconds; 0 without one.
        """
        try:
            text = self._procfs.read("locks", MAX_BYTES)
        except OSError:
            return
        members = set(pids)
        # A process may hold several parts of a file, and counts once.
        holds = set[tuple[str, int]]()
        waits = set[tuple[str, int]]()
        for lock in parse_locks(text):
            if lock.pid in members and (lock.waits or lock.exclusive):
                (waits if lock.waits else holds).add((lock.file, lock.pid))
        for key in sorted(holds | waits):
            if key not in self._times and len(self._times) < MAX_ROWS and self._number(*key):
                self._times[key] = _Times()
        for key, times in self._times.items():
            times.covered_ns += since_ns
            times.held_ns += since_ns if key in holds else 0
            times.waiting_ns += since_ns if key in waits - holds else 0

    def _number(self, file: str, pid: int) -> int:
        """Return the number of a file, or 0 if there are too many."""
        known = self._files.get(file)
        if known is None:
            if len(self._files) >= MAX_FILES:
                return 0
            known = self._files[file] = len(self._files) + 1, path_of(self._procfs, pid, file)
        return known[0]

    def table(self) -> Table:
        """Return all rows of `file_locks`."""
        rows = [
            (self._files[file][0], pid, *(times.held_ns, times.waiting_ns, times.covered_ns), path)
            for (file, pid), times in self._times.items()
            for path in (self._files[file][1],)
        ]
        return np.array(rows, dtype_of("file_locks"))


def path_of(procfs: ProcFs, pid: int, file: str) -> str:
    """Return the path by which a process has a file open; empty if unknown.

    The kernel names inodes in fdinfo since Linux 5.14. Files themselves are not touched, as those
    of a network may hang.

    Args:
        procfs: root of /proc.
        pid: process ID.
        file: device and inode, as in `FileLock`.
    """
    inode = b"ino:\t" + file.rpartition(":")[2].encode() + b"\n"
    locked = f" {file} ".encode()
    path = ""
    try:
        with os.scandir(procfs.path(f"{pid}/fdinfo")) as entries:
            numbers = [entry.name for entry in islice(entries, MAX_DESCRIPTORS)]
    except OSError:
        return ""
    for number in numbers:
        try:
            info = procfs.read(f"{pid}/fdinfo/{number}", 1 << 14)
            if inode in info:
                path = procfs.link(f"{pid}/fd/{number}")
        except OSError:
            continue
        # A lock in fdinfo has the device, too; a waiter's descriptor has none.
        if locked in info:
            break
    return path
