"""/proc/PID/stat: one line, in which the name may contain blanks and parentheses."""

from dataclasses import dataclass

PF_KTHREAD = 0x0020_0000  # include/linux/sched.h
ENDED = frozenset("ZXx")

# Places behind the name: proc_pid_stat(5) counts the state as field 3.
_STATE, _FLAGS, _MINFLT, _MAJFLT, _UTIME, _STIME, _THREADS, _START, _RSS = (
    field - 3 for field in (3, 9, 10, 12, 14, 15, 20, 22, 24)
)

_STACK, _PARENT = 28 - 3, 4 - 3
_CHILDREN = slice(16 - 3, 18 - 3)


@dataclass(frozen=True, slots=True)
class Stat:
    """What is used of a stat line; times in clock ticks, memory in pages.

    Attributes:
        name: comm as the kernel has it, at most 15 bytes (kernel threads: up to 63).
        state: one letter; Z is a zombie.
        threads: live threads of the process; a zombie counts itself.
        start_ticks: ticks from boot to the start, on CLOCK_BOOTTIME.
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
        """Whether nothing of the process runs any more.

        A main thread that ended before the others is a zombie too, but counts them.
        """
        return self.state in ENDED and self.threads <= 1


def stack_start(line: bytes) -> int:
    """Address at which the stack begins, of a stat line; 0 if this user may not see it."""
    fields = line[line.rfind(b")") + 1 :].split()
    return int(fields[_STACK]) if len(fields) > _STACK else 0


def parse_parent(line: bytes) -> int:
    """The id of the parent, of a stat line; 0 if there is none."""
    fields = line[line.rfind(b")") + 1 :].split()
    return int(fields[_PARENT]) if len(fields) > _PARENT else 0


def waited_for_ticks(line: bytes) -> int:
    """CPU time, in clock ticks, of the children that a process has waited for, and theirs.

    Raises:
        ValueError: it is not a stat line.
    """
    fields = line[line.rfind(b")") + 1 :].split()[_CHILDREN]
    if len(fields) != 2:
        raise ValueError(f"not a stat line of a process: {line[:80]!r}")
    return int(fields[0]) + int(fields[1])


def parse_stat(line: bytes) -> Stat:
    """Take a stat line apart.

    Raises:
        ValueError: it is not one.
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
