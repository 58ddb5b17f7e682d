"""Makes the overview of a run from its parts, in one pass and bounded memory; see docs/runs.md."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import TableName, ThreadExited

from tidscope_backend.store.part_tables import KEY_LEVEL, KEYS
from tidscope_backend.store.parts import Gap, PartReader
from tidscope_backend.store.rate_extremes import (
    RATE_FIELDS,
    SMOOTHING_NS,
    Floats,
    Ints,
    Readings,
    extremes_of,
    extremes_schema,
    floats_of,
    readings_between,
    rounded,
    smoothed_rates,
    values_of,
)
from tidscope_backend.store.table_parts import KEY_LEVEL as TABLE_KEY_LEVEL
from tidscope_backend.store.table_parts import TableFollowers, latest_of

STEP_NS = 7_000_000_000
"""Minimum time between instants of the overview: one or two intervals of key frames."""
PROCESS_TID = 0
"""Key of the whole process among the extremes; no thread has this ID."""


class Bucket(NamedTuple):
    """An instant of a coarse level, and the time since the previous one.

    Attributes:
        samples: rows of all live threads; columns of samples and `level`.
        signals: one row of signals.
        extremes: extremes since the previous instant.
        tables: rows of frame tables that changed since the previous instant; see `table_parts`.
    """

    samples: pa.Table
    signals: pa.Table
    extremes: pa.Table
    tables: Mapping[TableName, pa.Table]


def merged(buckets: Sequence[Bucket]) -> Bucket:
    """Merge consecutive buckets into one."""
    table = pa.concat_tables(bucket.extremes for bucket in buckets)
    ends = {"from_ns": pc.min(table["from_ns"]), "to_ns": pc.max(table["to_ns"])}
    schema = table.schema
    chosen = [(name, "min" if name.endswith("least") else "max") for name in schema.names[5:]]
    table = table.group_by(["level", "tid", "start_ns"], use_threads=False).aggregate(chosen)
    columns = {name: table[name] for name in schema.names[:3]}
    columns |= {name: pa.repeat(value, len(table)) for name, value in ends.items()}
    columns |= {name: table[f"{name}_{how}"] for name, how in chosen}
    *_, last = buckets
    tables = latest_of([one.tables for one in buckets], int(last.signals["seq"][0].as_py()))
    return Bucket(last.samples, last.signals, pa.table(columns, schema=schema), tables)


@dataclass
class _Rows:
    """Rows of samples by thread and instant, restricted to fields with extremes."""

    tid: Ints
    start_ns: Ints
    time_ns: Ints
    values: Floats

    def since(self, time_ns: int) -> "_Rows":
        """Return the rows since a time."""
        kept = self.time_ns >= time_ns
        return _Rows(self.tid[kept], self.start_ns[kept], self.time_ns[kept], self.values[:, kept])


@dataclass
class _Frames:
    """Instants, each with the counters of the whole process."""

    time_ns: Ints
    key: npt.NDArray[np.bool_]
    process: Floats

    def since(self, time_ns: int) -> "_Frames":
        """Return the instants since a time."""
        kept = self.time_ns >= time_ns
        return _Frames(self.time_ns[kept], self.key[kept], self.process[:, kept])


@dataclass
class _State:
    """State kept from part to part, since the key frame before the newest bucket."""

    rows: _Rows
    frames: _Frames
    exits: dict[tuple[int, int], int] = field(default_factory=dict)
    done_ns: int | None = None
    """End of the newest bucket."""
    not_grown: Floats = field(default_factory=lambda: np.zeros(0))
    """Counts of each field before threads were first seen, minus counts lost by resets."""
    seen_seq: int = 0
    at_begin: set[tuple[int, int]] = field(default_factory=set)
    """Threads of the run's first frame."""


class _Lives(NamedTuple):
    """Threads in some rows: identity and readings."""

    tid: Ints
    start_ns: Ints
    first: Ints
    """Index of the first instant of each thread, and of the last."""
    last: Ints
    readings: Readings
    values: Floats


