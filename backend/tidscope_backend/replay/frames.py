"""A recorded run as frames again, so that the page can use its live model.

Omitted frames are coalesced into the next one, as for a slow subscriber: fewer points in time, with
the same totals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.frame import RowEncoder, Rows, join
from tidscope_wire.generated.limits import MAX_RUN_FRAMES
from tidscope_wire.generated.models import FrameHeader, FrameTable, Gap, RunEvent, TargetEvent

from tidscope_backend.replay.overview_parts import Wanted, overview_parts
from tidscope_backend.replay.tables import (
    ReplayedTables,
    SaidOfTables,
    encode_bounded,
    last_rows,
    table_level,
)
from tidscope_backend.store.overview import PartFacts
from tidscope_backend.store.part_tables import TABLES, header_values
from tidscope_backend.store.parts import FrameTimes, PartReader
from tidscope_backend.store.parts import Gap as PartGap
from tidscope_backend.store.reader import RunReader

MAX_ROWS = 250_000
"""Maximum rows read for one answer; beyond it, only frames of a higher level are used."""
MAX_TABLE_ROWS = 40_000
"""Maximum rows of frame tables for one answer, in addition to the complete tables at its start."""
LEVELS = (0, 1, 2)
_KEY = LEVELS[-1]
_HEADER = (
    *("seq", "time_ns", "unix_us", "live_threads", "threads_born", "counters_from"),
    *("process", "machine", "health", "exited"),
)
Ints = npt.NDArray[np.int64]


def frames_between(
    reader: RunReader, from_ns: int | None, to_ns: int | None, max_frames: int
) -> Iterator[bytes]:
    """Make the frames of a span of a run.

    Args:
        reader: reader of the run.
        from_ns: first time, nanoseconds since attach; None for the start of the run.
        to_ns: last time; None for the end of the run.
        max_frames: approximate maximum; each part of the run has at least two frames.

    Yields:
        A key frame with the state at from_ns, followed by deltas, the last at the end of the span.
        Empty if the run has no frame up to to_ns.
    """
    spans = reader.spans
    if not spans:
        return
    start = spans[0][0] if from_ns is None else from_ns
    end = spans[-1][1] if to_ns is None else to_ns
    firsts = [first for first, _ in spans]
    before = max(0, int(np.searchsorted(firsts, start, side="right")) - 1)
    behind = int(np.searchsorted(firsts, end, side="right"))
    level = _level(reader.facts[before:behind], start, end)
    parts: Sequence[PartReader] = reader.parts[before:behind]
    if level == _KEY and reader.overview is not None:
        coarse = Wanted(before, behind, start, end, max_frames, MAX_ROWS, MAX_TABLE_ROWS)
        parts = overview_parts(reader, reader.overview, coarse)
    span = _Span(start, end, level, 1)
    count = sum(len(span.places(part.times)) for part in parts)
    wanted = max(1, min(max_frames, MAX_RUN_FRAMES) - len(parts))
    span = _Span(start, end, level, max(1, round(count / wanted)))
    of_tables = table_level(reader.facts[before:behind], start, end, MAX_TABLE_ROWS)
    maker = _Maker(reader, span, of_tables)
    for index, part in enumerate(parts):
        yield from maker.frames(part, last=index == len(parts) - 1)


def _level(parts: Sequence[PartFacts], start: int, end: int) -> int:
    """Return the finest level that needs at most `MAX_ROWS` rows."""
    for level in LEVELS[:-1]:
        if sum(part.rows[level] * part.share(start, end) for part in parts) <= MAX_ROWS:
            return level
    return _KEY


@dataclass(frozen=True)
class _Span:
    """Span and resolution of a replay.

    Attributes:
        from_ns: first time.
        to_ns: last time.
        level: minimum level of the frames used.
        stride: number of recorded frames that make one frame.
    """

    from_ns: int
    to_ns: int
    level: int
    stride: int

    def places(self, times: FrameTimes) -> Ints:
        """Return the indices of a part's frames within the span and of the level."""
        inside = (times.time_ns >= self.from_ns) & (times.time_ns <= self.to_ns)
        return np.flatnonzero(inside & (times.level >= self.level))


_GAP = "frames are missing in the run"


