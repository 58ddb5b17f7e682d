"""Readings of the tables of locks: which locks threads waited for around a time, and who held them.

Tables are read about once a second, and what a program says of its own locks every ten seconds. So
waits are those of the readings around a window, which is longer than the window.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import FrameHeader, TableName

IDLE_KINDS = frozenset({"park", "condition", "join", "call"})
"""Of waits for work, or for an end, which no other thread's use of a lock made longer."""
FUTEX = "futex"
PROGRAM_NS = 10_500_000_000
"""The program's own account is read that often."""
READING_NS = 1_500_000_000
"""Other tables are."""
TOTALS = frozenset({"go-metrics"})
"""Sources that sum up what others name."""
MOST = 5
MIN_SHARE = 0.01
"""Of the waits for the first one; locks that were waited for less are left out."""
Key = tuple[int, int]
"""Lock and thread."""


class LockName(NamedTuple):
    """What is known of a lock."""

    name: str
    kind: str
    source: str


class LockWaits(NamedTuple):
    """Waits for a lock between two readings.

    Attributes:
        lock: what it is.
        wait_ns: of the threads that were asked about.
        waits: how many.
        over_ns: between the two readings.
        woke: the thread that ended most waits for it; None: not known.
    """

    lock: LockName
    wait_ns: int
    waits: int
    over_ns: int
    woke: int | None

    @property
    def rate(self) -> float:
        """Thread-seconds a second."""
        return self.wait_ns / self.over_ns if self.over_ns else 0.0


@dataclass
class LockReadings:
    """The tables `locks` and `lock_names` of frames, in their order."""

    names: dict[int, LockName] = field(default_factory=dict)
    _now: dict[Key, tuple[int, int, int]] = field(default_factory=dict)
    _times: list[int] = field(default_factory=list)
    _states: list[Mapping[Key, tuple[int, int, int]]] = field(default_factory=list)

    def add(self, header: FrameHeader, tables: Mapping[TableName, Table]) -> None:
        """Take the tables of the next frame."""
        if "lock_names" in tables:
            for row in tables["lock_names"]:
                self.names[int(row["lock"])] = LockName(row["name"], row["kind"], row["source"])
        if header.kind == "key":
            # It has the whole table, or there are no waits yet.
            self._now = {}
        elif "locks" not in tables:
            return
        for row in tables.get("locks", ()):
            key = int(row["lock"]), int(row["tid"])
            self._now[key] = int(row["wait_ns"]), int(row["waits"]), int(row["wakes"])
        read_ns = next((one.read_ns for one in header.tables or () if one.name == "locks"), None)
        self._times.append(header.time_ns if read_ns is None else read_ns)
        self._states.append(dict(self._now))

    def waits(self, begin: int, end: int, tids: frozenset[int] | None) -> list[LockWaits]:
        """Waits for locks around a window, the longest first.

        Args:
            begin: nanoseconds since attach.
            end: the same.
            tids: of these threads; None: of all, those that are known by lock alone included.
        """
        found = []
        for source_is_futex, reach in ((True, READING_NS), (False, PROGRAM_NS)):
            grown, over_ns = self._growth(begin - reach, end + reach)
            for number in {lock for lock, _ in grown}:
                lock = self.names.get(number)
                if lock is None or (lock.source == FUTEX) != source_is_futex:
                    continue
                if lock.kind in IDLE_KINDS or lock.source in TOTALS:
                    continue
                own = {tid: row for (one, tid), row in grown.items() if one == number}
                mine = [row for tid, row in own.items() if tids is None or tid in tids]
                wait_ns, waits = sum(row[0] for row in mine), sum(row[1] for row in mine)
                if wait_ns > 0:
                    woke = max(own, key=lambda tid: own[tid][2])
                    known = woke if own[woke][2] > 0 and woke else None
                    found.append(LockWaits(lock, wait_ns, waits, over_ns, known))
        found.sort(key=lambda one: (-one.rate, one.lock))
        return [one for one in found[:MOST] if one.rate >= found[0].rate * MIN_SHARE]

    def _growth(self, begin: int, end: int) -> tuple[dict[Key, tuple[int, int, int]], int]:
        """What rows grew by from the last reading before a time to the first one after another."""
        if len(self._times) < 2:
            return {}, 0
        low = max((at for at, time in enumerate(self._times) if time <= begin), default=0)
        last = len(self._times) - 1
        high = min((at for at, time in enumerate(self._times) if time >= end), default=last)
        if high <= low:
            return {}, 0
        before, after = self._states[low], self._states[high]
        grown = {
            key: (row[0] - old[0], row[1] - old[1], row[2] - old[2])
            for key, row in after.items()
            if row != (old := before.get(key, (0, 0, 0)))
        }
        return grown, self._times[high] - self._times[low]
