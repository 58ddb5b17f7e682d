"""A made-up target whose state at every instant is known, as frames: for tests of runs."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from builders import frame_header
from tidscope_wire.frame import FrameDecoder, RowEncoder, Rows, join
from tidscope_wire.generated.models import (
    ExitedTotals,
    FrameHeader,
    Gap,
    RoleTotals,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)

FIELDS = ("cpu_run_ns", "cpu_delay_ns", "voluntary_switches")
Counters = dict[str, int | None]
State = dict[tuple[int, int], tuple[str, Counters]]
"""Thread id and start to name and counters."""


@dataclass
class _Thread:
    start_ns: int
    name: str
    counters: Counters


@dataclass
class Story:
    """Frames, and what is true at each of them.

    Attributes:
        frames: one an instant, or more where events are divided; a key frame every so often.
        ends: number of the last frame of each instant.
        states: states of all live threads, at each instant.
        exits: last counters of threads that ended.
        events: all of them, in order.
    """

    frames: list[bytes] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    exits: dict[tuple[int, int], Counters] = field(default_factory=dict)
    events: list[TargetEvent] = field(default_factory=list)


class Reader:
    """Follows frames as the page does.

    Attributes:
        threads: alive, by id: start, name and last counters.
        headers: headers of all frames.
        exits: last counters of the threads that exited.
        whole: whether it knows all threads: it has a key frame, and everything since.
    """

    def __init__(self) -> None:
        self.threads: dict[int, tuple[int, str, Counters]] = {}
        self.headers: list[FrameHeader] = []
        self.exits: dict[tuple[int, int], Counters] = {}
        self.whole = False
        self._decoder = FrameDecoder()

    @property
    def seq(self) -> int:
        """Number of the last frame; 0 before the first."""
        return self.headers[-1].seq if self.headers else 0

    def read(self, frame: bytes) -> None:
        """Take a frame in."""
        header, rows = self._decoder.decode(frame)
        assert header.seq > self.seq
        follows = header.first_seq <= self.seq + 1
        # A gap within merged frames may be behind the key frame among them.
        gap = any(isinstance(event, Gap) for event in header.events)
        self.whole = not gap and (header.kind == "key" or (self.whole and follows))
        self.headers.append(header)
        # Events of the first frame precede its rows, which include their effects.
        for event in header.events:
            if isinstance(event, ThreadExited):
                self.threads.pop(event.tid, None)
                self.exits[event.tid, event.start_ns] = dict(event.totals)
            elif isinstance(event, ThreadBorn):
                self.threads[event.tid] = (event.start_ns, event.name, {})
            elif isinstance(event, ThreadRenamed) and event.tid in self.threads:
                start_ns, _, counters = self.threads[event.tid]
                self.threads[event.tid] = (start_ns, event.name, counters)
        if rows.start_ns is not None and rows.name is not None:
            starts = rows.start_ns.tolist()
            self.threads = {
                tid: (start, name, {})
                for tid, start, name in zip(rows.tid.tolist(), starts, rows.name, strict=True)
            }
        for place, tid in enumerate(rows.tid.tolist()):
            if tid not in self.threads and not self.whole:
                continue
            counters = self.threads[tid][2]
            for name in FIELDS:
                absent = name in rows.absent and rows.absent[name][place]
                counters[name] = None if absent else int(rows.columns[name][place])

    def state(self) -> State:
        """State of each living thread."""
        return {
            (tid, start): (name, counters) for tid, (start, name, counters) in self.threads.items()
        }


def check(reported: Story, frames: Sequence[bytes]) -> Reader:
    """Hold what a reader knows after each frame against the truth."""
    reader = Reader()
    truth = dict(zip(reported.times, reported.states, strict=True))
    for frame in frames:
        reader.read(frame)
        if len(reader.headers) > 1:
            assert reader.headers[-1].first_seq == reader.headers[-2].seq + 1
        assert reader.state() == truth[reader.headers[-1].time_ns]
    return reader


def story(
    instants: int,
    seed: int,
    key_every: int = 50,
    missing: frozenset[int] = frozenset(),
    divided: float = 0,
) -> Story:
    """Make one: threads come, go, are renamed, rest, and take ids of dead ones again.

    Args:
        instants: number of instants.
        seed: seed of the random numbers.
        key_every: instants.
        missing: numbers of instants that are left out, though they were sampled.
        divided: chance that the events of an instant have a frame of their own before it.
    """
    chance = random.Random(seed)
    encoder = RowEncoder(FIELDS)
    alive: dict[int, _Thread] = {tid: _thread(tid, -tid * 10) for tid in (100, 101, 102)}
    reported = Story()
    last_seq = 0
    seq = 0
    for instant in range(1, instants + 1):
        seq += 1
        time_ns = instant * 100_000_000
        events = _happen(chance, alive, time_ns, reported)
        born = {event.tid for event in events if isinstance(event, ThreadBorn)}
        moved = [tid for tid in alive if tid in born or chance.random() < 0.6]
        for tid in moved:
            _work(chance, alive[tid])
        key = instant % key_every == 1 or key_every == 1
        divide = events and instant > 1 and chance.random() < divided
        seq += bool(divide)
        if instant in missing:
            continue
        rows = _rows(alive, sorted(alive) if key else sorted(moved), key=key)
        dead = ExitedTotals(threads=len(reported.exits), inexact=0, totals=_sums(reported))
        if divide:
            header = frame_header(seq=seq - 1, rows=0, time_ns=time_ns, events=events)
            reported.frames.append(join(header.model_copy(update={"exited": dead}), b""))
        header = frame_header(
            seq=seq,
            kind="key" if key else "delta",
            rows=len(rows.tid),
            time_ns=time_ns,
            events=[] if divide else events,
        )
        header = header.model_copy(update={"exited": dead})
        if instant % 10 == 1:
            total = sum(one.counters["cpu_run_ns"] or 0 for one in alive.values())
            role = RoleTotals(role="w-#", live=len(alive), exited=0, totals={"cpu_run_ns": total})
            header = header.model_copy(update={"roles": [role]})
        reported.frames.append(join(header, encoder.encode(rows)))
        reported.times.append(time_ns)
        reported.ends.append(seq)
        reported.events.extend(events)
        reported.states.append(
            {(tid, one.start_ns): (one.name, dict(one.counters)) for tid, one in alive.items()}
        )
        last_seq = seq
    assert last_seq
    return reported


def _sums(reported: Story) -> dict[str, int]:
    return {
        name: sum(counters[name] or 0 for counters in reported.exits.values()) for name in FIELDS
    }


def _thread(tid: int, start_ns: int) -> _Thread:
    return _Thread(start_ns, f"w-{tid}", {"cpu_run_ns": 0, "cpu_delay_ns": None, FIELDS[2]: 0})


def _happen(
    chance: random.Random, alive: dict[int, _Thread], time_ns: int, reported: Story
) -> list[TargetEvent]:
    events: list[TargetEvent] = []
    if len(alive) > 1 and chance.random() < 0.15:
        tid = chance.choice(sorted(alive))
        one = alive.pop(tid)
        _work(chance, one)
        totals = {name: value for name, value in one.counters.items() if value is not None}
        reported.exits[tid, one.start_ns] = dict(one.counters)
        events.append(
            ThreadExited(
                tid=tid,
                start_ns=one.start_ns,
                name=one.name,
                totals=totals,
                exact=True,
                seen_alive=True,
            )
        )
    if len(alive) < 12 and chance.random() < 0.2:
        tid = chance.choice([tid for tid in range(100, 112) if tid not in alive])
        alive[tid] = _thread(tid, time_ns - chance.randrange(1, 90_000_000))
        events.append(ThreadBorn(tid=tid, start_ns=alive[tid].start_ns, name=alive[tid].name))
    if chance.random() < 0.1:
        tid = chance.choice(sorted(alive))
        before, alive[tid].name = alive[tid].name, f"n{time_ns // 100_000_000}"
        events.append(ThreadRenamed(tid=tid, name=alive[tid].name, previous=before))
    return events


def _work(chance: random.Random, one: _Thread) -> None:
    one.counters["cpu_run_ns"] = (one.counters["cpu_run_ns"] or 0) + chance.randrange(1, 10**7)
    if chance.random() < 0.5:
        one.counters["cpu_delay_ns"] = (one.counters["cpu_delay_ns"] or 0) + chance.randrange(9)


def _rows(alive: dict[int, _Thread], tids: list[int], *, key: bool) -> Rows:
    columns, absent = {}, {}
    for name in FIELDS:
        values = [alive[tid].counters[name] for tid in tids]
        columns[name] = np.array([value or 0 for value in values], np.uint64)
        absent[name] = np.array([value is None for value in values], np.bool_)
    return Rows(
        np.array(tids, np.uint32),
        columns,
        absent,
        np.array([alive[tid].start_ns for tid in tids], np.int64) if key else None,
        [alive[tid].name for tid in tids] if key else None,
    )
