"""Exact time of threads in states in windows, read from frames. Pure.

Ends of windows move to the frames inside them, because totals are exact at frames only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from tidscope_wire.frame import Fields, FrameDecoder, FrameError, Rows, split
from tidscope_wire.generated.models import (
    FrameHeader,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at

Times = npt.NDArray[np.float64]
COLUMNS = (*STATE_FIELDS, STATE, SINCE)
STATES = len(STATE_FIELDS)
MIN_ROWS = 64


class Wanted(NamedTuple):
    """A window to read.

    Attributes:
        from_ns: begin, nanoseconds since attach.
        to_ns: end.
        since_ns: since when stays are sampled; those that began before are set apart.
    """

    from_ns: int
    to_ns: int
    since_ns: int


class Stay(NamedTuple):
    """The stay under way of a thread: number of the state, and its begin, since attach."""

    state: int
    since_ns: int


@dataclass
class WindowTimes:
    """Times of a window, by thread ID.

    Attributes:
        from_ns: first frame in the window.
        to_ns: last frame in the window.
        total: by thread ID, float64[states]: nanoseconds in each state.
        earlier: the part of it in stays that began before `Wanted.since_ns`.
        stays: stays under way at the end.
    """

    from_ns: int
    to_ns: int
    total: dict[int, Times] = field(default_factory=dict)
    earlier: dict[int, Times] = field(default_factory=dict)
    stays: dict[int, Stay] = field(default_factory=dict)

    @property
    def sampled(self) -> dict[int, Times]:
        """Times in stays that began at `Wanted.since_ns` or later."""
        return {
            tid: np.maximum(times - self.earlier.get(tid, 0), 0)
            for tid, times in self.total.items()
        }


@dataclass
class LedgerTimes:
    """Exact time of threads in states within windows, as read from frames.

    Attributes:
        windows: times of the windows that have frames, in the order of the request; None for
            others.
        names: last names of threads.
        has_ledger: whether frames carry times in states.
    """

    windows: list[WindowTimes | None]
    names: dict[int, str] = field(default_factory=dict)
    has_ledger: bool = False


class TableReader(Protocol):
    """Reads tables of frames, in order."""

    def take(self, header: FrameHeader, body: memoryview) -> None:
        """Take the tables of the next frame."""


def read_ledger(
    frames: Iterable[bytes],
    fields: Fields | None,
    wanted: Sequence[Wanted],
    readers: Sequence[TableReader] = (),
) -> LedgerTimes:
    """Read times of windows.

    Args:
        frames: frames of one target, in order; those before the first key frame are ignored.
        fields: counter columns of the previous key frame.
        wanted: windows; they may overlap.
        readers: get the tables of the same frames.
    """
    ledger, decoder = _Ledger(), FrameDecoder(fields)
    open_windows = [_Window(one) for one in wanted]
    found = LedgerTimes([])
    for data in frames:
        try:
            header, body = split(data)
            if header.kind != "key" and not ledger.began:
                continue
            rows = decoder.decode_rows(header, body)
        except FrameError:
            continue
        for window in open_windows:
            window.before(header, ledger)
        _name(found.names, header, rows)
        ledger.take(header, rows, open_windows)
        for window in open_windows:
            window.after(header.time_ns, ledger)
        for reader in readers:
            reader.take(header, body)
    for window in open_windows:
        window.close(ledger)
    found.windows = [window.times for window in open_windows]
    found.has_ledger = ledger.has_ledger
    return found


def _name(names: dict[int, str], header: FrameHeader, rows: Rows) -> None:
    for event in header.events:
        if isinstance(event, ThreadBorn | ThreadRenamed):
            names[event.tid] = event.name
    if rows.name is not None:
        names.update(zip(rows.tid.tolist(), rows.name, strict=True))


class _Ledger:
    """The last row of each thread. A thread keeps its place; a later one with its ID has another.

    Attributes:
        values: uint64[places, columns], as in COLUMNS.
        places: place by thread ID, of live threads.
        time_ns: time of the last frame.
        began: whether a key frame was read.
        has_ledger: whether rows have times in states.
    """

    def __init__(self) -> None:
        self.values = np.zeros((MIN_ROWS, len(COLUMNS)), np.uint64)
        self.places: dict[int, int] = {}
        self.time_ns = 0
        self.began = self.has_ledger = False
        self._count = 0

    def totals(self, places: npt.NDArray[np.intp], time_ns: int) -> Times:
        """Return nanoseconds in each state up to a time, [places, states]."""
        rows = self.values[places]
        finished, state, since = rows[:, :STATES], rows[:, STATES], rows[:, STATES + 1]
        return states_at(finished, state, since, time_ns).astype(np.float64)

    def stay(self, place: int) -> Stay:
        """Return the stay under way at a place."""
        state, since = self.values[place, STATES:].tolist()
        return Stay(state, since)

    def take(self, header: FrameHeader, rows: Rows, windows: Sequence["_Window"]) -> None:
        """Take the events and rows of the next frame."""
        born = set[int]()
        for event in header.events:
            if isinstance(event, ThreadBorn):
                born.add(event.tid)
            elif isinstance(event, ThreadExited):
                self._exit(event, header.time_ns, windows)
        self.began = True
        if STATE in rows.columns:
            self.has_ledger = True
            self._update(header, rows, born, windows)
        self.time_ns = header.time_ns

    def _exit(self, event: ThreadExited, time_ns: int, windows: Sequence["_Window"]) -> None:
        totals = np.array([event.totals.get(name, 0) for name in STATE_FIELDS], np.float64)
        place = self.places.pop(event.tid, None)
        for window in windows:
            window.ended(event.tid, place, totals, time_ns)

    def _update(
        self, header: FrameHeader, rows: Rows, born: set[int], windows: Sequence["_Window"]
    ) -> None:
        tids = rows.tid.tolist()
        if header.kind == "key":
            there = set(tids)
            for tid in [one for one in self.places if one not in there]:
                # Gone without an exit record: its time since the last frame is unknown.
                place = self.places.pop(tid)
                (totals,) = self.totals(np.array([place]), self.time_ns)
                for window in windows:
                    window.ended(tid, place, totals, self.time_ns)
        zeros = np.zeros(len(tids), np.uint64)
        fresh = np.stack([rows.columns.get(name, zeros) for name in COLUMNS], axis=1)
        new = [tid for tid in tids if tid not in self.places]
        self._add(new)
        places = np.array([self.places[tid] for tid in tids], np.intp)
        for window in windows:
            window.changed(tids, places, self.values, fresh)
        self.values[places] = fresh
        late = [self.places[tid] for tid in new if tid not in born]
        if late and windows:
            totals = self.totals(np.array(late), header.time_ns)
            for window in windows:
                window.appeared(late, totals)

    def _add(self, tids: Sequence[int]) -> None:
        """Give places to new threads."""
        self.places.update(zip(tids, range(self._count, self._count + len(tids)), strict=True))
        self._count += len(tids)
        while self._count > len(self.values):
            self.values = np.concatenate([self.values, np.zeros_like(self.values)])


class _Window:
    """Sums up one window while frames are read."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._base: dict[int, Times] = {}
        """Totals at the begin of the window, by place; 0 for threads born in it."""
        self._earlier: dict[int, Stay] = {}
        """Stays that began before `since_ns` and last, by place."""
        self._closed = False
        self.times: WindowTimes | None = None

    def before(self, header: FrameHeader, ledger: _Ledger) -> None:
        """Close the window if the next frame is behind its end."""
        if header.time_ns > self._wanted.to_ns:
            self.close(ledger)

    def after(self, time_ns: int, ledger: _Ledger) -> None:
        """Begin at the first frame in the window."""
        if self._closed or self.times is not None or time_ns < self._wanted.from_ns:
            return
        self.times = WindowTimes(time_ns, time_ns)
        places = list(ledger.places.values())
        self._base = dict(
            zip(places, ledger.totals(np.array(places, np.intp), time_ns), strict=True)
        )
        stays = ((place, ledger.stay(place)) for place in places)
        self._earlier = {
            place: stay
            for place, stay in stays
            if stay.state and stay.since_ns < self._wanted.since_ns
        }

    def close(self, ledger: _Ledger) -> None:
        """End the window at the last frame read. Idempotent."""
        if self._closed:
            return
        self._closed = True
        times = self.times
        if times is None:
            return
        times.to_ns = ledger.time_ns
        places = list(ledger.places.values())
        totals = ledger.totals(np.array(places, np.intp), times.to_ns)
        for tid, place, total in zip(ledger.places, places, totals, strict=True):
            self._add(times, tid, place, total, times.to_ns)
            stay = ledger.stay(place)
            if stay.state:
                times.stays[tid] = stay

    def ended(self, tid: int, place: int | None, total: Times, time_ns: int) -> None:
        """Enter the totals of a thread that has exited."""
        if self.times is not None and not self._closed:
            self._add(self.times, tid, place, total, time_ns)

    def appeared(self, places: Sequence[int], totals: Times) -> None:
        """Count threads that were not reported as born from their first row on."""
        if self.times is not None and not self._closed:
            self._base.update(zip(places, totals, strict=True))

    def changed(
        self,
        tids: Sequence[int],
        places: npt.NDArray[np.intp],
        before: npt.NDArray[np.uint64],
        fresh: npt.NDArray[np.uint64],
    ) -> None:
        """Enter earlier stays that have ended by the next frame."""
        if not self._earlier or self.times is None or self._closed:
            return
        for at, place in enumerate(places.tolist()):
            stay = self._earlier.get(place)
            if stay is None or int(fresh[at, STATES + 1]) == stay.since_ns:
                continue
            column = stay.state - 1
            grown = int(fresh[at, column]) - int(before[place, column])
            # At most what the state has grown, and until the present stay.
            end = min(stay.since_ns + max(0, grown), int(fresh[at, STATES + 1]))
            self._enter_earlier(self.times, tids[at], place, end)

    def _add(
        self, times: WindowTimes, tid: int, place: int | None, total: Times, time_ns: int
    ) -> None:
        grown = total if place is None else total - self._base.pop(place, 0)
        known = times.total.setdefault(tid, np.zeros(STATES))
        known += np.maximum(grown, 0)
        if place is not None and place in self._earlier:
            stay = self._earlier[place]
            most = times.from_ns + int(max(grown[stay.state - 1], 0))
            self._enter_earlier(times, tid, place, min(time_ns, most))

    def _enter_earlier(self, times: WindowTimes, tid: int, place: int, end_ns: int) -> None:
        stay = self._earlier.pop(place)
        known = times.earlier.setdefault(tid, np.zeros(STATES))
        known[stay.state - 1] += max(0, end_ns - times.from_ns)


def merged(windows: Iterable[Mapping[int, Times]]) -> dict[int, Times]:
    """Return the sums of times by thread ID."""
    sums: dict[int, Times] = {}
    for window in windows:
        for tid, times in window.items():
            sums[tid] = sums.get(tid, 0) + times
    return sums