class _Maker:
    """Makes frames part by part, so that only one part is in memory."""

    def __init__(self, reader: RunReader, span: _Span, table_level: int) -> None:
        self._fields = reader.fields
        self._target = reader.manifest.target.id
        of_group = reader.manifest.target.group is not None
        self._header = (*_HEADER, "group") if of_group else _HEADER
        self._encoder = RowEncoder(reader.fields)
        self._span = span
        self._tables = ReplayedTables(table_level)
        self._said = SaidOfTables()
        self._frame_seq = 0
        """Number of the last frame made, or 0 before the first."""
        self._seen_seq = 0
        """Number of the last recorded frame whose events were used, or 0 before the first."""
        self._waiting: list[TargetEvent] = []
        self._key_due = True
        """True if the next recorded key frame becomes one: some threads are unknown until then."""

    def frames(self, part: PartReader, *, last: bool) -> Iterator[bytes]:
        """Yield the frames of the next part.

        Args:
            part: next part; it begins with a key frame.
            last: whether the part is the last, so that the span needs a final frame.
        """
        times = part.times
        final = int(np.searchsorted(times.time_ns, self._span.to_ns, side="right")) - 1
        chosen = self._span.places(times)
        ends = chosen[:: self._span.stride]
        if last and final not in ends:
            ends = np.append(ends, final)
        happened, gaps = part.events(), part.gaps(self._seen_seq)
        self._seen_seq = part.last_seq
        events = self._events(part, happened, gaps, ends)
        if not len(ends):
            self._key_due |= bool(gaps)
            return
        begin = 0
        if not self._frame_seq:
            recorded = np.flatnonzero(times.level[: ends[0] + 1] >= _KEY)
            begin = int(recorded[-1]) if len(recorded) else 0
        samples = self._samples(part, begin, ends, chosen)
        keys = self._keys(times, begin, ends, gaps)
        groups = last_rows(samples, times.seq[ends], happened, self._fields, keys)
        signals = part.signals((*self._header, "roles", TABLES))
        headers = self._headers(signals, begin, ends)
        said = self._said.of_part(signals, ends)
        tables = self._tables.of_part(part, times.seq[ends], keys, last=last)
        made = zip(headers, events, groups, tables, said, strict=True)
        for header, found, rows, changed, facts in made:
            yield self._frame(header, found, rows, encode_bounded(changed, facts))

    def _keys(
        self, times: FrameTimes, begin: int, ends: Ints, gaps: Sequence[PartGap]
    ) -> dict[int, int]:
        """Return the frames that become key frames, each with its recorded key frame.

        The first frame and the first one after each gap become key frames, because threads born in
        a gap have no birth event.
        """
        recorded = times.seq[np.flatnonzero(times.level >= _KEY)]
        due = [gap.seq for gap in gaps if gap.seq >= times.seq[begin]]
        if self._key_due:
            due.append(int(times.seq[begin]))
        self._key_due = False
        keys: dict[int, int] = {}
        for seq in due:
            place = int(np.searchsorted(recorded, seq))
            group = np.searchsorted(times.seq[ends], recorded[place : place + 1])
            if len(group) and group[0] < len(ends):
                number = int(group[0])
                keys[number] = max(keys.get(number, 0), int(recorded[place]))
            else:
                self._key_due = True
        return keys

    def _headers(self, signals: pa.Table, begin: int, ends: Ints) -> list[dict[str, Any]]:
        """Return the headers of frames, without events."""
        headers: list[dict[str, Any]] = (
            signals.select(self._header).take(pa.array(ends)).to_pylist()
        )
        having = np.flatnonzero(signals["roles"].is_valid().to_numpy())
        # A frame has the newest roles of its recorded frames.
        place = np.searchsorted(having, ends, side="right") - 1
        after = np.concatenate([[begin], ends[:-1] + 1])
        newest = np.where(place >= 0, having[place] if len(having) else -1, -1)
        fresh = newest >= after
        roles = signals["roles"].take(pa.array(newest, mask=~fresh)).to_pylist()
        for header, one in zip(headers, roles, strict=True):
            header["roles"] = one
        return headers

    def _samples(self, part: PartReader, begin: int, ends: Ints, chosen: Ints) -> pa.Table:
        """Return rows from the recorded frame at `begin` to that of the last frame."""
        seqs = part.times.seq
        table = part.samples(self._span.level)
        first, end = int(seqs[begin]), int(seqs[ends[-1]])
        if begin:
            table = table.filter(pc.field("seq") >= first)
        if ends[-1] < len(seqs) - 1:
            table = table.filter(pc.field("seq") <= end)
        known = int(seqs[chosen[-1]]) if len(chosen) else first
        if known < end and self._span.level:
            # The last frame is at a recorded frame of a lower level.
            rest = part.samples().filter((pc.field("seq") > known) & (pc.field("seq") <= end))
            table = pa.concat_tables([table, rest])
        return table

    def _events(
        self,
        part: PartReader,
        happened: Sequence[RunEvent],
        gaps: Sequence[PartGap],
        ends: Ints,
    ) -> list[list[TargetEvent]]:
        """Return the events of each frame; later events wait for the next part."""
        seqs = part.times.seq[ends]
        found = [(event.seq, event.time_ns, event.event) for event in happened]
        for seq, time_ns, from_seq, to_seq in gaps:
            found.append((seq, time_ns, Gap(from_seq=from_seq, to_seq=to_seq, reason=_GAP)))
        found.sort(key=lambda one: one[0])
        frames: list[list[TargetEvent]] = [[] for _ in ends]
        if frames:
            frames[0], self._waiting = self._waiting, []
        for seq, time_ns, event in found:
            if self._span.from_ns <= time_ns <= self._span.to_ns:
                group = int(np.searchsorted(seqs, seq))
                (frames[group] if group < len(frames) else self._waiting).append(event)
        return frames

    def _frame(
        self,
        header: dict[str, Any],
        events: list[TargetEvent],
        rows: Rows,
        tables: tuple[list[FrameTable], bytes],
    ) -> bytes:
        described, data = tables
        whole = FrameHeader.model_validate(
            {
                **header_values(header),
                "type": "frame",
                "target": self._target,
                "kind": "delta" if rows.start_ns is None else "key",
                "baseline": False,
                "rows": len(rows.tid),
                "first_seq": self._frame_seq + 1 if self._frame_seq else header["seq"],
                "events": [],
            }
        )
        self._frame_seq = whole.seq
        whole = whole.model_copy(update={"events": events, "tables": described or None})
        return join(whole, self._encoder.encode(rows), data)
