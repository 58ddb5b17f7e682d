"""Frames of a target around an instant, as timelines of threads and readings of locks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import Fields, FrameDecoder, FrameError, Rows, split
from tidscope_wire.frame_tables import Table
from tidscope_wire.generated.models import (
    FrameHeader,
    TableName,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at
from tidscope_wire.table_streams import decode_tables

from tidscope_backend.state_groups import GROUPS
from tidscope_backend.traces.joining.timeline import REASONS, UNKNOWN, Timeline

IDLE_KINDS = frozenset({"park", "condition", "join", "call"})
"""Kinds of waits for work or for an end, which no other thread's use of a lock prolongs."""
FUTEX = "futex"
PROGRAM_NS = 10_500_000_000
"""Maximum interval between readings of the program's own tables, in nanoseconds."""
READING_NS = 1_500_000_000
"""Maximum interval between readings of other tables, in nanoseconds."""
TOTALS = frozenset({"go-metrics"})
"""Sources that only sum up waits which other sources name."""
MAX_LOCKS = 5
MIN_SHARE = 0.01
"""Minimum waits for a lock, as a share of the most awaited lock's. Other locks are omitted."""
Key = tuple[int, int]
"""Lock and thread IDs."""
_TABLES: frozenset[TableName] = frozenset({"locks", "lock_names", "processes"})
"""Tables that are decoded."""


class LockName(NamedTuple):
    """Name and kind of a lock, and the source of both."""

    name: str
    kind: str
    source: str


class LockWaits(NamedTuple):
    """Waits for a lock between two readings.

    Attributes:
        lock: name of the lock.
        wait_ns: wait time of the requested threads.
        waits: number of waits.
        over_ns: time between the two readings.
        woke: thread that ended most waits for the lock; None if unknown.
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
    """The tables `locks` and `lock_names` of frames, in order."""

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
            # The frame has the complete table, or no wait has happened yet.
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
        """Return waits for locks around a window, the longest first.

        Args:
            begin: start of the window, since attach.
            end: end of the window, since attach.
            tids: threads to include; None for all, including waits without a known thread.
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
        return [one for one in found[:MAX_LOCKS] if one.rate >= found[0].rate * MIN_SHARE]

    def _growth(self, begin: int, end: int) -> tuple[dict[Key, tuple[int, int, int]], int]:
        """Return the growth of each row between the readings that enclose the interval."""
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


WITHOUT_LEDGER = (
    ("running", "cpu_run_ns"),
    ("runnable", "cpu_delay_ns"),
    ("disk", "blkio_delay_ns"),
)
"""States and counters that represent a thread without a ledger of states."""
GROUP_OF_STATE = np.array(
    [next(at for at, group in enumerate(GROUPS) if field in group.fields) for field in STATE_FIELDS]
)
"""Index of the group of states of each of STATE_FIELDS."""


@dataclass
class _Life:
    """Samples of one thread, in order."""

    times: list[int] = field(default_factory=list)
    totals: list[npt.NDArray[np.int64]] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    since: list[int] = field(default_factory=list)
    row: npt.NDArray[np.uint64] | None = None
    """Values of the last sample: finished stays, state, since; or counters."""
    ledger: bool = False

    def hold(self, time_ns: int) -> None:
        """Keep the state of a thread without a row in a frame."""
        if self.row is not None and self.times[-1] < time_ns:
            totals, states, since = _totals(self.row[None], time_ns, ledger=self.ledger)
            self.append(time_ns, totals[0], int(states[0]), int(since[0]))

    def append(self, time_ns: int, total: npt.NDArray[np.int64], state: int, since: int) -> None:
        """Add a sample."""
        self.times.append(time_ns)
        self.totals.append(total)
        self.states.append(state)
        self.since.append(since)

    def timeline(self, until_ns: int) -> Timeline:
        """Return the samples as a timeline that is valid until an instant."""
        self.hold(until_ns)
        return Timeline(
            np.array(self.times, np.int64),
            np.array(self.totals, np.int64).reshape(len(self.times), len(REASONS)),
            np.array(self.states, np.int64),
            np.array(self.since, np.int64),
            until_ns,
        )


