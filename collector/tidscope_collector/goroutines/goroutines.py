"""Goroutines of the Go programs of one target, read by one thread.

    goroutines = Goroutines(rate_hz=10)
    goroutines.follow(pid, start_ticks)
    tables = goroutines.tables()   # from the thread of targets; never waits

A goroutine that waits has no thread, so only the program knows of it. Its profile is read every
EVERY_S while the target is sampled faster than IDLE_HZ, the rate of targets that nobody looks at,
records or steers.
"""

import logging
import threading
import time
from dataclasses import dataclass

from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import Process, TableName

from tidscope_collector.goroutines.profile import PAGE, PATH, StackLine
from tidscope_collector.goroutines.registry import GoroutineRegistry
from tidscope_collector.inspection.own_pages import OwnPages
from tidscope_collector.inspection.own_server import NotServedError

EVERY_S = 3.0
"""Interval between two readings, in seconds."""
REST = 50
"""Minimum pause after a reading, as a multiple of the time that the program took to answer, so that
large programs are asked less often."""
LONGEST_PAUSE_S = 60.0
"""Maximum interval after readings that failed, in seconds. It doubles up to this."""
LONGEST_GAP_S = 120.0
"""Maximum age of the previous reading, in seconds; the time since an older one is not covered."""
IDLE_HZ = 1.0
"""Sampling rate up to which programs are not asked."""
NOT_SERVED = "The program serves no goroutine profile (net/http/pprof) at a port of its own."

log = logging.getLogger("tidscope.goroutines")


@dataclass(slots=True)
class _Program:
    """A process whose profile is read.

    Attributes:
        pid: process ID.
        pages: finds and reads its profile.
        due_s: time.monotonic() from which it is read again.
        pause_s: interval after the next failure.
        read_ns: CLOCK_MONOTONIC of the last reading, or 0 without one.
        reason: why it is not read; empty if it is.
    """

    pid: int
    pages: OwnPages[list[StackLine]]
    due_s: float = 0.0
    pause_s: float = EVERY_S
    read_ns: int = 0
    reason: str = ""


class Goroutines:
    """Reads goroutines of followed programs. Thread-safe.

    Args:
        rate_hz: sampling rate of the target.
    """

    def __init__(self, rate_hz: float) -> None:
        self._changed = threading.Condition()
        self._programs: dict[int, _Program] = {}
        self._registry = GoroutineRegistry()
        self._rate_hz = rate_hz
        self._closed = False
        self._thread: threading.Thread | None = None

    def follow(self, pid: int, start_ticks: int) -> None:
        """Read the goroutines of a Go program, in place of an earlier one of the process.

        Args:
            pid: process ID.
            start_ticks: start time of the process, in clock ticks since boot.
        """
        program = _Program(pid, OwnPages(pid, start_ticks, {PATH: PAGE}, NOT_SERVED))
        with self._changed:
            self._programs[pid] = program
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="goroutines", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def leave(self, pid: int) -> None:
        """Read a program no longer: the process has ended, or runs another one."""
        with self._changed:
            if self._programs.pop(pid, None) is not None:
                self._registry.gone(pid)

    def executed(self, process: Process) -> None:
        """Follow what a process runs now, if that is a Go program."""
        self.leave(process.pid)
        if process.runtime == "go":
            self.follow(process.pid, process.start_ticks)

    def set_rate(self, rate_hz: float) -> None:
        """Note the sampling rate of the target."""
        with self._changed:
            self._rate_hz = rate_hz
            self._changed.notify_all()

    def tables(self) -> dict[TableName, Table]:
        """Return all rows of `goroutines` and `goroutine_stacks`."""
        with self._changed:
            return self._registry.tables()

    @property
    def reason(self) -> str:
        """Why a program that serves profiles is not read; empty if all are."""
        with self._changed:
            reasons = [one.reason for one in self._programs.values()]
        reasons = [one for one in reasons if one not in ("", NOT_SERVED)]
        return f"goroutines are not read: {reasons[0]}" if reasons else ""

    def close(self) -> None:
        """Stop reading, without waiting."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._is_due, self._until_due_s())
                if self._closed:
                    return
                if not self._is_due():
                    continue
                program = min(self._programs.values(), key=lambda one: one.due_s)
            self._read(program)

    def _is_due(self) -> bool:
        return self._closed or self._until_due_s() == 0

    def _until_due_s(self) -> float | None:
        """Return seconds until a program is due, or None while nobody looks."""
        if not self._programs or self._rate_hz <= IDLE_HZ:
            return None
        due_s = min(one.due_s for one in self._programs.values())
        return max(0.0, due_s - time.monotonic())

    def _read(self, program: _Program) -> None:
        began_ns = time.monotonic_ns()
        found: list[StackLine] | str
        try:
            found = program.pages.read()[PATH]
        except NotServedError as error:
            found = str(error)
        except Exception:  # other programs are read after any error, and this one is retried
            log.exception("goroutines of process %d cannot be read", program.pid)
            found = "The collector failed to read them; see its log."
        now_ns = time.monotonic_ns()
        with self._changed:
            if self._programs.get(program.pid) is not program:
                return  # the answer comes from the previous program
            if isinstance(found, str):
                self._give_up(program, found)
                return
            read_ns = (began_ns + now_ns) // 2
            since_ns = read_ns - program.read_ns if program.read_ns else 0
            self._registry.note(
                program.pid, found, since_ns if since_ns <= LONGEST_GAP_S * 1e9 else 0
            )
            program.read_ns, program.pause_s, program.reason = read_ns, EVERY_S, ""
            program.due_s = now_ns / 1e9 + max(EVERY_S, REST * program.pages.took_s)

    @staticmethod
    def _give_up(program: _Program, reason: str) -> None:
        """Try again after a pause that doubles."""
        if reason != program.reason:
            log.info("goroutines of process %d: %s", program.pid, reason)
        program.reason = reason
        program.due_s = time.monotonic() + program.pause_s
        program.pause_s = min(2 * program.pause_s, LONGEST_PAUSE_S)
