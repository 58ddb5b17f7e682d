"""What a source other than futexes says of locks."""

from typing import NamedTuple, Protocol

from tidscope_collector.foreign.lock_layouts import Kind
from tidscope_collector.locks.registry import Source


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
