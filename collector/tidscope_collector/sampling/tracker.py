"""What changed between two readings: births, names, exits, counters. Pure: no I/O, no clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import Rows
from tidscope_wire.generated.models import (
    ExitedTotals,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)

from tidscope_collector.reading import Reading

MAX_EXITED_REMEMBERED = 65536


@dataclass
class Thread:
    """Identity of a live thread; start in nanoseconds since attach."""

    start_ns: int
    name: str


def text(comm: bytes) -> str:
    """A comm as text; bytes that are no UTF-8 are shown as replacement characters."""
    return comm.partition(b"\0")[0].decode("utf-8", "replace")


@dataclass
class Tracker:
    """The threads of one target.

    Args:
        fields: column names of its readings.
        attach_ns: CLOCK_MONOTONIC of the attachment, the zero of all times given out.
    """

    fields: tuple[str, ...]
    attach_ns: int
    threads: dict[int, Thread] = field(default_factory=dict)
    exited_threads: int = 0
    inexact: int = 0
    _last: Reading | None = None
    _last_end_ns: int = 0
    _totals: dict[str, int] = field(default_factory=dict)
    _ended: dict[int, int] = field(default_factory=dict)

    def update(
        self, reading: Reading, end_ns: int, exits: Reading | None, *, listed: frozenset[int] | None
    ) -> tuple[list[TargetEvent], Rows]:
        """Take a sample in.

        Args:
            reading: the live threads.
            end_ns: CLOCK_MONOTONIC after it was taken.
            exits: records of threads of this target that exited, drained after the reading.
            listed: thread ids that were listed; None if exactly those of the reading.

        Returns:
            Events in order, and the rows that changed.
        """
        events: list[TargetEvent] = []
        gone = self._records(exits, events)
        reading = self._without_ended(reading, gone)
        same = self._last is not None and np.array_equal(self._last.tid, reading.tid)
        fresh = self._reborn(reading) if same else np.ones(len(reading.tid), np.bool_)
        if not same:
            self._departed(reading, listed, events)
            fresh = np.array([int(tid) not in self.threads for tid in reading.tid], np.bool_)
            fresh |= self._reborn_among(reading)
        for row in np.flatnonzero(fresh):
            self._born(reading, int(row), events)
        changed = fresh | self._changed(reading, same=same)
        self._renamed(reading, fresh, events, same=same)
        self._last, self._last_end_ns = reading, end_ns
        return events, self._rows(reading, changed)

    def snapshot(self) -> Rows:
        """All live threads with their identities."""
        last = self._last
        if last is None:
            empty = np.empty(0, np.uint64)
            columns = dict.fromkeys(self.fields, empty)
            return Rows(np.empty(0, np.uint32), columns, {}, np.empty(0, np.int64), [])
        rows = self._rows(last, np.ones(len(last.tid), np.bool_))
        known = [self.threads[int(tid)] for tid in last.tid]
        starts = np.array([thread.start_ns for thread in known], np.int64)
        return Rows(rows.tid, rows.columns, rows.absent, starts, [thread.name for thread in known])

    def exited(self) -> ExitedTotals:
        """Sums over the threads that ended since attach."""
        return ExitedTotals(
            threads=self.exited_threads, inexact=self.inexact, totals=dict(self._totals)
        )

    def finish(self, exits: Reading | None) -> list[TargetEvent]:
        """The process has ended: every thread that is left has exited."""
        events: list[TargetEvent] = []
        self._records(exits, events)
        for tid in list(self.threads):
            self._vanished(tid, events)
        self._last = None
        return events

    def _records(self, exits: Reading | None, events: list[TargetEvent]) -> set[int]:
        gone: set[int] = set()
        if exits is None:
            return gone
        for row, tid in enumerate(exits.tid.tolist()):
            thread = self.threads.pop(tid, None)
            start = int(exits.start_ns[row]) - self.attach_ns
            totals = {
                name: int(exits.counters[row, column])
                for column, name in enumerate(self.fields)
                if exits.absent is None or not exits.absent[row, column]
            }
            self._count(totals)
            self._ended[tid] = int(exits.start_ns[row])
            gone.add(tid)
            events.append(
                ThreadExited(
                    tid=tid,
                    start_ns=thread.start_ns if thread else start,
                    name=text(bytes(exits.name[row])),
                    totals=totals,
                    exact=True,
                    seen_alive=thread is not None,
                )
            )
        while len(self._ended) > MAX_EXITED_REMEMBERED:
            self._ended.pop(next(iter(self._ended)))
        return gone

    def _without_ended(self, reading: Reading, gone: set[int]) -> Reading:
        """Leave out threads that have exited but still answer, such as a main thread that left."""
        if not self._ended:
            return reading
        keep = np.ones(len(reading.tid), np.bool_)
        for row, tid in enumerate(reading.tid.tolist()):
            ended = self._ended.get(tid)
            if ended is None:
                continue
            # The reading's start is a lower bound; a thread reborn under this id started later
            # than the one that ended by at least the life of that one.
            if tid in gone or int(reading.start_ns[row]) <= ended + 1_000_000:
                keep[row] = False
            else:
                del self._ended[tid]
        return reading if keep.all() else _pick(reading, keep)

    def _reborn(self, reading: Reading) -> npt.NDArray[np.bool_]:
        last = self._last
        if last is None:
            return np.ones(len(reading.tid), np.bool_)
        later: npt.NDArray[np.bool_] = reading.start_ns > self._last_end_ns
        if "cpu_run_ns" in self.fields:
            column = self.fields.index("cpu_run_ns")
            later = later | (reading.counters[:, column] < last.counters[:, column])
        return later

    def _reborn_among(self, reading: Reading) -> npt.NDArray[np.bool_]:
        known = np.array([int(tid) in self.threads for tid in reading.tid], np.bool_)
        result: npt.NDArray[np.bool_] = known & (reading.start_ns > self._last_end_ns)
        return result

    def _departed(
        self, reading: Reading, listed: frozenset[int] | None, events: list[TargetEvent]
    ) -> None:
        present = set(reading.tid.tolist()) if listed is None else listed
        for tid in [tid for tid in self.threads if tid not in present]:
            self._vanished(tid, events)

    def _vanished(self, tid: int, events: list[TargetEvent]) -> None:
        thread = self.threads.pop(tid)
        totals = self._last_totals(tid)
        self._count(totals)
        self.inexact += 1
        events.append(
            ThreadExited(
                tid=tid,
                start_ns=thread.start_ns,
                name=thread.name,
                totals=totals,
                exact=False,
                seen_alive=True,
            )
        )

    def _last_totals(self, tid: int) -> dict[str, int]:
        last = self._last
        if last is None:
            return {}
        rows = np.flatnonzero(last.tid == tid)
        if not len(rows):
            return {}
        row = rows[0]
        return {
            name: int(last.counters[row, column])
            for column, name in enumerate(self.fields)
            if last.absent is None or not last.absent[row, column]
        }

    def _count(self, totals: Mapping[str, int]) -> None:
        self.exited_threads += 1
        for name, value in totals.items():
            self._totals[name] = self._totals.get(name, 0) + value

    def _born(self, reading: Reading, row: int, events: list[TargetEvent]) -> None:
        tid = int(reading.tid[row])
        if tid in self.threads:
            self._vanished(tid, events)
        thread = Thread(int(reading.start_ns[row]) - self.attach_ns, text(bytes(reading.name[row])))
        self.threads[tid] = thread
        self._ended.pop(tid, None)
        events.append(ThreadBorn(tid=tid, start_ns=thread.start_ns, name=thread.name))

    def _renamed(
        self,
        reading: Reading,
        fresh: npt.NDArray[np.bool_],
        events: list[TargetEvent],
        *,
        same: bool,
    ) -> None:
        last = self._last
        rows: list[int] = list(range(len(reading.tid)))
        if same and last is not None:
            rows = np.flatnonzero((reading.name != last.name) & ~fresh).tolist()
        for row in rows:
            thread, name = self.threads[int(reading.tid[row])], text(bytes(reading.name[row]))
            if thread.name != name:
                tid = int(reading.tid[row])
                events.append(ThreadRenamed(tid=tid, name=name, previous=thread.name))
                thread.name = name

    def _changed(self, reading: Reading, *, same: bool) -> npt.NDArray[np.bool_]:
        last = self._last
        if last is None:
            return np.ones(len(reading.tid), np.bool_)
        if same:
            result: npt.NDArray[np.bool_] = (reading.counters != last.counters).any(axis=1)
            return result
        changed = np.ones(len(reading.tid), np.bool_)
        _, now, then = np.intersect1d(
            reading.tid, last.tid, assume_unique=True, return_indices=True
        )
        changed[now] = (reading.counters[now] != last.counters[then]).any(axis=1)
        return changed

    def _rows(self, reading: Reading, chosen: npt.NDArray[np.bool_]) -> Rows:
        counters = np.ascontiguousarray(reading.counters[chosen].T)
        absent: dict[str, npt.NDArray[np.bool_]] = {}
        if reading.absent is not None:
            masks = reading.absent[chosen]
            for column, name in enumerate(self.fields):
                if masks[:, column].any():
                    absent[name] = np.ascontiguousarray(masks[:, column])
        columns = dict(zip(self.fields, counters, strict=True))
        return Rows(reading.tid[chosen], columns, absent)


def _pick(reading: Reading, keep: npt.NDArray[np.bool_]) -> Reading:
    absent = None if reading.absent is None else reading.absent[keep]
    return Reading(
        reading.tid[keep],
        reading.counters[keep],
        absent,
        reading.start_ns[keep],
        reading.name[keep],
    )
