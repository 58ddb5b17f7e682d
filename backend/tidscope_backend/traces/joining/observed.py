"""Frames of a target around a time, as timelines of its threads and readings of its locks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import Fields, FrameDecoder, FrameError, Rows, split
from tidscope_wire.frame_tables import decode_tables
from tidscope_wire.generated.models import FrameHeader, ThreadBorn, ThreadExited, ThreadRenamed
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at

from tidscope_backend.state_groups import GROUPS
from tidscope_backend.traces.joining.lock_readings import LockReadings
from tidscope_backend.traces.joining.timeline import REASONS, UNKNOWN, Timeline

WITHOUT_LEDGER = (
    ("running", "cpu_run_ns"),
    ("runnable", "cpu_delay_ns"),
    ("disk", "blkio_delay_ns"),
)
"""What counters tell of a thread that has no ledger of states."""
GROUP_OF_STATE = np.array(
    [next(at for at, group in enumerate(GROUPS) if field in group.fields) for field in STATE_FIELDS]
)
"""Index of the group of states of each of STATE_FIELDS."""


@dataclass
class _Life:
    """Samples of one thread as they come."""

    times: list[int] = field(default_factory=list)
    totals: list[npt.NDArray[np.int64]] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    since: list[int] = field(default_factory=list)
    row: npt.NDArray[np.uint64] | None = None
    """Of its last sample: finished stays, state, since; or counters."""
    ledger: bool = False

    def hold(self, time_ns: int) -> None:
        """A thread without a row in a frame is as it was before."""
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
        """Its samples, which hold until then."""
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
    """What frames said, in their order.

    Attributes:
        names: of threads, as last seen.
        pids: processes of threads, where the target is a group.
        inside: processes of a group by their ids inside their own PID namespace.
        locks: readings of the tables of locks.
        offset_ns: Unix nanoseconds at attach, by the frames' two clocks.
        from_ns: time of the first frame, since attach.
        to_ns: time of the last one.
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
        """The lives that a thread id had, in order."""
        life = self._lives.get(tid)
        own = [] if life is None else [life.timeline(self.to_ns)]
        return [*self._ended.get(tid, ()), *own]

    def threads(self, pid: int | None) -> list[int]:
        """Ids of the threads of a process; None: of all."""
        tids = {*self._lives, *self._ended}
        return sorted(tid for tid in tids if pid is None or self.pids.get(tid) == pid)


def observe(frames: Iterable[bytes], fields: Fields | None) -> Observed:
    """Read frames.

    Args:
        frames: of one target, in order; what comes before the first key frame is left out.
        fields: counter columns of the key frame before them.
    """
    found, decoder = Observed(), FrameDecoder(fields)
    offsets: list[int] = []
    for data in frames:
        try:
            header, body = split(data)
            if header.kind != "key" and not offsets:
                continue
            rows = decoder.decode_rows(header, body)
            tables = decode_tables(header, body)
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
    """A row of counters for each thread; None: there are none that say what threads did."""
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
    """Cumulative time by reason, the reason under way, and since when.

    Without a ledger, what is neither CPU nor run queue nor disk is unknown, and counts as the rest
    of the time.
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
