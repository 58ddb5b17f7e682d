"""Targets sampled by the real engine in this process, and a reader of their frames."""

import time
from collections.abc import Callable
from typing import Self

import numpy as np
from engines import engine_of
from frame_queues import TakenFrames
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.naming.thread_names import KERNEL_NAMES, NamingOptions
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.stacks.program import NO_STACKS, StackProgram
from tidscope_collector.targets.sources import Sources
from tidscope_collector.waits.source import DEFAULT_OPTIONS, LedgerOptions
from tidscope_collector.walk.choice import Choice as WalkChoice
from tidscope_wire.frame import FrameDecoder, Rows, split
from tidscope_wire.frame_tables import Table, joined_rows
from tidscope_wire.generated.frame_tables import ROWS
from tidscope_wire.generated.models import FrameHeader, TableName, ThreadExited
from tidscope_wire.states import SINCE, STATE, STATE_FIELDS, states_at
from tidscope_wire.table_streams import decode_tables

PATIENCE_S = 120.0


class Follower:
    """Reads frames of one target in their order.

    Attributes:
        header: header of the last frame.
        rows: fields of the last row of each living thread, without absent ones.
        ended: threads that ended, in order.
        tables: current rows of the tables.
        tables_ns: when those were read, since attach.
    """

    def __init__(self) -> None:
        self._decoder = FrameDecoder()
        self.header: FrameHeader | None = None
        self.rows: dict[int, dict[str, int]] = {}
        self.ended: list[ThreadExited] = []
        self.tables: dict[TableName, Table] = {}
        self.tables_ns = 0

    def take(self, data: bytes) -> FrameHeader:
        """Take the next frame in."""
        header, rows = self._decoder.decode(data)
        for event in header.events:
            if isinstance(event, ThreadExited):
                self.rows.pop(event.tid, None)
                self.ended.append(event)
        if header.kind == "key":
            self.rows = {}
        self.rows |= _by_tid(rows)
        if header.kind == "key":
            self.tables = {name: rows for name, rows in self.tables.items() if ROWS[name] == "log"}
        for name, table in decode_tables(*split(data)).items():
            before = [self.tables[name]] if name in self.tables else []
            self.tables[name] = joined_rows(name, [*before, table])
        self.tables_ns = max([self.tables_ns, *(one.read_ns or 0 for one in header.tables or ())])
        self.header = header
        return header

    def states(self, tid: int) -> dict[str, int]:
        """Return the time of a thread in each state up to the last frame, in nanoseconds."""
        row = self.rows[tid]
        assert self.header is not None
        finished = np.array([[row[name] for name in STATE_FIELDS]], np.uint64)
        state, since = np.array([row[STATE]], np.uint64), np.array([row[SINCE]], np.uint64)
        (values,) = states_at(finished, state, since, self.header.time_ns).tolist()
        return dict(zip(STATE_FIELDS, values, strict=True))


def _by_tid(rows: Rows) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {tid: {} for tid in rows.tid.tolist()}
    for name, column in rows.columns.items():
        gone = rows.absent.get(name, np.zeros(len(column), np.bool_)).tolist()
        for tid, value, absent in zip(rows.tid.tolist(), column.tolist(), gone, strict=True):
            if not absent:
                found[tid][name] = value
    return found


class FollowedTarget:
    """Attaches to a process with sources of its own; use it in a ``with`` statement."""

    def __init__(
        self,
        pid: int,
        rate_hz: float = 20,
        ledger: LedgerOptions = DEFAULT_OPTIONS,
        *,
        naming: NamingOptions = KERNEL_NAMES,
        counters: WalkChoice = "auto",
        stacks: StackProgram | Obstacle = NO_STACKS,
    ) -> None:
        self._pid, self._rate_hz = pid, rate_hz
        self.sources = Sources(
            ProcFs(), ledger=ledger, naming=naming, counters=counters, stacks=stacks
        )
        self._frames = TakenFrames(self.sources.native)
        self.engine, self.targets = engine_of(self.sources)
        self.engine.start()
        self.sources.stacks.start()
        self.attach()

    def attach(self) -> None:
        """Attach to the process, again if need be; takes the first frame."""
        while not self._frames.empty():
            self._frames.get(0)
        self.target, _ = self.targets.attach(self._pid, None, self._rate_hz)
        self.seen = Follower()
        self.next()

    def detach(self) -> None:
        """Attach no more."""
        self.targets.detach(self.target.id)

    def next(self) -> FrameHeader:
        """Take the next frame."""
        return self.seen.take(self._frames.get(timeout=PATIENCE_S))

    def catch_up(self) -> FrameHeader:
        """Take frames until one is of an instant after this call, and nothing waits for others."""
        now = time.monotonic_ns()
        sampler = self.engine.submit(lambda: self.engine.find(self.target.id)).result()
        while True:
            header = self.next()
            if sampler is None:
                return header
            if sampler.attach_ns + header.time_ns > now:
                while not self._frames.empty():
                    header = self.next()
                return header

    def flush(self) -> FrameHeader:
        """Take frames up to one of a sample that is taken now."""
        last = self.targets.flush(self.target.id).seq
        while True:
            header = self.next()
            if header.seq >= last:
                return header

    def until(self, is_so: Callable[[], bool]) -> None:
        """Take frames until something is known."""
        while not is_so():
            self.next()

    def until_ended(self) -> FrameHeader:
        """Take frames until the target's last one."""
        while True:
            header = self.next()
            if any(event.type == "target_exited" for event in header.events):
                return header

    def close(self) -> None:
        """Stop sampling."""
        self.engine.stop()
        self.sources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Sampled:
    """Targets whose frames come to the test.

    Args:
        counters: choice of the counter source.
    """

    def __init__(self, counters: WalkChoice = "auto") -> None:
        self.sources = Sources(ProcFs(), counters=counters)
        self.frames = TakenFrames(self.sources.native)
        self.engine, self.targets = engine_of(self.sources)
        self.engine.start()

    def next(self) -> FrameHeader:
        return split(self.frames.get(timeout=120))[0]

    def close(self) -> None:
        self.engine.stop()
        self.sources.close()