@dataclass
class Observed:
    """Content of frames, in order.

    Attributes:
        names: last known names of threads.
        pids: processes of threads, where the target is a group.
        inside: process IDs of a group by their IDs inside the PID namespace.
        locks: readings of the tables of locks.
        offset_ns: Unix nanoseconds at attach, by the frames' two clocks.
        from_ns: time of the first frame, since attach.
        to_ns: time of the last frame.
    """

    names: dict[int, str] = field(default_factory=dict)
    pids: dict[int, int] = field(default_factory=dict)
    inside: dict[int, int] = field(default_factory=dict)
    locks: LockReadings = field(default_factory=LockReadings)
    offset_ns: int = 0
    from_ns: int = 0
    to_ns: int = 0
    _lives: dict[int, _Life] = field(default_factory=dict)
    _ended: dict[int, list[Timeline]] = field(default_factory=dict)

    def timelines(self, tid: int) -> list[Timeline]:
        """Return the lives of a thread ID, in order."""
        life = self._lives.get(tid)
        own = [] if life is None else [life.timeline(self.to_ns)]
        return [*self._ended.get(tid, ()), *own]

    def threads(self, pid: int | None) -> list[int]:
        """Return IDs of the threads of a process; None for all."""
        tids = {*self._lives, *self._ended}
        return sorted(tid for tid in tids if pid is None or self.pids.get(tid) == pid)


def observe(frames: Iterable[bytes], fields: Fields | None) -> Observed:
    """Read frames.

    Args:
        frames: frames of one target, in order; frames before the first key frame are ignored.
        fields: counter columns of the previous key frame.
    """
    found, decoder = Observed(), FrameDecoder(fields)
    offsets: list[int] = []
    for data in frames:
        try:
            header, body = split(data)
            if header.kind != "key" and not offsets:
                continue
            rows = decoder.decode_rows(header, body)
            tables = decode_tables(header, body, _TABLES)
        except FrameError:
            continue
        if not offsets:
            found.from_ns = header.time_ns
        _happened(found, header)
        _sampled(found, header, rows)
        found.locks.add(header, tables)
        for row in tables.get("processes", ()):
            if row["namespace_pid"]:
                found.inside[int(row["namespace_pid"])] = int(row["pid"])
        found.to_ns = header.time_ns
        offsets.append(header.unix_us * 1000 - header.time_ns)
    found.offset_ns = int(np.median(offsets)) if offsets else 0
    return found


def _happened(found: Observed, header: FrameHeader) -> None:
    for event in header.events:
        if isinstance(event, ThreadExited):
            life = found._lives.pop(event.tid, None)
            if life is not None:
                at = life.times[-1] if life.times else 0
                found._ended.setdefault(event.tid, []).append(life.timeline(at))
        elif isinstance(event, ThreadBorn):
            found.names[event.tid] = event.name
            if event.pid is not None:
                found.pids[event.tid] = event.pid
        elif isinstance(event, ThreadRenamed):
            found.names[event.tid] = event.name


def _sampled(found: Observed, header: FrameHeader, rows: Rows) -> None:
    tids: Sequence[int] = rows.tid.tolist()
    if rows.name is not None:
        found.names.update(zip(tids, rows.name, strict=True))
    if rows.pid is not None:
        found.pids.update(zip(tids, rows.pid.tolist(), strict=True))
    values = _values(rows)
    if values is None:
        return
    has_ledger = STATE in rows.columns
    totals, states, since = _totals(values, header.time_ns, ledger=has_ledger)
    for index, tid in enumerate(tids):
        life = found._lives.setdefault(tid, _Life(ledger=has_ledger))
        life.hold(found.to_ns)
        life.append(header.time_ns, totals[index], int(states[index]), int(since[index]))
        life.row = values[index]


def _values(rows: Rows) -> npt.NDArray[np.uint64] | None:
    """Return a row of counters per thread, or None if none describe activity."""
    if STATE in rows.columns:
        names: Sequence[str] = (*STATE_FIELDS, STATE, SINCE)
    else:
        names = [name for _, name in WITHOUT_LEDGER]
    zeros = np.zeros(len(rows.tid), np.uint64)
    if not any(name in rows.columns for name in names):
        return None
    return np.stack([rows.columns.get(name, zeros) for name in names], axis=1)


def _totals(
    values: npt.NDArray[np.uint64], time_ns: int, *, ledger: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return cumulative time by reason, the current reason, and its start.

    Without a ledger, time that is not CPU, run queue or disk has no known state and counts as the
    remainder.
    """
    totals = np.zeros((len(values), len(REASONS)), np.int64)
    if not ledger:
        for column, (reason, _) in enumerate(WITHOUT_LEDGER):
            totals[:, REASONS.index(reason)] = values[:, column]
        totals[:, UNKNOWN] = time_ns - totals[:, :UNKNOWN].sum(axis=1)
        return totals, np.full(len(values), -1), np.zeros(len(values), np.int64)
    finished, state, since = values[:, :-2], values[:, -2], values[:, -1]
    times = states_at(finished, state, since, time_ns).astype(np.int64)
    for column, group in enumerate(GROUP_OF_STATE):
        totals[:, group] += times[:, column]
    known = (state > 0) & (state <= len(STATE_FIELDS))
    place = np.where(known, state.astype(np.int64) - 1, 0)
    return totals, np.where(known, GROUP_OF_STATE[place], -1), since.astype(np.int64)
