"""Readers of one target's stream: the minimum state of a page, and a page that checks it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from live_page import LivePage
from stolen_time import stolen_ns, stolen_since
from tidscope_wire.frame import FrameDecoder, Rows
from tidscope_wire.generated.models import (
    ExitedTotals,
    FrameHeader,
    LiveState,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS

GAUGES = (STATE, SINCE)
SETTLED_NS = 1_000_000
"""When a stay ends, the fields of states may fall by microseconds: on-CPU time is the kernel's.

A hypervisor that stops the processor in a switch makes that longer.
"""


def may_follow(field: str, before: int, after: int, stolen_before_ns: int) -> bool:
    """True if a field that had one value may have another one.

    Args:
        field: name.
        before: earlier value.
        after: later value.
        stolen_before_ns: `stolen_ns` before both.
    """
    if field in GAUGES or after >= before:
        return True
    fallen_ns = before - after
    if field not in STATE_FIELDS:
        return False
    return fallen_ns <= SETTLED_NS or fallen_ns <= SETTLED_NS + stolen_since(stolen_before_ns)


class Receiver:
    """Applies frames in order and fails at once if one contradicts those before it.

    Attributes:
        live: latest counters of each living thread, without those that were absent.
        names: names of the living threads.
        starts: starts of the living threads, nanoseconds since attach.
        exited: totals of ended threads in the newest frame.
        exits: all exit events.
        initial: threads alive in the baseline; None before it.
        born: threads born since.
    """

    def __init__(self) -> None:
        self.live: dict[int, dict[str, int]] = {}
        self.names: dict[int, str] = {}
        self.starts: dict[int, int] = {}
        self.exited = ExitedTotals(threads=0, inexact=0, totals={})
        self.exits: list[ThreadExited] = []
        self.seq = 0
        self.initial: int | None = None
        self.born = 0
        self._decoder = FrameDecoder()
        self._stolen_ns = stolen_ns()

    def frame(self, data: bytes) -> tuple[FrameHeader, Rows]:
        """Take a binary frame in; it has to be the next one."""
        header, rows = self._decoder.decode(data)
        assert header.first_seq == self.seq + 1, (header.first_seq, self.seq)
        self.seq = header.seq
        self.take(header.events, rows, header.exited)
        assert header.live_threads == len(self.live)
        if header.baseline:
            assert self.initial is None, "a second baseline"
            assert header.kind == "key"
            self.initial = header.live_threads
        # An exit that turned out to be none is withdrawn; births are not.
        balance = (self.initial or 0) + header.threads_born - header.exited.threads
        assert balance >= header.live_threads
        assert header.threads_born >= self.born
        self.born = header.threads_born
        return header, rows

    def take(self, events: Sequence[TargetEvent], rows: Rows, exited: ExitedTotals) -> None:
        """Take the contents of a frame in."""
        for event in events:
            self._event(event)
        if rows.name is not None and rows.start_ns is not None:
            self._identities(rows.tid.tolist(), rows.start_ns.tolist(), rows.name)
        for row, tid in enumerate(rows.tid.tolist()):
            counters = self.live[tid]
            for field, column in rows.columns.items():
                mask = rows.absent.get(field)
                if mask is not None and mask[row]:
                    assert field not in counters, f"{field} of {tid} was taken back"
                    continue
                value = int(column[row])
                grows = may_follow(field, counters.get(field, 0), value, self._stolen_ns)
                assert grows, f"{field} of {tid} fell"
                counters[field] = value
        self.exited = exited

    def total(self, field: str) -> int:
        """A field of the whole process: the living and the ended."""
        living = sum(counters.get(field, 0) for counters in self.live.values())
        return living + self.exited.totals.get(field, 0)

    def _event(self, event: TargetEvent) -> None:
        match event:
            case ThreadBorn(tid=tid):
                assert tid not in self.live, f"{tid} was born twice"
                self.live[tid], self.names[tid] = {}, event.name
                self.starts[tid] = event.start_ns
            case ThreadRenamed(tid=tid):
                assert self.names[tid] == event.previous
                self.names[tid] = event.name
            case ThreadExited(tid=tid):
                self.exits.append(event)
                assert event.seen_alive == (tid in self.live)
                if event.seen_alive:
                    counters = self.live.pop(tid)
                    assert self.starts.pop(tid) == event.start_ns
                    del self.names[tid]
                    for field, value in counters.items():
                        if field not in GAUGES:
                            grows = may_follow(field, value, event.totals[field], self._stolen_ns)
                            assert grows, f"{field} of {tid} fell at its end"
            case _:
                pass

    def _identities(self, tids: list[int], starts: list[int], names: Sequence[str]) -> None:
        """A key frame names exactly the living; the first one of a late reader makes them known."""
        if not self.live and not self.exits and self.seq <= 1:
            for tid, start, name in zip(tids, starts, names, strict=True):
                self.live[tid], self.starts[tid], self.names[tid] = {}, start, name
        assert set(tids) == set(self.live)
        assert dict(zip(tids, names, strict=True)) == self.names
        assert dict(zip(tids, starts, strict=True)) == self.starts


E = TypeVar("E", bound=TargetEvent)


class Follower:
    """Reads the frames of the one target that its page subscribed to.

    Attributes:
        receiver: state of the receiver.
        headers: headers of all frames.
    """

    def __init__(self, page: LivePage) -> None:
        self.page = page
        self.receiver = Receiver()
        self.headers: list[FrameHeader] = []

    async def next(self) -> FrameHeader:
        """Read one frame."""
        _, data = await self.page.frame()
        header, _ = self.receiver.frame(data)
        self.headers.append(header)
        return header

    async def until(self, wanted: Callable[[FrameHeader], bool]) -> FrameHeader:
        """Read up to a frame."""
        while not wanted(header := await self.next()):
            pass
        return header

    async def until_event(self, kind: type[E]) -> E:
        """Read up to an event of a kind."""
        header = await self.until(lambda one: any(isinstance(e, kind) for e in one.events))
        return next(event for event in header.events if isinstance(event, kind))

    def events(self, kind: type[E]) -> list[E]:
        """All events of a kind up to now."""
        return [e for header in self.headers for e in header.events if isinstance(e, kind)]


async def connected(page: LivePage) -> LiveState:
    """Wait until a collector is connected."""
    while True:
        state = await page.text(LiveState)
        if any(host.connected for host in state.hosts):
            return state
