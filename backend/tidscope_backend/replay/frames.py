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
from tidscope_wire.generated.limits import MAX_RUN_FRAMES
from tidscope_wire.generated.models import FrameHeader, Gap, RunEvent, TargetEvent

from tidscope_backend.replay.rows import last_rows
from tidscope_backend.store.parts import Instants, PartReader
from tidscope_backend.store.reader import RunReader

MAX_ROWS = 250_000
"""So many rows are read for one answer; above it instants of a higher level are taken alone."""
LEVELS = (0, 1, 2)
_KEY = LEVELS[-1]
_HEADER = (
    *("seq", "time_ns", "unix_us", "live_threads", "threads_born"),
    *("process", "machine", "health", "exited"),
)
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
        A key frame with the state at from_ns, then deltas; the last one is at the last instant of
        the stretch. Nothing if the run has no instant up to to_ns.
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
    count = sum(len(stretch.places(part.instants)) for part in parts)
    wanted = max(1, min(instants, MAX_RUN_FRAMES) - len(parts))
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
    return _KEY


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

    def places(self, instants: Instants) -> Ints:
        """Places of the instants of a part that are within it and of its level."""
        inside = (instants.time_ns >= self.from_ns) & (instants.time_ns <= self.to_ns)
        return np.flatnonzero(inside & (instants.level >= self.level))


_GAP = "frames are missing in the run"


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
            part: it begins with a key frame.
            last: it is the last one: a frame stands at its last instant in the stretch.
        """
        instants = part.instants
        final = int(np.searchsorted(instants.time_ns, self._stretch.to_ns, side="right")) - 1
        taken = self._stretch.places(instants)
        ends = taken[:: self._stretch.stride]
        if last and final not in ends:
            ends = np.append(ends, final)
        happened = part.events()
        events = self._events(instants, happened, ends)
        if not len(ends):
            return
        begin = 0
        if not self._frame_seq:
            keys = np.flatnonzero(instants.level[: ends[0] + 1] == _KEY)
            begin = int(keys[-1]) if len(keys) else 0
        samples = self._samples(part, begin, ends, taken)
        groups = last_rows(samples, instants.seq[ends], happened, self._fields, not self._frame_seq)
        headers = self._headers(part, begin, ends)
        for header, told, rows in zip(headers, events, groups, strict=True):
            yield self._frame(header, told, rows)

    def _headers(self, part: PartReader, begin: int, ends: Ints) -> list[dict[str, Any]]:
        """What the frames' headers say, events apart."""
        signals = part.signals((*_HEADER, "roles"))
        headers: list[dict[str, Any]] = signals.select(_HEADER).take(pa.array(ends)).to_pylist()
        told = np.flatnonzero(signals["roles"].is_valid().to_numpy())
        # Of roles, each frame has the last that the instants it stands for tell.
        place = np.searchsorted(told, ends, side="right") - 1
        after = np.concatenate([[begin], ends[:-1] + 1])
        newest = np.where(place >= 0, told[place] if len(told) else -1, -1)
        fresh = newest >= after
        roles = signals["roles"].take(pa.array(newest, mask=~fresh)).to_pylist()
        for header, one in zip(headers, roles, strict=True):
            header["roles"] = one
        return headers

    def _samples(self, part: PartReader, begin: int, ends: Ints, taken: Ints) -> pa.Table:
        """Rows from the first instant that matters to the last frame's."""
        seqs = part.instants.seq
        table = part.samples(self._stretch.level)
        first, end = int(seqs[begin]), int(seqs[ends[-1]])
        if begin:
            table = table.filter(pc.field("seq") >= first)
        if ends[-1] < len(seqs) - 1:
            table = table.filter(pc.field("seq") <= end)
        known = int(seqs[taken[-1]]) if len(taken) else first
        if known < end and self._stretch.level:
            # The last frame stands at an instant of a lower level.
            rest = part.samples().filter((pc.field("seq") > known) & (pc.field("seq") <= end))
            table = pa.concat_tables([table, rest])
        return table

    def _events(
        self, instants: Instants, happened: Sequence[RunEvent], ends: Ints
    ) -> list[list[TargetEvent]]:
        """What each frame tells; what comes behind the last one waits for the next part."""
        told = [(event.seq, event.time_ns, event.event) for event in happened]
        before = np.concatenate([[self._seen_seq], instants.seq[:-1]])
        for place in np.flatnonzero((before > 0) & (instants.first_seq > before + 1)).tolist():
            gap = Gap(
                from_seq=int(before[place]) + 1,
                to_seq=int(instants.first_seq[place]) - 1,
                reason=_GAP,
            )
            told.append((int(instants.seq[place]), int(instants.time_ns[place]), gap))
        self._seen_seq = int(instants.seq[-1])
        told.sort(key=lambda one: one[0])
        frames: list[list[TargetEvent]] = [[] for _ in ends]
        if frames:
            frames[0], self._waiting = self._waiting, []
        for seq, time_ns, event in told:
            if self._stretch.from_ns <= time_ns <= self._stretch.to_ns:
                group = int(np.searchsorted(instants.seq[ends], seq))
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
                "kind": "delta" if rows.start_ns is None else "key",
                "baseline": False,
                "rows": len(rows.tid),
                "first_seq": self._frame_seq + 1 if self._frame_seq else header["seq"],
                "events": [],
            }
        )
        self._frame_seq = whole.seq
        return join(whole.model_copy(update={"events": events}), self._encoder.encode(rows))
