"""A run as frames again, so that it goes through the page's model as live ones do.

Frames that are left out are coalesced into the next one, as for a page that is too slow: instants
are lost, totals are not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.frame import RowEncoder, Rows, join
from tidscope_wire.generated.models import FrameHeader, Gap, TargetEvent

from tidscope_backend.runs.parts import PartReader
from tidscope_backend.runs.reader import RunReader
from tidscope_backend.runs.replay_rows import last_rows

MAX_ROWS = 250_000
"""So many rows are read for one answer; above it instants of a higher level are taken alone."""
MOST_INSTANTS = 5000
LEVELS = (0, 1, 2)
_SNAPSHOT = LEVELS[-1]
_HEADER = ("seq", "time_ns", "unix_us", "live_threads", "process", "machine", "health", "exited")
Ints = npt.NDArray[np.int64]


def frames_between(
    reader: RunReader, from_ns: int | None, to_ns: int | None, instants: int
) -> Iterator[bytes]:
    """Make the frames of a stretch of a run.

    Args:
        reader: of the run.
        from_ns: first time, nanoseconds since attach; None: the run's start.
        to_ns: last time; None: the run's end.
        instants: about so many frames at most; each part of the run has two at least.

    Yields:
        A snapshot, as things stood at from_ns, then deltas; the last one stands at the last instant
        of the stretch. Nothing if the run has no instant up to to_ns.
    """
    spans = reader.spans
    if not spans:
        return
    start = spans[0][0] if from_ns is None else from_ns
    end = spans[-1][1] if to_ns is None else to_ns
    firsts = [first for first, _ in spans]
    before = max(0, int(np.searchsorted(firsts, start, side="right")) - 1)
    behind = int(np.searchsorted(firsts, end, side="right"))
    parts = reader.parts[before:behind]
    level = _level(parts, spans[before:behind], start, end)
    stretch = _Stretch(start, end, level, 1)
    count = sum(len(stretch.places(part.signals(["time_ns", "level"]))) for part in parts)
    wanted = max(1, min(instants, MOST_INSTANTS) - len(parts))
    stretch = _Stretch(start, end, level, max(1, round(count / wanted)))
    maker = _Maker(reader, stretch)
    for index, part in enumerate(parts):
        yield from maker.frames(part, last=index == len(parts) - 1)


def _level(
    parts: Sequence[PartReader], spans: Sequence[tuple[int, int]], start: int, end: int
) -> int:
    """The finest level of which not too many rows have to be read."""
    for level in LEVELS[:-1]:
        rows = 0.0
        for part, (first, last) in zip(parts, spans, strict=True):
            inside = max(0, min(last, end) - max(first, start))
            rows += part.rows(level) * (inside / (last - first) if last > first else 1.0)
        if rows <= MAX_ROWS:
            return level
    return _SNAPSHOT


@dataclass(frozen=True)
class _Stretch:
    """What is asked for.

    Attributes:
        from_ns: first time.
        to_ns: last time.
        level: of the instants that are taken.
        stride: so many of them make one frame.
    """

    from_ns: int
    to_ns: int
    level: int
    stride: int

    def places(self, signals: pa.Table) -> Ints:
        """Places of the instants of a part that are within it and of its level."""
        times, levels = signals["time_ns"].to_numpy(), signals["level"].to_numpy()
        inside = (times >= self.from_ns) & (times <= self.to_ns)
        return np.flatnonzero(inside & (levels >= self.level))


class _Maker:
    """Makes frames part by part, so that one part is in memory at a time."""

    def __init__(self, reader: RunReader, stretch: _Stretch) -> None:
        self._fields = reader.fields
        self._target = reader.manifest.target.id
        self._encoder = RowEncoder(reader.fields)
        self._stretch = stretch
        self._frame_seq = 0
        """Number of the last frame that was made; 0: none was."""
        self._seen_seq = 0
        """Number of the last instant whose events were taken; 0: none."""
        self._waiting: list[TargetEvent] = []

    def frames(self, part: PartReader, *, last: bool) -> Iterator[bytes]:
        """The frames of the next part.

        Args:
            part: it begins with a snapshot.
            last: it is the last one: a frame stands at its last instant in the stretch.
        """
        signals = part.signals()
        times = signals["time_ns"].to_numpy()
        final = int(np.searchsorted(times, self._stretch.to_ns, side="right")) - 1
        taken = self._stretch.places(signals)
        ends = taken[:: self._stretch.stride].tolist()
        if last and final not in ends:
            ends.append(final)
        events = self._events(part, signals, ends)
        if not ends:
            return
        begin = 0
        if not self._frame_seq:
            snapshots = np.flatnonzero(signals["level"].to_numpy()[: ends[0] + 1] == _SNAPSHOT)
            begin = int(snapshots[-1]) if len(snapshots) else 0
        seqs = signals["seq"].to_numpy()
        samples = self._samples(part, seqs, begin, ends, taken)
        ends_seq = seqs[ends]
        groups = last_rows(samples, ends_seq, part.events(), self._fields, not self._frame_seq)
        headers = signals.select(_HEADER).take(pa.array(ends)).to_pylist()
        roles = signals["roles"]
        after = begin
        for place, header, told, rows in zip(ends, headers, events, groups, strict=True):
            header["roles"] = _newest(roles.slice(after, place + 1 - after))
            after = place + 1
            yield self._frame(header, told, rows)

    def _samples(
        self, part: PartReader, seqs: Ints, begin: int, ends: Sequence[int], taken: Ints
    ) -> pa.Table:
        """Rows from the first instant that matters to the last frame's."""
        table = part.samples(self._stretch.level)
        table = table.filter(pc.field("seq") >= int(seqs[begin]))
        end = int(seqs[ends[-1]])
        known = int(seqs[taken[-1]]) if len(taken) else int(seqs[begin])
        table = table.filter(pc.field("seq") <= end)
        if known < end and self._stretch.level:
            # The last frame stands at an instant of a lower level.
            rest = part.samples().filter((pc.field("seq") > known) & (pc.field("seq") <= end))
            table = pa.concat_tables([table, rest])
        return table

    def _events(
        self, part: PartReader, signals: pa.Table, ends: Sequence[int]
    ) -> list[list[TargetEvent]]:
        """What each frame tells; what comes behind the last one waits for the next part."""
        seqs = signals["seq"].to_numpy()
        told = [(event.seq, event.time_ns, event.event) for event in part.events()]
        for place, first in enumerate(signals["first_seq"].to_pylist()):
            seq, time_ns = int(seqs[place]), signals["time_ns"][place].as_py()
            if self._seen_seq and first > self._seen_seq + 1:
                gap = Gap(from_seq=self._seen_seq + 1, to_seq=first - 1, reason=_GAP)
                told.append((seq, time_ns, gap))
            self._seen_seq = seq
        told.sort(key=lambda one: one[0])
        frames: list[list[TargetEvent]] = [[] for _ in ends]
        ends_seq = seqs[list(ends)] if len(ends) else np.empty(0, np.int64)
        if frames:
            frames[0], self._waiting = self._waiting, []
        for seq, time_ns, event in told:
            if not self._stretch.from_ns <= time_ns <= self._stretch.to_ns:
                continue
            group = int(np.searchsorted(ends_seq, seq))
            (frames[group] if group < len(frames) else self._waiting).append(event)
        return frames

    def _frame(self, header: dict[str, Any], events: list[TargetEvent], rows: Rows) -> bytes:
        for totals in (header["exited"], *(header["roles"] or ())):
            totals["totals"] = {k: v for k, v in totals["totals"].items() if v is not None}
        whole = FrameHeader.model_validate(
            {
                **header,
                "type": "frame",
                "target": self._target,
                "kind": "delta" if rows.start_ns is None else "snapshot",
                "first_seq": self._frame_seq + 1 if self._frame_seq else header["seq"],
                "events": [],
            }
        )
        self._frame_seq = whole.seq
        return join(whole.model_copy(update={"events": events}), self._encoder.encode(rows))


_GAP = "frames are missing in the run"


def _newest(roles: pa.ChunkedArray) -> list[dict[str, Any]] | None:
    """The last that is told of roles."""
    told = roles.drop_null()
    newest: list[dict[str, Any]] | None = told[-1].as_py() if len(told) else None
    return newest
