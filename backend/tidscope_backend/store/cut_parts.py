"""Time windows of a run, presented as if only the window had been recorded."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import (
    RunEvent,
    TableName,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)

from tidscope_backend.store.part_tables import KEY_LEVEL
from tidscope_backend.store.parts import FrameTimes, PartReader, PartRows
from tidscope_backend.store.reader import RunReader
from tidscope_backend.store.table_parts import (
    CHANGE_LEVEL,
    FIRST_LEVEL,
    TableFollower,
    arrow_table,
)

Ints = npt.NDArray[np.int64]
_PARTS_HELD = 2
"""Number of parts with cached samples, shared by consecutive slices of a window."""


class RunCutter:
    """Cuts windows out of a run.

    Args:
        reader: reader of the run.
    """

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader
        self._held: dict[int, _HeldPart] = {}

    def times_between(self, from_ns: int, to_ns: int) -> Ints:
        """Return times of all frames of a stretch, ascending."""
        times = [part.times.time_ns for part in self._reader.parts_between(from_ns, to_ns)]
        together = np.concatenate(times) if times else np.empty(0, np.int64)
        return together[(together >= from_ns) & (together <= to_ns)]

    def parts(self, from_ns: int, to_ns: int) -> list[PartRows]:
        """Return the parts between two frames: the state at the first, and all later changes.

        Args:
            from_ns: time of the first frame.
            to_ns: time of the last frame.
        """
        found: list[PartRows] = []
        parts = self._reader.parts_between(from_ns, to_ns)
        for place, part in enumerate(parts):
            times = part.times.time_ns
            begin = int(np.searchsorted(times, from_ns))
            end = int(np.searchsorted(times, to_ns, side="right"))
            if begin == end:
                continue
            if begin == 0 and end == len(times) and place < len(parts) - 1:
                found.append(_KeyFrames(part))
            else:
                found.append(CutPart(self._hold(part), begin, end))
        return found

    def trimmed(self, part: PartReader, begin: int, end: int) -> "CutPart":
        """Return the frames of a part from one index up to, excluding, another."""
        return CutPart(self._hold(part), begin, end)

    def _hold(self, part: PartReader) -> "_HeldPart":
        held = self._held.pop(part.number, None) or _HeldPart(part)
        self._held[part.number] = held
        if len(self._held) > _PARTS_HELD:
            del self._held[next(iter(self._held))]
        return held


class _HeldPart:
    """A part whose data is read once and cached."""

    def __init__(self, part: PartReader) -> None:
        self.times = part.times
        self._part = part

    @cached_property
    def samples(self) -> pa.Table:
        return self._part.samples()

    @cached_property
    def tables(self) -> dict[TableName, pa.Table]:
        return self._part.tables()

    @cached_property
    def events(self) -> list[RunEvent]:
        return self._part.events()


class _KeyFrames:
    """A part that is not the last: its key frames name every thread, so they suffice."""

    def __init__(self, part: PartReader) -> None:
        self._part = part
        self.times = part.times
        self.last_seq = part.last_seq

    def samples(self, level: int = 0, columns: Sequence[str] | None = None) -> pa.Table:
        """See PartRows."""
        return self._part.samples(max(level, KEY_LEVEL), columns)

    def tables(self, level: int = CHANGE_LEVEL) -> dict[TableName, pa.Table]:
        """See PartRows."""
        return self._part.tables(level)

    def events(self) -> list[RunEvent]:
        """See PartRows."""
        return self._part.events()


class CutPart:
    """Some frames of a part; the first one is presented as a key frame.

    Args:
        part: part that begins with a key frame.
        begin: index of the first frame.
        end: index after the last one.
    """

    def __init__(self, part: _HeldPart, begin: int, end: int) -> None:
        self._part = part
        self._whole = begin == 0
        self.times: FrameTimes = part.times.between(begin, end)
        self._first_seq = int(self.times.seq[0])
        self.last_seq = int(self.times.seq[-1])

    def samples(self, level: int = 0, columns: Sequence[str] | None = None) -> pa.Table:
        """See PartRows."""
        rows = self._part.samples
        seq = rows["seq"].to_numpy()
        if self._whole:
            found = rows.filter(pa.array(seq <= self.last_seq))
        else:
            later = rows.filter(pa.array((seq > self._first_seq) & (seq <= self.last_seq)))
            found = pa.concat_tables([self._first_rows, later])
        found = found.filter(pc.field("level") >= level)
        return found if columns is None else found.select(list(columns))

    def tables(self, level: int = CHANGE_LEVEL) -> dict[TableName, pa.Table]:
        """See PartRows."""
        found = {name: self.table(name, table) for name, table in self._part.tables.items()}
        found = {name: rows.filter(pc.field("level") >= level) for name, rows in found.items()}
        return {name: rows for name, rows in found.items() if len(rows)}

    def events(self) -> list[RunEvent]:
        """See PartRows."""
        first = -1 if self._whole else self._first_seq
        return [one for one in self._part.events if first < one.seq <= self.last_seq]

    def table(self, name: TableName, table: pa.Table) -> pa.Table:
        """Return the rows of a frame table of the part that belong to these frames."""
        seq = table["seq"].to_numpy()
        if self._whole:
            return table.filter(pa.array(seq <= self.last_seq))
        follower = TableFollower(name)
        follower.advance(table, np.array([self._first_seq]))
        count = len(follower.rows)
        first = arrow_table(
            name,
            follower.rows,
            np.full(count, self._first_seq, np.int64),
            np.full(count, FIRST_LEVEL, np.uint8),
        )
        later = table.filter(pa.array((seq > self._first_seq) & (seq <= self.last_seq)))
        # Tables of older runs lack columns.
        return pa.concat_tables([first, later], promote_options="default")

    @cached_property
    def _first_rows(self) -> pa.Table:
        """Return the last row of each thread alive at the first frame, as in a key frame."""
        since = self._key_seq()
        rows = self._part.samples.filter(
            (pc.field("seq") >= since)
            & (pc.field("seq") <= self._first_seq)
            & pc.field("start_ns").is_valid()
        )
        tids, starts, seqs = (rows[name].to_numpy() for name in ("tid", "start_ns", "seq"))
        order = np.lexsort((seqs, starts, tids))
        last = np.ones(len(order), np.bool_)
        last[:-1] = np.diff(tids[order]) != 0
        kept = order[last]
        ended = self._ended()
        lives = zip(tids[kept].tolist(), starts[kept].tolist(), strict=True)
        kept = kept[np.array([life not in ended for life in lives], np.bool_)]
        names = self._names(rows)
        found = rows.take(pa.array(kept))
        columns = {
            "seq": pa.repeat(pa.scalar(self._first_seq, pa.int64()), len(kept)),
            "level": pa.repeat(pa.scalar(KEY_LEVEL, pa.uint8()), len(kept)),
            "name": pa.array([names.get(tid) for tid in tids[kept].tolist()], pa.utf8()),
        }
        for name, column in columns.items():
            place = found.column_names.index(name)
            found = found.set_column(place, name, column.cast(found.schema.field(name).type))
        return found

    def _key_seq(self) -> int:
        """Return the number of the last key frame up to the first frame; it names all threads."""
        times = self._part.times
        keys = times.seq[(times.level >= KEY_LEVEL) & (times.seq <= self._first_seq)]
        return int(keys[-1]) if len(keys) else int(times.seq[0])

    def _ended(self) -> set[tuple[int, int]]:
        """Return the threads that exited up to the first frame."""
        return {
            (one.event.tid, one.event.start_ns)
            for one in self._part.events
            if isinstance(one.event, ThreadExited) and one.seq <= self._first_seq
        }

    def _names(self, rows: pa.Table) -> dict[int, str]:
        """Return names of threads at the first frame."""
        named = rows.filter(pc.field("name").is_valid()).select(["seq", "tid", "name"])
        known = [(row["seq"], row["tid"], row["name"]) for row in named.to_pylist()]
        known += [
            (one.seq, one.event.tid, one.event.name)
            for one in self._part.events
            if isinstance(one.event, ThreadBorn | ThreadRenamed) and one.seq <= self._first_seq
        ]
        return {tid: name for _, tid, name in sorted(known, key=lambda one: one[0])}
