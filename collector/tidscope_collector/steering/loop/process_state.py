"""Name, state and CPU time of a steered process, read from /proc."""

import os
from contextlib import suppress

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import TICKS_PER_SECOND, Stat, parse_stat


class ProcessState:
    """Reads one process, whose ID may be recycled.

    Args:
        procfs: root of /proc.
        pid: process ID.
        start_ticks: its start time in clock ticks since boot.
    """

    def __init__(self, procfs: ProcFs, pid: int, start_ticks: int) -> None:
        self._procfs, self._pid, self._start_ticks = procfs, pid, start_ticks

    def name(self) -> str:
        """Return its comm; empty if it has ended."""
        found = self._read()
        return "" if found is None else found.name.decode(errors="replace")

    def is_paused(self) -> bool:
        """Return True while it is stopped or traced."""
        found = self._read()
        return found is not None and found.state in ("T", "t")

    def is_gone(self) -> bool:
        """Return True once it has ended."""
        found = self._read()
        return found is None or found.state in ("Z", "X")

    def cpu_s(self) -> float | None:
        """Return its CPU time in seconds, in steps of a clock tick; None if it has ended."""
        found = self._read()
        return None if found is None else (found.user_ticks + found.system_ticks) / TICKS_PER_SECOND

    def run_queue_delays(self) -> dict[int, int]:
        """Return the run-queue delay of each live thread, in nanoseconds; empty if unknown."""
        found: dict[int, int] = {}
        try:
            for tid in os.listdir(self._procfs.path(f"{self._pid}/task")):
                with suppress(OSError, ValueError, IndexError):
                    text = self._procfs.read(f"{self._pid}/task/{tid}/schedstat", 256)
                    found[int(tid)] = int(text.split()[1])
        except OSError:
            return {}
        return found

    def _read(self) -> Stat | None:
        try:
            found = parse_stat(self._procfs.read(f"{self._pid}/stat"))
        except OSError:
            return None
        return found if found.start_ticks == self._start_ticks else None
