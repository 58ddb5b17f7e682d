"""Monitors and locks of java.util.concurrent that threads of a Java virtual machine wait for.

A dump of the threads, as `jcmd PID Thread.print` prints it, says who waits for what at one instant.
Its waits are estimated: whoever waits in a dump counts as waiting since the one before. The dump
stops all Java threads for the moment that it takes.
"""

import time

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_answers import ask_java_blocked
from tidscope_collector.locks.waited import LEFT_OUT, Waited, WaitTable

LONGEST_GAP_S = 30.0
"""A dump says nothing of what was longer ago."""

_HOW = (
    " Open its attach socket: run `jcmd {} VM.version` once as its user, or start it with "
    "-XX:+StartAttachListener."
)


class JavaLocks:
    """Reads one virtual machine; one thread uses it.

    Args:
        pid: of the process.
        start_ticks: its start.

    Attributes:
        reason: why there is nothing to read; empty if there is.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._waits = WaitTable()
        self._read_ns = 0
        self.reason = ""

    def read(self) -> list[Waited]:
        """See LockSource."""
        now_ns = time.monotonic_ns()
        try:
            blocked = ask_java_blocked(self._pid, self._start_ticks)
        except NoAnswerError as error:
            self.reason = str(error) + _HOW.format(self._pid)
            self._read_ns = 0
        else:
            since_ns = now_ns - self._read_ns if self._read_ns else 0
            self._read_ns = now_ns
            if 0 < since_ns <= LONGEST_GAP_S * 1e9:
                for one in blocked:
                    self._waits.add(f"{one.lock} in {one.method}", one.tid, since_ns)
            self.reason = LEFT_OUT if self._waits.left_out else ""
        return [Waited("java-monitor", name, "monitor", *figures) for name, *figures in self._waits]
