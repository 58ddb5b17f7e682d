"""What a source other than futexes says of locks."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from tidscope_collector.inspection.lock_kinds import Kind
from tidscope_collector.locks.registry import Source

MAX_ROWS = 4096
"""Locks and threads in one program's account; further ones are left out."""
MAX_CHARACTERS = 1 << 19
"""Length of all names in one program's account; names beyond it are left out."""
LEFT_OUT = "The program names more locks than tidscope keeps; further ones are left out."


class Waited(NamedTuple):
    """Waits for one lock, cumulative since the source was first read.

    Attributes:
        source: which one says so.
        name: of the lock; stable.
        kind: of the lock.
        tid: of the thread that waited; 0: it is not known which one.
        wait_ns: time waited.
        waits: how many waits; 0 if they are not counted.
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
        reason: why it says nothing, for people; empty if it does.
    """

    reason: str

    def read(self) -> list[Waited]:
        """All waits so far; takes its time, and gives what it had before where nothing answers."""
        ...


class WaitTable:
    """Waits of one program by lock and thread; what a program can make it keep is bounded.

    Attributes:
        left_out: True if a row was refused because the table is full.
    """

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], tuple[int, int]] = {}
        self._characters = 0
        self.left_out = False

    def put(self, name: str, tid: int, wait_ns: int, waits: int) -> None:
        """Replace a row; a new one is left out where the table is full.

        Args:
            name: of the lock.
            tid: of the thread; 0 if unknown.
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
        """All rows: name, thread, time waited in nanoseconds, number of waits."""
        for (name, tid), (wait_ns, waits) in self._rows.items():
            yield name, tid, wait_ns, waits
