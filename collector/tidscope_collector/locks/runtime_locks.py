"""A runtime's own account of its locks, for waits that no futex shows.

Go parks goroutines that wait for a mutex. Their account is read at the program's own ports: the
mutex profile (net/http/pprof), and the counter /sync/mutex/wait/total:seconds of runtime/metrics if
Prometheus can read it. Each port is tried once, and only if the program has these functions.

Java waits are estimated from thread dumps, as `jcmd PID Thread.print` prints them. A thread that
waits in a dump counts as waiting since the previous dump. A dump briefly stops all Java threads.
"""

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from tidscope_wire.generated.models import Process

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_answers import ask_java_blocked, ask_mutex_profile
from tidscope_collector.inspection.lock_kinds import Kind
from tidscope_collector.inspection.own_pages import OwnPages, Page
from tidscope_collector.inspection.own_server import NotServedError, ask_counter
from tidscope_collector.locks.registry import Source

MAX_ROWS = 4096
"""Maximum locks and threads in one program's account; further ones are left out."""
MAX_CHARACTERS = 1 << 19
"""Maximum length of all names in one program's account, in characters; further ones are left out.
"""
LEFT_OUT = "The program names more locks than tidscope keeps; further ones are left out."
METRIC = "go_sync_mutex_wait_total_seconds_total"
"""Name of the counter in client_golang."""
ALL = "all mutexes of the program"
_NOT_SERVED = (
    "The program serves neither a profile of contended mutexes (net/http/pprof, with "
    f"runtime.SetMutexProfileFraction) nor {METRIC} at a port of its own."
)
LONGEST_GAP_S = 30.0
"""Maximum age of the previous dump, in seconds; an older one is ignored."""
_HOW = (
    " Open its attach socket: run `jcmd {} VM.version` once as its user, or start it with "
    "-XX:+StartAttachListener."
)


Account = Mapping[str, tuple[int, int]]
"""Nanoseconds and waits by name, since the program began."""


class Waited(NamedTuple):
    """Waits for one lock, cumulative since the source was first read.

    Attributes:
        source: source of the row.
        name: stable name of the lock.
        kind: kind of lock.
        tid: ID of the waiting thread, or 0 if unknown.
        wait_ns: time waited.
        waits: number of waits, or 0 if not counted.
    """

    source: Source
    name: str
    kind: Kind
    tid: int
    wait_ns: int
    waits: int


class LockSource(Protocol):
    """Reads a program's own account of its locks.

    Attributes:
        reason: why the source is silent, for people; empty if it is not.
    """

    reason: str

    def read(self) -> list[Waited]:
        """Return all waits so far. Slow; without an answer it returns the previous rows."""
        ...


class WaitTable:
    """Bounded waits of one program by lock and thread.

    Attributes:
        left_out: True if a row was refused because the table is full.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], tuple[int, int]] = {}
        self._characters = 0
        self.left_out = False

    def put(self, name: str, tid: int, wait_ns: int, waits: int) -> None:
        """Replace a row; a new row is left out if the table is full.

        Args:
            name: lock name.
            tid: thread ID, or 0 if unknown.
            wait_ns: time waited so far.
            waits: number of waits so far.
        """
        key = (name, tid)
        if key not in self._rows:
            if len(self._rows) >= MAX_ROWS or self._characters + len(name) > MAX_CHARACTERS:
                self.left_out = True
                return
            self._characters += len(name)
        self._rows[key] = (wait_ns, waits)

    def add(self, name: str, tid: int, wait_ns: int) -> None:
        """Count one more wait."""
        before_ns, waits = self._rows.get((name, tid), (0, 0))
        self.put(name, tid, before_ns + wait_ns, waits + 1)

    def __iter__(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield all rows: name, thread ID, time waited in nanoseconds, number of waits."""
        for (name, tid), (wait_ns, waits) in self._rows.items():
            yield name, tid, wait_ns, waits


def _mutex_profile(body: bytes) -> Account:
    return {
        f"mutex released by {one.function}": (one.delay_ns, one.waits)
        for one in ask_mutex_profile(body)
    }


def _counter(body: bytes) -> Account:
    seconds = ask_counter(body, METRIC)
    if seconds is None:
        raise NotServedError(f"The program does not serve {METRIC}.")
    return {ALL: (round(seconds * 1e9), 0)}


PAGES: Mapping[str, Page[Account]] = {
    "/debug/pprof/mutex": Page("application/octet-stream", lambda can: can.profile, _mutex_profile),
    "/metrics": Page("text/plain", lambda can: can.metrics, _counter),
}


class GoLocks:
    """A `LockSource` for one Go program; used by one thread.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.

    Attributes:
        reason: why nothing can be read; empty if something can.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pages = OwnPages(pid, start_ticks, PAGES, _NOT_SERVED)
        self._base: dict[str, tuple[int, int]] = {}
        self._waits = WaitTable()
        self._read_once: set[str] = set()
        self.reason = _NOT_SERVED

    def read(self) -> list[Waited]:
        """See LockSource."""
        try:
            found = self._pages.read()
        except NotServedError as error:
            self.reason, found = str(error), {}
        for path, content in found.items():
            if isinstance(content, str):
                self.reason = content
            else:
                self._note(path, content)
        return [
            Waited("go-metrics" if name == ALL else "go-mutex-profile", name, "lock", *figures)
            for name, *figures in self._waits
        ]

    def _note(self, path: str, found: Account) -> None:
        """Count from the first reading, whose values become the base."""
        if path not in self._read_once:
            self._read_once.add(path)
            self._base |= found
        for name, (wait_ns, waits) in found.items():
            base = self._base.get(name, (0, 0))
            self._waits.put(name, 0, max(0, wait_ns - base[0]), max(0, waits - base[1]))
        self.reason = LEFT_OUT if self._waits.left_out else ""


class JavaLocks:
    """A `LockSource` for one Java virtual machine; used by one thread.

    Args:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.

    Attributes:
        reason: why nothing can be read; empty if something can.
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


def own_account(process: Process) -> LockSource | None:
    """Return a source for the runtime's own account of locks, or None for other runtimes."""
    if process.runtime == "go":
        return GoLocks(process.pid, process.start_ticks)
    if process.runtime == "java":
        return JavaLocks(process.pid, process.start_ticks)
    return None
