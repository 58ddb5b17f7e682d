"""Waits for locks in windows, and what became of stacks, from the tables of frames. Pure.

A wait is entered when it ends, and tables are read about once a second.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tidscope_wire.frame import FrameError
from tidscope_wire.generated.models import FrameHeader, StackCounts, TableName
from tidscope_wire.table_streams import decode_table, table_parts

from tidscope_backend.stacks.ledger import Wanted

COUNTS: Mapping[int, str] = {
    1: "taken",
    2: "without_stack",
    3: "beyond_limit",
    4: "no_room",
    5: "beyond_bound",
    6: "unasked",
}
"""Members of StackCounts by number in the table `stack_counts`."""
READING_NS = 1_500_000_000
"""Maximum interval between two readings, in nanoseconds."""
Key = tuple[int, int]
"""Lock, and thread ID; 0: threads that are not known or have exited."""


class LockWaits(NamedTuple):
    """Waits that ended between two readings.

    Attributes:
        from_ns: time of the first reading, since attach.
        to_ns: time of the last one.
        wait_ns: nanoseconds by lock and thread ID.
    """

    from_ns: int
    to_ns: int
    wait_ns: Mapping[Key, int]

    def of(self, lock: int) -> dict[int, int]:
        """Return nanoseconds of waits for a lock, by thread ID."""
        return {tid: ns for (one, tid), ns in self.wait_ns.items() if one == lock}


class LockReader:
    """Reads the tables of frames, in order.

    Args:
        windows: the windows. Readings count from the last one before a window or the first in it,
            to the last one in it.

    Attributes:
        names: last known names of locks.
    """

    def __init__(self, windows: Sequence[Wanted]) -> None:
        self._windows = windows
        self._first: list[Reading | None] = [None] * len(windows)
        self._last: list[Reading | None] = [None] * len(windows)
        self._now = Reading(-1, {})
        self.names: dict[int, str] = {}

    def take(self, header: FrameHeader, body: memoryview) -> None:
        """Take the tables of the next frame."""
        read_ns, changed = None, dict[Key, int]()
        for described, data in table_parts(header, body):
            if described.name == "lock_names":
                self.names.update((row[0], row[2]) for row in _rows("lock_names", data))
            elif described.name == "locks":
                changed = {(row[0], row[1]): row[2] for row in _rows("locks", data)}
                read_ns = header.time_ns if described.read_ns is None else described.read_ns
        if header.kind == "key":
            # The frame has the complete table, or nobody has waited.
            self._enter(Reading(header.time_ns if read_ns is None else read_ns, changed))
        elif read_ns is not None:
            self._enter(Reading(read_ns, {**self._now.wait_ns, **changed}))

    def _enter(self, reading: "Reading") -> None:
        self._now = reading
        for place, (from_ns, to_ns, since_ns) in enumerate(self._windows):
            if max(since_ns, from_ns - READING_NS) <= reading.time_ns <= from_ns:
                self._first[place] = reading
            elif from_ns < reading.time_ns <= to_ns:
                self._first[place] = self._first[place] or reading
                self._last[place] = reading

    def close(self) -> list[LockWaits | None]:
        """Return the waits in each window; None for a window without two readings."""
        return [
            None
            if first is None or last is None or last.time_ns <= first.time_ns
            else LockWaits(first.time_ns, last.time_ns, _growth(first.wait_ns, last.wait_ns))
            for first, last in zip(self._first, self._last, strict=True)
        ]


class Reading(NamedTuple):
    """Cumulative waits at a time."""

    time_ns: int
    wait_ns: Mapping[Key, int]


class CountReader:
    """Reads what became of stacks in a window, for all targets of the host.

    Args:
        from_ns: begin of the window.
        to_ns: end of the window.
    """

    def __init__(self, from_ns: int, to_ns: int) -> None:
        self._from_ns, self._to_ns = from_ns, to_ns
        self._last: dict[int, int] = {}
        self._grown = dict.fromkeys(COUNTS, 0)
        self._began = False

    def take(self, header: FrameHeader, body: memoryview) -> None:
        """Take the table of the next frame. The first frame has what happened before it."""
        for described, data in table_parts(header, body):
            if described.name != "stack_counts":
                continue
            read_ns = header.time_ns if described.read_ns is None else described.read_ns
            for what, count in _rows("stack_counts", data):
                before = self._last.get(what, 0)
                # The program that counts was started again if a count fell.
                more = count - before if count >= before else count
                if self._began and what in self._grown and self._from_ns < read_ns <= self._to_ns:
                    self._grown[what] += more
                self._last[what] = count
        self._began = True

    def counts(self) -> StackCounts:
        """Return the counts of the window."""
        return StackCounts(**{name: self._grown[what] for what, name in COUNTS.items()})


def _rows(name: TableName, data: memoryview) -> list[tuple[Any, ...]]:
    try:
        rows: list[tuple[Any, ...]] = decode_table(name, data).tolist()
    except FrameError:
        return []
    return rows


def _growth(first: Mapping[Key, int], last: Mapping[Key, int]) -> dict[Key, int]:
    """Return what grew. Figures of a thread that has exited are under thread 0 afterwards."""
    grown: dict[Key, int] = {}
    totals: dict[int, int] = {}
    for key in {*first, *last}:
        more = last.get(key, 0) - first.get(key, 0)
        totals[key[0]] = totals.get(key[0], 0) + more
        if key[1] and more > 0:
            grown[key] = more
            totals[key[0]] -= more
    return grown | {(lock, 0): rest for lock, rest in totals.items() if rest > 0}
