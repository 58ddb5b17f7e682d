"""The supervisor's log of programs that have ended: shared memory, which outlives each of them."""

import json
import os
import time
from typing import NamedTuple


class ProgramEnd(NamedTuple):
    """The end of a supervised program.

    Attributes:
        name: of the program: "backend" or "collector".
        pid: its process id.
        unix_us: wall clock of its end, Unix microseconds.
        how: "by SIGKILL", "with code 1".
    """

    name: str
    pid: int
    unix_us: int
    how: str


class SupervisorLog:
    """Written by the supervisor alone.

    Attributes:
        reading: a read-only descriptor of the log, which children inherit.
    """

    def __init__(self) -> None:
        self._writing = os.memfd_create("tidscope-ends", os.MFD_CLOEXEC)
        self.reading = os.open(f"/proc/self/fd/{self._writing}", os.O_RDONLY | os.O_CLOEXEC)

    def note(self, name: str, pid: int, how: str) -> None:
        """A program has ended just now."""
        end = ProgramEnd(name, pid, time.time_ns() // 1000, how)
        os.write(self._writing, json.dumps(end).encode() + b"\n")

    def close(self) -> None:
        """Close both descriptors."""
        os.close(self._writing)
        os.close(self.reading)


def read_ends(descriptor: int | None) -> list[ProgramEnd]:
    """The programs that have ended so far, in order.

    Args:
        descriptor: of the log; None: nobody supervises this process.
    """
    if descriptor is None:
        return []
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    return [ProgramEnd(*json.loads(line)) for line in data.splitlines()]