class OverviewMaker:
    """Follows a run part by part.

    Args:
        fields: fields of the target.

    Attributes:
        gaps: frames missing so far.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = list(fields)
        self._kept = [name for name in fields if name in RATE_FIELDS]
        self._schema = extremes_schema(fields)
        nothing, counters = np.empty(0, np.int64), np.empty((len(self._kept), 0))
        self._state = _State(
            _Rows(nothing, nothing, nothing, counters),
            _Frames(nothing, np.empty(0, np.bool_), counters),
            not_grown=np.zeros(len(self._kept)),
        )
        self._tables = TableFollowers()
        self._begin_ns: int | None = None
        self._newest: PartReader | None = None
        self.gaps: list[Gap] = []

    def add(self, part: PartReader) -> Iterator[Bucket]:
        """Process the next part; yield a bucket for each of its key frames."""
        times = part.times
        if self._begin_ns is None:
            self._begin_ns = int(times.time_ns[0])
        self.gaps += part.gaps(self._state.seen_seq)
        self._state.seen_seq = part.last_seq
        self._newest = part
        lives = self._extend(part)
        state = self._state
        ends = self._next_ends()
        samples, signals = part.samples(KEY_LEVEL), part.signals()
        seqs = samples["seq"].to_numpy()
        places = np.searchsorted(times.time_ns, state.frames.time_ns[ends], side="right") - 1
        tables = self._tables.advance(part.tables(TABLE_KEY_LEVEL), times.seq[places])
        found = zip(places.tolist(), self._extremes(lives, ends), tables, strict=True)
        for place, (_, extremes), changed in found:
            rows = samples.filter(pa.array(seqs == times.seq[place]))
            yield Bucket(rows, signals.slice(place, 1), extremes, changed)
        if len(ends):
            state.done_ns = int(state.frames.time_ns[ends[-1]])
            self._forget()

    def end(self, threads: pa.Table) -> Iterator[Bucket]:
        """Yield a bucket for the last frame of the run, unless it is a key frame.

        Args:
            threads: the run's thread table.
        """
        state, part = self._state, self._newest
        if part is None or int(state.frames.time_ns[-1]) <= self._done_ns:
            return
        lives = self._lives()
        last = len(state.frames.time_ns) - 1
        alive = np.flatnonzero(lives.last == last)
        rows = _last_rows(part, threads, self._fields, lives.tid[alive], lives.start_ns[alive])
        (tables,) = self._tables.advance(part.tables(), part.times.seq[-1:])
        for _, extremes in self._extremes(lives, np.array([last])):
            yield Bucket(rows, part.signals().slice(len(part.times.seq) - 1, 1), extremes, tables)

    def _next_ends(self) -> Ints:
        """Return indices of the key frames that end buckets, after the newest bucket."""
        frames, after_ns = self._state.frames, self._state.done_ns
        ends = []
        for place in np.flatnonzero(frames.key).tolist():
            time_ns = int(frames.time_ns[place])
            if after_ns is None or time_ns - after_ns >= STEP_NS:
                ends.append(place)
                after_ns = time_ns
        return np.array(ends, np.int64)

    @property
    def _done_ns(self) -> int:
        return -1 if self._state.done_ns is None else self._state.done_ns

    def _extend(self, part: PartReader) -> _Lives:
        """Add the rows and instants of a part."""
        state, times = self._state, part.times
        kept = np.append(np.diff(times.time_ns) > 0, True)
        time_ns, key = times.time_ns[kept], times.level[kept] == KEY_LEVEL
        samples = part.samples(0, [*KEYS[:3], *self._kept])
        samples = samples.filter(pc.field("start_ns").is_valid())
        seq = samples["seq"].to_numpy()
        old = state.rows
        rows = _Rows(
            np.concatenate([old.tid, samples["tid"].to_numpy().astype(np.int64)]),
            np.concatenate([old.start_ns, samples["start_ns"].to_numpy()]),
            np.concatenate([old.time_ns, times.time_ns[np.searchsorted(times.seq, seq)]]),
            np.concatenate([old.values, values_of(samples, self._kept)], axis=1),
        )
        order = np.lexsort((rows.time_ns, rows.start_ns, rows.tid))
        state.rows = _Rows(
            rows.tid[order], rows.start_ns[order], rows.time_ns[order], rows.values[:, order]
        )
        before = len(state.frames.time_ns)
        state.frames = _Frames(
            np.concatenate([state.frames.time_ns, time_ns]),
            np.concatenate([state.frames.key, key]),
            np.concatenate([state.frames.process, np.empty((len(self._kept), len(kept[kept])))], 1),
        )
        for event in part.events():
            if isinstance(event.event, ThreadExited):
                state.exits[event.event.tid, event.event.start_ns] = event.time_ns
        lives = self._lives()
        exited = part.signals(["exited"])["exited"].combine_chunks().field("totals")
        totals = np.stack([floats_of(exited.field(name)) for name in self._kept] or [np.empty(0)])
        if self._kept:
            self._add_process(lives, before, totals[:, kept])
        return lives

    def _lives(self) -> _Lives:
        rows, frames = self._state.rows, self._state.frames
        if not len(rows.tid):
            nothing = np.empty(0, np.int64)
            readings = readings_between(nothing, nothing)
            return _Lives(
                nothing, nothing, nothing, nothing, readings, np.empty((len(self._kept), 0))
            )
        edge = (np.diff(rows.tid) != 0) | (np.diff(rows.start_ns) != 0)
        begins = np.flatnonzero(np.concatenate([[True], edge]))
        ends = np.append(begins[1:], len(rows.tid)) - 1
        instant = np.searchsorted(frames.time_ns, rows.time_ns)
        # A key frame names all live threads.
        keys = np.append(np.flatnonzero(frames.key), len(frames.key))
        last = keys[np.searchsorted(keys[:-1], instant[ends], side="right")] - 1
        tid, start = rows.tid[begins], rows.start_ns[begins]
        # The thread ID is recycled from that instant, even if the exit was lost.
        next_first = np.append(instant[begins[1:]], 0)
        reused = np.append(tid[1:] == tid[:-1], False) & (next_first > instant[begins])
        last = np.where(reused, np.minimum(last, next_first - 1), last)
        if self._state.exits:
            exits = self._exits_of(zip(tid.tolist(), start.tolist(), strict=True))
            known = np.array([exit is not None for exit in exits])
            exit_ns = np.array([exit or 0 for exit in exits], np.int64)
            exit = np.searchsorted(frames.time_ns, exit_ns) - 1
            last = np.where(known, np.minimum(last, exit), last)
        readings = readings_between(instant[begins], last)
        life = np.repeat(np.arange(len(begins)), ends - begins + 1)
        lived = instant <= last[life]
        counts = np.maximum(0, last - instant[begins] + 1)
        offsets = np.cumsum(counts) - counts
        entry = (offsets[life] + instant - instant[begins][life])[lived]
        values = np.stack(
            [readings.held(entry, one[lived]) for one in rows.values]
            or [np.empty(len(readings.life))]
        )
        return _Lives(tid, start, instant[begins], last, readings, values[: len(self._kept)])

    def _exits_of(self, lives: Iterable[tuple[int, int]]) -> list[int | None]:
        """Times of exits of threads, by thread ID and start; None: none is known.

        Where an exit was lost, and the birth of the next thread with that ID too, the exit of that
        one ends both.
        """
        exits = sorted(self._state.exits.items())
        known = [key for key, _ in exits]
        places = ((bisect_left(known, life), life) for life in lives)
        return [
            exits[at][1] if at < len(exits) and known[at][0] == tid else None
            for at, (tid, _) in places
        ]

    def _add_process(self, lives: _Lives, before: int, exited: Floats) -> None:
        """Add counters of the process at the instants from `before` on, summed as on the page."""
        frames, readings = self._state.frames, lives.readings
        instants = len(frames.time_ns)
        begin_ns = self._begin_ns or 0
        first = readings.begin == np.arange(len(readings.begin))
        # Threads older than the run but absent from its first frame: their earlier counts are no
        # growth.
        old = np.flatnonzero(lives.start_ns < begin_ns).tolist()
        keys = {one: (int(lives.tid[one]), int(lives.start_ns[one])) for one in old}
        if not before:
            self._state.at_begin = {key for one, key in keys.items() if lives.first[one] == 0}
        late_lives = np.zeros(len(lives.tid), np.bool_)
        late_lives[[one for one, key in keys.items() if key not in self._state.at_begin]] = True
        late = late_lives[readings.life]
        new = readings.instant >= before
        for number, values in enumerate(lives.values):
            held = np.nan_to_num(values)
            previous = np.concatenate([held[:1], held[:-1]])
            unknown = np.isnan(np.concatenate([values[:1], values[:-1]])) | first
            grown = np.where(first, 0.0, held - previous)
            not_grown = np.where(late & unknown, held, np.minimum(grown, 0.0))
            lost = np.bincount(readings.instant[new], weights=not_grown[new], minlength=instants)
            sums = np.bincount(readings.instant, weights=held, minlength=instants)[before:]
            base = self._state.not_grown[number] + np.cumsum(lost[before:])
            total = sums + np.nan_to_num(exited[number]) - base
            if before:
                total[0] = max(total[0], frames.process[number, before - 1])
            frames.process[number, before:] = np.maximum.accumulate(total)
            self._state.not_grown[number] = base[-1]

    def _extremes(self, lives: _Lives, ends: Ints) -> Iterator[tuple[int, pa.Table]]:
        """Yield the time of each of `ends`, ascending, and the extremes since the previous one.

        Threads first, then the process.
        """
        if not len(ends):
            return
        frames = self._state.frames
        instants = np.arange(len(frames.time_ns))
        bucket = np.searchsorted(ends, instants)
        bucket[(frames.time_ns <= self._done_ns) | (bucket == len(ends))] = -1
        whole = readings_between(np.zeros(1, np.int64), np.array([len(instants) - 1]))
        identity = np.array([[PROCESS_TID], [0]])
        tables = [
            self._table(whole, frames.process, bucket, ends, identity),
            self._table(
                lives.readings, lives.values, bucket, ends, np.stack([lives.tid, lives.start_ns])
            ),
        ]
        for end in ends.tolist():
            to_ns = int(frames.time_ns[end])
            found = [table.filter(pc.field("to_ns") == to_ns) for table in tables]
            yield to_ns, pa.concat_tables(found)

    def _table(
        self, readings: Readings, values: Floats, bucket: Ints, ends: Ints, identity: Ints
    ) -> pa.Table:
        frames = self._state.frames
        rates = np.empty_like(values)
        for number, one in enumerate(values):
            rates[number] = smoothed_rates(readings, frames.time_ns, one)
        found = extremes_of(readings, bucket, rates)
        to_ns = frames.time_ns[ends]
        from_ns = np.concatenate([[max(self._done_ns, int(frames.time_ns[0]))], to_ns[:-1]])
        columns = {
            "level": np.full(len(found.life), KEY_LEVEL, np.uint8),
            "tid": identity[0][found.life].astype(np.uint32),
            "start_ns": identity[1][found.life],
            "from_ns": from_ns[found.bucket],
            "to_ns": to_ns[found.bucket],
        }
        for number, name in enumerate(self._kept):
            columns[f"{name}_least"] = rounded(found.least[number])
            columns[f"{name}_greatest"] = rounded(found.greatest[number])
        arrays = [pa.array(column, from_pandas=True) for column in columns.values()]
        return pa.table(dict(zip(columns, arrays, strict=True)), schema=self._schema)

    def _forget(self) -> None:
        """Drop data before the key frame from which the next bucket's rates start."""
        state = self._state
        keys = state.frames.time_ns[state.frames.key]
        old = keys[keys <= self._done_ns - SMOOTHING_NS]
        if len(old):
            state.rows = state.rows.since(int(old[-1]))
            state.frames = state.frames.since(int(old[-1]))
            state.exits = {key: ns for key, ns in state.exits.items() if ns >= int(old[-1])}


def _last_rows(
    part: PartReader, threads: pa.Table, fields: Sequence[str], tid: Ints, start_ns: Ints
) -> pa.Table:
    """Return the rows of these threads at the last frame of a run."""
    keys = zip(threads["tid"].to_pylist(), threads["start_ns"].to_pylist(), strict=True)
    place = {key: row for row, key in enumerate(keys)}
    rows = [place[key] for key in zip(tid.tolist(), start_ns.tolist(), strict=True)]
    # A list is empty and needs an explicit type if every thread has exited.
    found = threads.take(pa.array(rows, pa.int64()))
    last = found["last"].combine_chunks()
    columns: dict[str, pa.Array] = {
        "tid": found["tid"],
        "start_ns": found["start_ns"],
        "seq": pa.repeat(pa.scalar(int(part.times.seq[-1]), pa.int64()), len(found)),
        "level": pa.repeat(pa.scalar(KEY_LEVEL, pa.uint8()), len(found)),
        "name": found["name"],
        **({"pid": found["pid"]} if "pid" in found.column_names else {}),
        **{name: last.field(name) for name in fields},
    }
    return pa.table(columns)
