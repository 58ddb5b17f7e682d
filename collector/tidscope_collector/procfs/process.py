"""Values of one process in /proc: its stat line, IDs in its namespaces, and resident memory.

Sources: proc_pid_stat(5), pid_namespaces(7), proc_pid_status(5) (NSpid), user_namespaces(7)
(uid_map). The name in a stat line may contain blanks and parentheses.
"""

import os
import re
from dataclasses import dataclass
from typing import NamedTuple

from tidscope_collector.procfs.files import ProcFs

PF_KTHREAD = 0x0020_0000  # include/linux/sched.h
ENDED = frozenset("ZXx")

# Offsets behind the name; proc_pid_stat(5) counts the state as field 3.
_STATE, _FLAGS, _MINFLT, _MAJFLT, _UTIME, _STIME, _THREADS, _START, _RSS = (
    field - 3 for field in (3, 9, 10, 12, 14, 15, 20, 22, 24)
)

_STACK, _PARENT = 28 - 3, 4 - 3
_CHILDREN = slice(16 - 3, 18 - 3)
_NSPID = re.compile(rb"^NSpid:\s*([\d\t ]+)$", re.MULTILINE)
_MAX_LINES = 340
"""Maximum lines of a map (user_namespaces(7))."""
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class TargetExitedError(Exception):
    """The process has ended."""


@dataclass(frozen=True, slots=True)
class Stat:
    """Fields of a stat line; times in clock ticks, memory in pages.

    Attributes:
        name: comm of the kernel, at most 15 bytes (kernel threads: up to 63).
        state: one letter; Z is a zombie.
        threads: live threads of the process; a zombie counts itself.
        start_ticks: start time in ticks since boot, on CLOCK_BOOTTIME.
    """

    pid: int
    name: bytes
    state: str
    flags: int
    minor_faults: int
    major_faults: int
    user_ticks: int
    system_ticks: int
    threads: int
    start_ticks: int
    rss_pages: int

    @property
    def kernel_thread(self) -> bool:
        return bool(self.flags & PF_KTHREAD)

    @property
    def ended(self) -> bool:
        """True if nothing of the process runs any more.

        A main thread that ended before the others is a zombie, but still counts them.
        """
        return self.state in ENDED and self.threads <= 1


def stack_start(line: bytes) -> int:
    """Return the address of the stack's start from a stat line, or 0 if inaccessible."""
    fields = line[line.rfind(b")") + 1 :].split()
    return int(fields[_STACK]) if len(fields) > _STACK else 0


def parse_parent(line: bytes) -> int:
    """Return the parent's ID from a stat line, or 0 if there is none."""
    fields = line[line.rfind(b")") + 1 :].split()
    return int(fields[_PARENT]) if len(fields) > _PARENT else 0


def waited_for_ticks(line: bytes) -> int:
    """Return the CPU time of reaped children and their descendants, in clock ticks.

    Raises:
        ValueError: the text is not a stat line.
    """
    fields = line[line.rfind(b")") + 1 :].split()[_CHILDREN]
    if len(fields) != 2:
        raise ValueError(f"not a stat line of a process: {line[:80]!r}")
    return int(fields[0]) + int(fields[1])


def parse_stat(line: bytes) -> Stat:
    """Parse a stat line.

    Raises:
        ValueError: the text is not a stat line.
    """
    opening, closing = line.find(b"("), line.rfind(b")")
    rest = line[closing + 1 :].split()
    if opening < 0 or closing < opening or len(rest) <= _RSS:
        raise ValueError(f"not a stat line of a process: {line[:80]!r}")
    return Stat(
        pid=int(line[:opening]),
        name=line[opening + 1 : closing],
        state=rest[_STATE].decode("ascii"),
        flags=int(rest[_FLAGS]),
        minor_faults=int(rest[_MINFLT]),
        major_faults=int(rest[_MAJFLT]),
        user_ticks=int(rest[_UTIME]),
        system_ticks=int(rest[_STIME]),
        threads=int(rest[_THREADS]),
        start_ticks=int(rest[_START]),
        rss_pages=int(rest[_RSS]),
    )


class IdRange(NamedTuple):
    """A line of uid_map: `length` IDs from `inside` correspond to those from `outside`."""

    inside: int
    outside: int
    length: int


def namespace_pid(status: bytes) -> int | None:
    """Return a process' ID in its own PID namespace, from /proc/PID/status.

    Returns:
        None if it is the namespace of /proc's mount, or if unknown.
    """
    found = _NSPID.search(status)
    ids = found[1].split() if found else []
    return int(ids[-1]) if len(ids) > 1 else None


def read_id_map(text: str) -> list[IdRange]:
    """Parse /proc/PID/uid_map or gid_map; invalid lines are skipped."""
    ranges = []
    for line in text.splitlines()[:_MAX_LINES]:
        words = line.split()
        if len(words) == 3 and all(word.isdecimal() for word in words):
            ranges.append(IdRange(*map(int, words)))
    return ranges


def namespace_uid(uid: int, ranges: list[IdRange]) -> int | None:
    """Return the user ID of a process in its own user namespace.

    Args:
        uid: user ID outside, as the reader of the map sees it.
        ranges: the process' uid_map.

    Returns:
        None if the ID is the same, or has no counterpart.
    """
    for one in ranges:
        if one.outside <= uid < one.outside + one.length:
            found = uid - one.outside + one.inside
            return None if found == uid else found
    return None


def user_in_passwd(passwd: str, uid: int) -> str | None:
    """Return a user's name from a passwd(5) file, or None if absent."""
    for line in passwd.splitlines():
        words = line.split(":")
        if len(words) >= 3 and words[2] == str(uid) and words[0]:
            return words[0][:64]
    return None


def rss_bytes(procfs: ProcFs, pid: int) -> int | None:
    """Return a process' resident memory, in bytes; None if unreadable or already released.

    Source: /proc/PID/statm, second number, in pages. A main thread that ended early has none;
    another thread is read then.
    """
    try:
        pages = _resident_pages(procfs, f"{pid}/statm")
        if pages == 0:
            with os.scandir(procfs.path(f"{pid}/task")) as tasks:
                others = [task.name for task in tasks if task.name != str(pid)]
            pages = _resident_pages(procfs, f"{pid}/task/{others[0]}/statm") if others else 0
    except OSError:
        return None
    return pages * PAGE_BYTES or None


def _resident_pages(procfs: ProcFs, path: str) -> int:
    return int(procfs.read(path, 256).split()[1])
