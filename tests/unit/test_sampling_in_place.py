"""Readings that are brought up to date in place give the same frames as readings made each time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tidscope_collector.sampling.presence import Presence
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.threads.reading import Reading
from tidscope_wire.frame import RowEncoder, Rows

FIELDS = ("cpu_run_ns", "blkio_delay_ns")
ATTACH = 1_000_000
MAIN = 10
TICK_NS = 1000


@dataclass
class Life:
    """A thread: its start, since attach, its name and its counters."""

    start_ns: int
    name: bytes = b"work"
    cpu: int = 0
    blkio: int = 0


@dataclass
class World:
    """Threads that the test makes live, and records of those that ended."""

    threads: dict[int, Life] = field(default_factory=lambda: {MAIN: Life(-500, b"main")})
    exits: list[tuple[int, Life]] = field(default_factory=list)
    unread: set[int] = field(default_factory=set)
    now: int = 0

    def reading(self, lives: Sequence[tuple[int, Life]]) -> Reading:
        return Reading(
            np.array([tid for tid, _ in lives], np.uint32),
            np.array([(life.cpu, life.blkio) for _, life in lives], np.uint64).reshape(-1, 2),
            None,
            np.array([life.start_ns + ATTACH for _, life in lives], np.int64),
            np.array([life.name for _, life in lives], "S16"),
        )

    def read(self) -> Reading:
        return self.reading([one for one in self.threads.items() if one[0] not in self.unread])

    def look(self, tid: int) -> Presence:
        return Presence.ALIVE if tid in self.threads else Presence.GONE


class InPlace:
    """Readings of the same as a `ProcessReader` gives them that keeps rows in place."""

    def __init__(self) -> None:
        self._rows: Reading | None = None

    def read(self, fresh: Reading, now_ns: int) -> Reading:
        rows = self._rows
        if rows is None or not _same_threads(rows, fresh) or (fresh.counters < rows.counters).any():
            changed = np.zeros(len(fresh.tid), np.bool_)
            seen = np.full(len(fresh.tid), now_ns, np.int64)
            self._rows = replace(fresh, changed=changed, seen_ns=seen)
            return self._rows
        assert rows.changed is not None
        rows.changed[(fresh.counters != rows.counters).any(axis=1)] = True
        assert rows.seen_ns is not None
        rows.counters[:] = fresh.counters
        rows.seen_ns[:] = now_ns
        return rows


def _same_threads(rows: Reading, fresh: Reading) -> bool:
    return (
        np.array_equal(rows.tid, fresh.tid)
        and np.array_equal(rows.start_ns, fresh.start_ns)
        and np.array_equal(rows.name, fresh.name)
    )


Deeds = list[tuple[str, int, int]]
TIDS = st.integers(20, 25)
WORK = st.tuples(st.just("work"), TIDS, st.integers(0, 3))
DEED = st.one_of(
    *(WORK, WORK, WORK, st.tuples(st.just("born"), TIDS, st.integers(0, 3))),
    *(st.tuples(st.just(deed), TIDS, st.just(0)) for deed in ("ends", "vanishes", "reborn")),
    st.tuples(st.just("named"), TIDS, st.integers(0, 2)),
    st.tuples(st.just("unread"), TIDS, st.just(0)),
    # It is read and not taken in, as when a sample fails.
    st.tuples(st.just("missed"), TIDS, st.just(0)),
    # It exits after it was read, so that its record comes with a reading that still has it.
    st.tuples(st.just("exits late"), TIDS, st.just(0)),
)


def do(world: World, deed: str, tid: int, number: int) -> None:
    life = world.threads.get(tid)
    if deed == "born" and life is None:
        world.threads[tid] = Life(world.now, cpu=number)
    elif life is None:
        return
    elif deed == "work":
        life.cpu += 1 + number
        life.blkio += number
    elif deed in ("ends", "vanishes", "reborn"):
        if deed != "vanishes":
            world.exits.append((tid, replace(life, cpu=life.cpu + 5)))
        del world.threads[tid]
        if deed == "reborn":
            world.threads[tid] = Life(world.now)
    elif deed == "named":
        life.name = b"name%d" % number
    elif deed == "unread":
        world.unread.add(tid)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(DEED, max_size=4), min_size=1, max_size=25))
def test_frames_are_the_same(history: list[Deeds]) -> None:
    world, in_place = World(), InPlace()
    encoder = RowEncoder(FIELDS)
    kept, made = (Tracker(FIELDS, ATTACH, MAIN) for _ in range(2))
    for tick in _with_ticks_after_missed(history):
        world.now += TICK_NS
        world.exits, world.unread = [], set()
        for deed, tid, number in tick:
            do(world, deed, tid, number)
        fresh = world.read()
        reading = in_place.read(world.read(), ATTACH + world.now)
        if any(deed == "missed" for deed, _, _ in tick):
            continue
        for deed, tid, _ in tick:
            if deed == "exits late" and tid in world.threads:
                life = world.threads.pop(tid)
                world.exits.append((tid, replace(life, cpu=life.cpu + 5)))
        exits = world.reading(world.exits) if world.exits else None
        listed = np.array(list(world.threads), np.uint32)
        found = [
            tracker.update(one, ATTACH + world.now, exits, listed=listed, look=world.look)
            for tracker, one in ((made, fresh), (kept, reading))
        ]
        (expected, expected_rows), (events, rows) = found
        assert events == expected
        assert by_thread(rows) == by_thread(expected_rows)
        assert encoder.encode(rows) == encoder.encode(expected_rows)
        assert encoder.encode(kept.all_rows()) == encoder.encode(made.all_rows())
        assert kept.exited() == made.exited()
        assert kept.roles(0) == made.roles(0)
        assert kept.total(FIELDS) == made.total(FIELDS)


def _with_ticks_after_missed(history: list[Deeds]) -> Iterator[Deeds]:
    """What was missed is taken in before any thread goes or is renamed: until then, only rows that
    are kept know of it."""
    for tick in history:
        yield tick
        if any(deed == "missed" for deed, _, _ in tick):
            yield []


def by_thread(rows: Rows) -> dict[int, list[int]]:
    columns = [column.tolist() for column in rows.columns.values()]
    return dict(zip(rows.tid.tolist(), map(list, zip(*columns, strict=True)), strict=True))
